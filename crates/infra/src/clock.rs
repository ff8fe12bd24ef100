//! The clock of the operating system.

use std::time::{SystemTime, UNIX_EPOCH};

use workforce_domain::port::Clock;
use workforce_domain::time::Timestamp;

/// Tells the time of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the implementation of the port"
        )]
        let now = SystemTime::now();
        // A clock before 1970 is not set; it then tells 1970.
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_later_than_the_writing_of_this_test() {
        let written = Timestamp::parse("2026-01-01").unwrap();
        let first = SystemClock.now();
        assert!(first > written);
        assert!(SystemClock.now() >= first);
    }
}
