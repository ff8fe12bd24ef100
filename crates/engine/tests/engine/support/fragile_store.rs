//! A store that can be taken away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use workforce_domain::port::{EventFeed, Reads, Store, StoreError, Tx, Verdict};

/// A store that cannot be reached while it is broken.
pub(crate) struct FragileStore {
    inner: Arc<dyn Store>,
    is_broken: AtomicBool,
}

impl FragileStore {
    pub(super) fn over(inner: Arc<dyn Store>) -> Self {
        Self {
            inner,
            is_broken: AtomicBool::new(false),
        }
    }

    pub(crate) fn set_broken(&self, is_broken: bool) {
        self.is_broken.store(is_broken, Ordering::SeqCst);
    }

    fn reach(&self) -> Result<&dyn Store, StoreError> {
        if self.is_broken.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("it is broken".into()));
        }
        Ok(&*self.inner)
    }
}

impl Store for FragileStore {
    fn run_read(
        &self,
        body: &mut (dyn FnMut(&mut dyn Reads) -> Result<(), StoreError> + '_),
    ) -> Result<(), StoreError> {
        self.reach()?.run_read(body)
    }

    fn run_write(
        &self,
        body: &mut (dyn FnMut(&mut dyn Tx) -> Result<Verdict, StoreError> + '_),
    ) -> Result<(), StoreError> {
        self.reach()?.run_write(body)
    }

    fn feed(&self) -> &dyn EventFeed {
        self.inner.feed()
    }
}
