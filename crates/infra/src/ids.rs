//! Ids that sort by creation.

use std::sync::{Mutex, PoisonError};

use uuid::{ContextV7, Timestamp, Uuid};
use workforce_domain::id::InstallationId;
use workforce_domain::port::{Clock, Ids};

use crate::clock::SystemClock;

/// Gives out UUIDs v7, each greater than the one before, also within one millisecond and when
/// the clock goes back.
pub struct UuidV7Ids<C> {
    clock: C,
    context: Mutex<ContextV7>,
}

impl<C: Clock> UuidV7Ids<C> {
    /// Ids that carry the time of `clock`.
    pub fn new(clock: C) -> Self {
        Self {
            clock,
            context: Mutex::new(ContextV7::new().with_additional_precision()),
        }
    }
}

/// An id for a database that has none.
pub(crate) fn new_installation() -> InstallationId {
    UuidV7Ids::new(SystemClock).next().into()
}

impl<C: Clock> Ids for UuidV7Ids<C> {
    fn next(&self) -> Uuid {
        let context = self.context.lock().unwrap_or_else(PoisonError::into_inner);
        let micros = self.clock.now().micros().unsigned_abs();
        let nanos = u32::try_from(micros % 1_000_000 * 1000).unwrap_or_default();
        Uuid::new_v7(Timestamp::from_unix(&*context, micros / 1_000_000, nanos))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use workforce_domain::mocks::MockClock;
    use workforce_domain::time::Timestamp;

    use super::*;

    #[test]
    fn ids_ascend() {
        let ids = UuidV7Ids::new(SystemClock);
        let many: Vec<Uuid> = (0..10_000).map(|_| ids.next()).collect();
        assert!(many.is_sorted_by(|one, next| one < next));
        assert!(many.iter().all(|id| id.get_version_num() == 7));
    }

    #[test]
    fn ids_ascend_while_the_clock_goes_back() {
        let micros = AtomicI64::new(1_700_000_000_000_000);
        let mut clock = MockClock::new();
        clock
            .expect_now()
            .returning(move || Timestamp::from_micros(micros.fetch_sub(10_000, Ordering::SeqCst)));
        let ids = UuidV7Ids::new(clock);
        let many: Vec<Uuid> = (0..100).map(|_| ids.next()).collect();
        assert!(many.is_sorted_by(|one, next| one < next));
    }
}
