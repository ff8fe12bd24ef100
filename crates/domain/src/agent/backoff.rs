//! How long an agent waits whose runs fail: longer with each failure in a row.

use core::time::Duration;

use super::Agent;
use crate::run::{RunErrorCode, RunOutcome};
use crate::time::Timestamp;

/// The wait after the first failure; each further one in a row doubles it.
const FIRST: Duration = Duration::from_secs(30);
/// No failure makes an agent wait longer.
const LONGEST: Duration = Duration::from_secs(30 * 60);

impl Agent {
    /// Notes how a run of it ended. A failure makes it wait, longer with each
    /// further one; a success ends that. A stop says nothing about the agent,
    /// and of a lost run it has done nothing wrong.
    pub fn note_run_end(&mut self, outcome: RunOutcome, now: Timestamp) {
        self.last_heartbeat_at = Some(now);
        match outcome {
            RunOutcome::Succeeded => {
                self.consecutive_failures = 0;
                self.end_backoff();
            }
            // The account waits, and all that use it.
            RunOutcome::Failed(RunErrorCode::ProviderLimit | RunErrorCode::ProviderOverloaded) => {
                self.count_failure();
            }
            RunOutcome::Failed(_) | RunOutcome::TimedOut(_) => {
                self.count_failure();
                self.backoff_until = Some(now.plus(backoff(self.consecutive_failures)));
            }
            RunOutcome::Lost(_) => self.count_failure(),
            RunOutcome::Stopped(_) => {}
        }
    }

    /// Lets it run at once, since whatever made its runs fail may be mended.
    pub const fn end_backoff(&mut self) {
        self.backoff_until = None;
    }

    const fn count_failure(&mut self) {
        self.consecutive_failures = self.consecutive_failures.saturating_add(1);
    }
}

/// The wait after so many failures in a row.
fn backoff(failures: i32) -> Duration {
    let doublings = u32::try_from(failures.saturating_sub(1)).unwrap_or(0);
    FIRST
        .saturating_mul(2_u32.saturating_pow(doublings))
        .min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_doubles_the_wait_up_to_half_an_hour() {
        let waits = [1, 2, 3, 6, 7, 8, i32::MAX].map(|failures| backoff(failures).as_secs());
        assert_eq!(waits, [30, 60, 120, 960, 1800, 1800, 1800]);
    }

    #[test]
    fn a_count_that_cannot_be_waits_as_little_as_the_first() {
        assert_eq!([i32::MIN, -1, 0].map(backoff), [FIRST; 3]);
    }
}
