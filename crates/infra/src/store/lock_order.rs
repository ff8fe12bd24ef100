//! Tells when a transaction takes its locks in another order than all others do.

use uuid::Uuid;
use workforce_domain::port::Lock;

/// The locks that a transaction has taken. Kept with debug assertions only, which every test has.
#[derive(Default)]
pub(crate) struct LockOrder {
    #[cfg(debug_assertions)]
    taken: Vec<(Lock, Uuid)>,
}

impl LockOrder {
    /// Notes that something is about to be locked.
    ///
    /// # Panics
    /// With debug assertions, when the transaction already holds a lock that comes later in the
    /// order of [`Lock`]. Locking the same thing again waits for nobody and is fine.
    #[cfg(debug_assertions)]
    pub(crate) fn note(&mut self, lock: Lock, id: impl Into<Uuid>) {
        let id = id.into();
        if self.taken.contains(&(lock, id)) {
            return;
        }
        if let Some((later, _)) = self.taken.iter().find(|(taken, _)| *taken > lock) {
            panic!("{lock:?} is locked after {later:?}: {:?}", self.taken);
        }
        self.taken.push((lock, id));
    }

    /// Nothing is noted without debug assertions.
    #[cfg(not(debug_assertions))]
    pub(crate) fn note(&mut self, _lock: Lock, _id: impl Into<Uuid>) {}
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn locks_in_order_and_again_are_fine() {
        let mut order = LockOrder::default();
        let agent = Uuid::from_u128(1);
        order.note(Lock::Company, Uuid::nil());
        order.note(Lock::Agent, agent);
        order.note(Lock::Issue, Uuid::nil());
        order.note(Lock::Agent, agent);
    }

    #[test]
    #[should_panic(expected = "Agent is locked after Issue")]
    fn a_lock_out_of_order_is_told() {
        let mut order = LockOrder::default();
        order.note(Lock::Issue, Uuid::nil());
        order.note(Lock::Agent, Uuid::nil());
    }
}
