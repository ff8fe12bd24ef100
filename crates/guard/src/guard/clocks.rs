use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use tokio::time::sleep;

use crate::protocol::{Ending, Limits};

/// A clock that is not adjusted is asked this often at least: the clock of timers
/// stands still while the computer sleeps, the lease of a run does not.
const LONGEST_SLEEP: Duration = Duration::from_secs(2);

/// The time since the computer was started, also while it slept.
fn since_boot() -> Duration {
    clock_gettime(ClockId::CLOCK_BOOTTIME).map_or(Duration::ZERO, Duration::from)
}

/// What time a run has left, by each of its limits.
#[derive(Debug)]
pub(super) struct Clocks {
    limits: Limits,
    began: Duration,
    times: Mutex<Times>,
}

#[derive(Debug)]
struct Times {
    /// The last sign of life.
    last_sign: Duration,
    /// Until when the run is the server's.
    held_until: Duration,
    /// Whether silence is no sign of a fault any more.
    may_be_silent: bool,
}

impl Clocks {
    /// Clocks of a run that begins now.
    pub(super) fn start(limits: Limits, patience: Duration) -> Self {
        let now = since_boot();
        Self {
            limits,
            began: now,
            times: Mutex::new(Times {
                last_sign: now,
                held_until: now.saturating_add(patience),
                may_be_silent: false,
            }),
        }
    }

    /// Notes a sign of life.
    pub(super) fn touch(&self) {
        self.times().last_sign = since_boot();
    }

    /// Lifts the idle limit: from now on the run waits for somebody else.
    pub(super) fn lift_idle_limit(&self) {
        self.times().may_be_silent = true;
    }

    /// Notes that the run is the server's for so long from now on.
    pub(super) fn renew(&self, patience: Duration) {
        self.times().held_until = since_boot().saturating_add(patience);
    }

    /// Waits until a limit is reached.
    pub(super) async fn expired(&self) -> Ending {
        loop {
            let (left, ending) = self.next();
            if left.is_zero() {
                return ending;
            }
            sleep(left.min(LONGEST_SLEEP)).await;
        }
    }

    /// The limit that is reached first, and when.
    fn next(&self) -> (Duration, Ending) {
        let now = since_boot();
        let Times {
            last_sign,
            held_until,
            may_be_silent,
        } = *self.times();
        let idle = self.limits.idle.filter(|_| !may_be_silent);
        let limits = [
            (Some(held_until), Ending::Abandoned),
            (deadline(self.began, self.limits.wall), Ending::WallLimit),
            (deadline(last_sign, idle), Ending::IdleLimit),
        ];
        limits
            .into_iter()
            .filter_map(|(due, ending)| Some((due?.saturating_sub(now), ending)))
            .min_by_key(|(left, _)| *left)
            .unwrap_or((LONGEST_SLEEP, Ending::Abandoned))
    }

    fn times(&self) -> MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn deadline(from: Duration, limit: Option<Duration>) -> Option<Duration> {
    limit.map(|limit| from.saturating_add(limit))
}
