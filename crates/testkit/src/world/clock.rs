use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use workforce_domain::port::Clock;
use workforce_domain::time::Timestamp;

/// A clock that stands still until it is set; its clones are the same clock.
#[derive(Clone, Debug)]
pub struct SettableClock(Arc<AtomicI64>);

impl SettableClock {
    /// Where it stands at first: noon of 10 March 2026, UTC.
    pub const START: Timestamp = Timestamp::from_micros(1_773_144_000_000_000);

    /// Sets it.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.micros(), Ordering::SeqCst);
    }
}

impl Default for SettableClock {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(Self::START.micros())))
    }
}

impl Clock for SettableClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_where_it_says() {
        assert_eq!(SettableClock::START.to_string(), "2026-03-10T12:00:00.000Z");
    }

    #[test]
    fn its_clones_are_set_with_it() {
        let clock = SettableClock::default();
        let clone = clock.clone();
        clock.set(Timestamp::from_micros(5));
        assert_eq!(clone.now(), Timestamp::from_micros(5));
    }
}
