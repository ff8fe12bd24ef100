use std::sync::{Mutex, PoisonError};

use super::{MockEventFeed, MockTx};
use crate::port::{EventFeed, ReadBody, Store, StoreError, WriteBody};

/// A store in which every transaction is the same [`MockTx`]. It undoes nothing: whether a body
/// commits or refuses is seen in what `read` and `write` of `dyn Store` return.
#[derive(Default)]
pub struct MockStore {
    tx: Mutex<MockTx>,
    /// Tells of events.
    pub feed: MockEventFeed,
}

impl MockStore {
    /// A store whose transactions meet the expectations of `tx`.
    pub fn new(tx: MockTx) -> Self {
        Self {
            tx: Mutex::new(tx),
            feed: MockEventFeed::new(),
        }
    }
}

impl Store for MockStore {
    fn run_read(&self, body: &mut ReadBody<'_>) -> Result<(), StoreError> {
        let mut tx = self.tx.lock().unwrap_or_else(PoisonError::into_inner);
        body(&mut *tx)
    }

    fn run_write(&self, body: &mut WriteBody<'_>) -> Result<(), StoreError> {
        let mut tx = self.tx.lock().unwrap_or_else(PoisonError::into_inner);
        body(&mut *tx).map(|_verdict| ())
    }

    fn feed(&self) -> &dyn EventFeed {
        &self.feed
    }
}
