//! The timer of an agent (docs/heartbeats.md#timers): when it is due, and when
//! it is next.

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
    /// The next beat as it was set; see [`next_tick`](Self::next_tick).
    pub next: Option<Timestamp>,
    /// Beats and other wakes that were not worth a run, so far.
    pub suppressed: i64,
}

/// What is to be done about a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerAction {
    /// Nothing: it is not due.
    NotDue,
    /// It is to be set anew, or stopped with `None`: its interval changed, or
    /// the agent was switched on or off.
    Set(Option<Timestamp>),
    /// The agent is to be woken, and the timer set to this instant. Missed
    /// beats, however many, count as this one.
    Due(Timestamp),
}

/// By how many percent of the interval a beat may come early or late, so that
/// agents with the same interval do not all start at once.
const JITTER_PERCENT: u64 = 10;

impl Timer {
    /// The next beat. `None` without a timer, and also between a change of the
    /// interval and the moment the timer is set anew.
    pub fn next_tick(&self) -> Option<Timestamp> {
        self.interval_sec?;
        self.next.filter(|_| self.armed_sec == self.interval_sec)
    }

    /// What is to be done now; the random number `chance` decides on the jitter.
    pub fn decide(&self, now: Timestamp, chance: u32) -> TimerAction {
        let Some(interval) = self.interval_sec else {
            return if self.next.is_some() || self.armed_sec.is_some() {
                TimerAction::Set(None)
            } else {
                TimerAction::NotDue
            };
        };
        let after = now.plus(jittered(interval, chance));
        match self.next {
            Some(next) if self.armed_sec == Some(interval) => {
                if next <= now {
                    TimerAction::Due(after)
                } else {
                    TimerAction::NotDue
                }
            }
            _ => TimerAction::Set(Some(after)),
        }
    }
}

/// The interval, up to 10 % shorter or longer.
fn jittered(interval_sec: i32, chance: u32) -> Duration {
    let millis = u64::try_from(interval_sec).unwrap_or(0) * 1000;
    let span = millis * JITTER_PERCENT / 100;
    let shift = (u128::from(2 * span + 1) * u128::from(chance)) >> 32;
    Duration::from_millis(millis - span + u64::try_from(shift).unwrap_or(span))
}
