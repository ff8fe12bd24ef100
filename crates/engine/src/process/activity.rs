use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// When a run last showed a sign of life.
///
/// The supervisor touches it for every piece of output; whoever serves the
/// agent's API calls touches it for each of them. The idle limit counts from
/// the last touch.
#[derive(Debug)]
pub struct ActivityClock {
    base: Instant,
    last_millis: AtomicU64,
}

impl ActivityClock {
    /// A clock whose last sign of life is now.
    #[must_use]
    pub fn new() -> Self {
        Self {
            base: Instant::now(),
            last_millis: AtomicU64::new(0),
        }
    }

    /// Notes a sign of life.
    pub fn touch(&self) {
        let millis = u64::try_from(self.base.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_millis.fetch_max(millis, Ordering::Relaxed);
    }

    /// How long ago the last sign of life was.
    #[must_use]
    pub fn idle_for(&self) -> Duration {
        let last = Duration::from_millis(self.last_millis.load(Ordering::Relaxed));
        self.base.elapsed().saturating_sub(last)
    }
}

impl Default for ActivityClock {
    fn default() -> Self {
        Self::new()
    }
}
