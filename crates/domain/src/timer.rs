//! The timer of an agent: when it is due, and when it is next.
//!
//! A timer rests from the first beat that finds nothing to do until there is something. A
//! resting timer beats from an instant on, once in each interval, and nothing is written about
//! that: which beats have passed, and when the next one is, follows from the present.

use core::time::Duration;

use crate::time::Timestamp;

/// An agent's timer as it is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timer {
    /// Seconds between two beats as the agent's configuration and lifecycle
    /// say now; `None` for no timer.
    pub interval_sec: Option<i32>,
    /// The interval for which the next beat was set.
    pub armed_sec: Option<i32>,
    /// The next beat as it was set, of a resting timer the first one of its rest; see
    /// [`next_tick`](Self::next_tick).
    pub next: Option<Timestamp>,
    /// Beats and other wakes that were not worth a run, so far; of a resting timer those
    /// before its rest.
    pub suppressed: i64,
    /// Whether nothing waited for the agent when its timer was last set: its beats come to
    /// nothing until something does.
    pub rests: bool,
}

/// How a timer is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimerSetting {
    /// The next beat; `None` stops the timer.
    pub next: Option<Timestamp>,
    /// Whether it rests from then on.
    pub rests: bool,
    /// Beats that were not worth a run and are not counted yet.
    pub suppressed: i64,
}

/// What is to be done about a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerAction {
    /// Nothing: it is not due, or it rests and nothing waits for its agent.
    Keep,
    /// It is to be set: its interval changed, the agent was switched on or off, it begins to
    /// rest, or its rest is over.
    Set(TimerSetting),
    /// The agent is to be woken, and the timer set. Missed beats, however many, count as this
    /// one.
    Beat(TimerSetting),
}

/// What a timer is looked at with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerLook {
    /// The present instant.
    pub now: Timestamp,
    /// The last instant at which it was known that nothing waits for the agent of a resting
    /// timer: what came about since then may take every beat since then. `None` when nobody
    /// knows, as after a start.
    pub clear_at: Option<Timestamp>,
    /// Whether something waits for the agent, or it runs at every beat.
    pub has_work: bool,
    /// A random number, which decides on the jitter.
    pub chance: u32,
}

/// By how many percent of the interval a beat may come early or late, so that
/// agents with the same interval do not all start at once.
const JITTER_PERCENT: u64 = 10;

impl Timer {
    /// The next beat. `None` without a timer, and also between a change of the
    /// interval and the moment the timer is set anew. Of a resting timer ask
    /// [`seen_at`](Self::seen_at) an instant.
    pub fn next_tick(&self) -> Option<Timestamp> {
        self.interval_sec?;
        self.next.filter(|_| self.armed_sec == self.interval_sec)
    }

    /// The timer as it would be stored if somebody looked at it all the time: the beats of its
    /// rest are counted, and its next beat lies ahead.
    #[must_use]
    pub fn seen_at(&self, now: Timestamp) -> Self {
        Self {
            next: self.next_of_rest(now),
            suppressed: self.suppressed.saturating_add(self.passed(now)),
            ..*self
        }
    }

    /// What is to be done about it.
    pub fn decide(&self, look: &TimerLook) -> TimerAction {
        let passed = self.passed(look.now);
        let set = |next, rests| TimerSetting {
            next,
            rests,
            suppressed: passed,
        };
        let Some(interval) = self.interval_sec else {
            return if self.next.is_some() || self.armed_sec.is_some() {
                TimerAction::Set(set(None, false))
            } else {
                TimerAction::Keep
            };
        };
        let after = Some(look.now.plus(jittered(interval, look.chance)));
        let Some(next) = self.next.filter(|_| self.armed_sec == Some(interval)) else {
            return TimerAction::Set(set(after, !look.has_work));
        };
        match (self.rests, look.has_work) {
            (true, false) => TimerAction::Keep,
            (true, true) if self.has_beaten_since(look.clear_at, look.now) => {
                TimerAction::Beat(set(after, false))
            }
            (true, true) => TimerAction::Set(set(self.next_of_rest(look.now), false)),
            (false, _) if next > look.now => TimerAction::Keep,
            (false, true) => TimerAction::Beat(set(after, false)),
            (false, false) => TimerAction::Set(TimerSetting {
                suppressed: 1,
                ..set(after, true)
            }),
        }
    }

    /// The first beat of a rest, and the time between two of them.
    fn rest(&self) -> Option<(Timestamp, Duration)> {
        let every = u64::try_from(self.armed_sec?).ok().filter(|sec| *sec > 0)?;
        let first = self.next.filter(|_| self.rests)?;
        Some((first, Duration::from_secs(every)))
    }

    /// How many beats of its rest have come by then.
    fn passed(&self, now: Timestamp) -> i64 {
        let Some((first, every)) = self.rest().filter(|(first, _)| *first <= now) else {
            return 0;
        };
        let more = now.since(first).as_micros() / every.as_micros();
        i64::try_from(more).map_or(i64::MAX, |more| more.saturating_add(1))
    }

    /// The next beat, also of a resting timer.
    fn next_of_rest(&self, now: Timestamp) -> Option<Timestamp> {
        let Some((first, every)) = self.rest() else {
            return self.next;
        };
        let passed = u32::try_from(self.passed(now)).unwrap_or(u32::MAX);
        Some(first.plus(every.saturating_mul(passed)))
    }

    /// Whether a resting timer has beaten by now, and after an instant if one is given.
    fn has_beaten_since(&self, after: Option<Timestamp>, now: Timestamp) -> bool {
        self.passed(now) > after.map_or(0, |after| self.passed(after))
    }
}

/// The interval, up to 10 % shorter or longer.
fn jittered(interval_sec: i32, chance: u32) -> Duration {
    let millis = u64::try_from(interval_sec).unwrap_or(0) * 1000;
    let span = millis * JITTER_PERCENT / 100;
    let shift = (u128::from(2 * span + 1) * u128::from(chance)) >> 32;
    Duration::from_millis(millis - span + u64::try_from(shift).unwrap_or(span))
}
