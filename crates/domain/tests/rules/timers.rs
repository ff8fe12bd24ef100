use core::time::Duration;

use proptest::prelude::*;
use workforce_domain::time::Timestamp;
use workforce_domain::timer::{Timer, TimerAction, TimerLook, TimerSetting};

const NOW: Timestamp = Timestamp::from_micros(1_000_000_000);
const MINUTE: Duration = Duration::from_secs(60);

fn timer(interval_sec: Option<i32>, armed_sec: Option<i32>, next: Option<i64>) -> Timer {
    Timer {
        interval_sec,
        armed_sec,
        next: next.map(|seconds| Timestamp::from_micros(NOW.micros() + seconds * 1_000_000)),
        ..Timer::default()
    }
}

/// One that rests, and has beaten `passed` times by now, the last time `ago` seconds ago; one that
/// has not beaten yet would have done so then.
fn resting(passed: i64, ago: i64) -> Timer {
    Timer {
        rests: true,
        suppressed: 7,
        ..timer(Some(60), Some(60), Some(-60 * (passed - 1) - ago))
    }
}

/// The instant so many seconds after the present.
fn after(seconds: u64) -> Timestamp {
    NOW.plus(Duration::from_secs(seconds))
}

fn look(has_work: bool) -> TimerLook {
    TimerLook {
        now: NOW,
        clear_at: Some(NOW),
        has_work,
        chance: u32::MAX / 2,
    }
}

fn setting(seconds: u64, rests: bool, suppressed: i64) -> TimerSetting {
    TimerSetting {
        next: Some(after(seconds)),
        rests,
        suppressed,
    }
}

#[test]
fn a_timer_is_set_kept_fired_and_stopped() {
    let stopped = TimerAction::Set(TimerSetting::default());
    let set = TimerAction::Set(setting(60, false, 0));
    let beat = TimerAction::Beat(setting(60, false, 0));
    for (timer, action) in [
        (timer(None, None, None), TimerAction::Keep),
        (timer(None, Some(60), Some(5)), stopped),
        (timer(Some(60), None, None), set),
        (timer(Some(60), Some(3600), Some(-5)), set),
        (timer(Some(60), Some(60), Some(1)), TimerAction::Keep),
        (timer(Some(60), Some(60), Some(0)), beat),
        // However long nobody looked, it is one beat.
        (timer(Some(60), Some(60), Some(-900)), beat),
    ] {
        assert_eq!(timer.decide(&look(true)), action, "{timer:?}");
    }
}

#[test]
fn a_timer_rests_from_when_nothing_waits() {
    let due = timer(Some(60), Some(60), Some(-1));
    let rest = TimerAction::Set(setting(60, true, 1));
    assert_eq!(due.decide(&look(false)), rest);
    let new = timer(Some(60), None, None);
    assert_eq!(
        new.decide(&look(false)),
        TimerAction::Set(setting(60, true, 0))
    );
    let early = timer(Some(60), Some(60), Some(1));
    assert_eq!(early.decide(&look(false)), TimerAction::Keep);
    assert_eq!(resting(3, 20).decide(&look(false)), TimerAction::Keep);
}

#[test]
fn a_timer_that_rests_goes_on_at_its_next_beat_once_something_waits() {
    let goes_on = TimerAction::Set(setting(40, false, 3));
    assert_eq!(resting(3, 20).decide(&look(true)), goes_on);
    // No beat has come yet.
    let first = TimerAction::Set(setting(30, false, 0));
    assert_eq!(resting(0, 30).decide(&look(true)), first);
    // A beat came since it was last known that nothing waits.
    let since = |seconds| TimerLook {
        clear_at: Some(NOW.minus(Duration::from_secs(seconds))),
        ..look(true)
    };
    let beat = TimerAction::Beat(setting(60, false, 3));
    assert_eq!(resting(3, 20).decide(&since(20)), goes_on);
    assert_eq!(resting(3, 20).decide(&since(21)), beat);
    // Nobody knows.
    let unknown = TimerLook {
        clear_at: None,
        ..look(true)
    };
    assert_eq!(resting(3, 20).decide(&unknown), beat);
    assert_eq!(resting(0, 30).decide(&unknown), first);
}

#[test]
fn the_beats_of_a_rest_are_counted_when_it_ends() {
    let paused = Timer {
        interval_sec: None,
        ..resting(3, 20)
    };
    let stop = TimerSetting {
        suppressed: 3,
        ..TimerSetting::default()
    };
    assert_eq!(paused.decide(&look(false)), TimerAction::Set(stop));
    let changed = Timer {
        interval_sec: Some(600),
        ..resting(3, 20)
    };
    let set = TimerAction::Set(setting(600, true, 3));
    assert_eq!(changed.decide(&look(false)), set);
}

