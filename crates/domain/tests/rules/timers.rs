use core::time::Duration;

use proptest::prelude::*;
use workforce_domain::time::Timestamp;
use workforce_domain::timer::{Timer, TimerAction};

const NOW: Timestamp = Timestamp::from_micros(1_000_000_000);

fn timer(interval_sec: Option<i32>, armed_sec: Option<i32>, next: Option<i64>) -> Timer {
    Timer {
        interval_sec,
        armed_sec,
        next: next.map(|seconds| Timestamp::from_micros(NOW.micros() + seconds * 1_000_000)),
        suppressed: 0,
    }
}

/// The instant so many seconds after the present.
fn after(seconds: u64) -> Timestamp {
    NOW.plus(Duration::from_secs(seconds))
}

const MIDDLE: u32 = u32::MAX / 2;

#[test]
fn a_timer_is_set_kept_fired_and_stopped() {
    for (timer, action) in [
        (timer(None, None, None), TimerAction::NotDue),
        (timer(None, Some(60), Some(5)), TimerAction::Set(None)),
        (
            timer(Some(60), None, None),
            TimerAction::Set(Some(after(60))),
        ),
        (
            timer(Some(60), Some(3600), Some(-5)),
            TimerAction::Set(Some(after(60))),
        ),
        (timer(Some(60), Some(60), Some(1)), TimerAction::NotDue),
        (
            timer(Some(60), Some(60), Some(0)),
            TimerAction::Due(after(60)),
        ),
        // However long nobody looked, it is one beat.
        (
            timer(Some(60), Some(60), Some(-900)),
            TimerAction::Due(after(60)),
        ),
    ] {
        assert_eq!(timer.decide(NOW, MIDDLE), action, "{timer:?}");
    }
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
    let next = |chance| match timer(Some(100), Some(100), Some(0)).decide(NOW, chance) {
        TimerAction::Due(next) => next.since(NOW),
        other => panic!("{other:?}"),
    };
    assert_eq!(next(0), Duration::from_secs(90));
    assert_eq!(next(u32::MAX), Duration::from_secs(110));
}

proptest! {
    #[test]
    fn a_beat_is_within_a_tenth_of_its_interval(
        interval in 1_i32..=315_360_000,
        chance in any::<u32>(),
    ) {
        let action = timer(Some(interval), Some(interval), Some(0)).decide(NOW, chance);
        let TimerAction::Due(next) = action else { panic!("{action:?}") };
        let (wait, whole) = (next.since(NOW), Duration::from_secs(interval.unsigned_abs().into()));
        prop_assert!(wait >= whole * 9 / 10 && wait <= whole * 11 / 10, "{wait:?} of {whole:?}");
    }
}