#[test]
fn a_timer_that_rests_is_seen_as_if_it_were_looked_at_all_the_time() {
    for (timer, suppressed, next) in [
        (resting(0, 30), 7, 30),
        (resting(1, 0), 8, 60),
        (resting(3, 20), 10, 40),
        (resting(3, 59), 10, 1),
    ] {
        let seen = timer.seen_at(NOW);
        assert_eq!(
            (seen.suppressed, seen.next_tick()),
            (suppressed, Some(after(next)))
        );
    }
    let awake = timer(Some(60), Some(60), Some(-5));
    assert_eq!(awake.seen_at(NOW), awake);
}

#[test]
fn a_beat_that_was_set_for_another_interval_does_not_come() {
    for (timer, next) in [
        (timer(None, None, None), None),
        (timer(None, Some(60), Some(5)), None),
        (timer(None, None, Some(5)), None),
        (timer(Some(60), None, None), None),
        (timer(Some(60), Some(3600), Some(5)), None),
        (timer(Some(60), Some(60), Some(5)), Some(after(5))),
    ] {
        assert_eq!(timer.next_tick(), next, "{timer:?}");
    }
}

#[test]
fn the_jitter_is_a_tenth_either_way() {
    let next = |chance| {
        let look = TimerLook {
            chance,
            ..look(true)
        };
        match timer(Some(100), Some(100), Some(0)).decide(&look) {
            TimerAction::Beat(TimerSetting {
                next: Some(next), ..
            }) => next.since(NOW),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(next(0), Duration::from_secs(90));
    assert_eq!(next(u32::MAX), Duration::from_secs(110));
}

/// The timer after what was decided of it.
fn applied(timer: &Timer, action: TimerAction) -> Timer {
    match action {
        TimerAction::Keep => *timer,
        TimerAction::Set(setting) | TimerAction::Beat(setting) => Timer {
            interval_sec: timer.interval_sec,
            armed_sec: timer.interval_sec,
            next: setting.next,
            suppressed: timer.suppressed + setting.suppressed,
            rests: setting.rests,
        },
    }
}

proptest! {
    #[test]
    fn a_beat_is_within_a_tenth_of_its_interval(
        interval in 1_i32..=315_360_000,
        chance in any::<u32>(),
    ) {
        let look = TimerLook { chance, ..look(true) };
        let action = timer(Some(interval), Some(interval), Some(0)).decide(&look);
        let TimerAction::Beat(TimerSetting { next: Some(next), .. }) = action else {
            panic!("{action:?}")
        };
        let (wait, whole) = (next.since(NOW), Duration::from_secs(interval.unsigned_abs().into()));
        prop_assert!(wait >= whole * 9 / 10 && wait <= whole * 11 / 10, "{wait:?} of {whole:?}");
    }

    /// Whoever looks whenever, and whatever work comes and goes: the count of beats that came to
    /// nothing never goes down, the next beat lies ahead, none comes early, and a beat at which
    /// something waits is never lost.
    #[test]
    fn no_beat_is_lost_or_doubled(
        steps in prop::collection::vec((1_u64..200, any::<bool>(), any::<u32>()), 1..40),
    ) {
        let mut timer = timer(Some(60), None, None);
        let (mut now, mut clear_at) = (NOW, None);
        let (mut beaten_at, mut had_work, mut count): (Option<Timestamp>, bool, i64) = (None, false, 0);
        for (seconds, has_work, chance) in steps {
            let expected = timer.seen_at(now).next_tick();
            now = now.plus(Duration::from_secs(seconds));
            let seen = timer.seen_at(now);
            prop_assert!(seen.suppressed >= count, "{seen:?}");
            let action = timer.decide(&TimerLook { now, clear_at, has_work, chance });
            // It had work at the look before, and has it still: the beat in between comes now.
            if had_work && has_work && expected.is_some_and(|next| next <= now) {
                prop_assert!(matches!(action, TimerAction::Beat(_)), "{action:?}");
            }
            if let TimerAction::Beat(_) = action {
                prop_assert!(has_work);
                let rest = beaten_at.map(|at| now.since(at));
                prop_assert!(rest.is_none_or(|rest| rest >= MINUTE * 9 / 10), "{rest:?}");
                beaten_at = Some(now);
            }
            timer = applied(&timer, action);
            prop_assert!(!(timer.rests && has_work));
            let seen = timer.seen_at(now);
            prop_assert!(seen.suppressed >= count);
            prop_assert!(seen.next_tick().is_some_and(|next| next > now), "{seen:?}");
            (count, had_work, clear_at) = (seen.suppressed, has_work, Some(now));
        }
    }
}
