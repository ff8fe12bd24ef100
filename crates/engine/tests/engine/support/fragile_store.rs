//! A store that can be taken away.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use workforce_domain::actor::InstanceScope;
use workforce_domain::id::InstanceId;
use workforce_domain::port::{EventFeed, Reads, Store, StoreError, Tx, Verdict};

/// A store that cannot be reached while it is broken.
pub(crate) struct FragileStore {
    inner: Arc<dyn Store>,
    is_broken: AtomicBool,
    outage: Mutex<Outage>,
}

/// An outage that begins by itself.
#[derive(Default)]
enum Outage {
    #[default]
    None,
    /// When a run is claimed, and a few transactions later.
    AtClaim {
        stranger: InstanceId,
        transactions: usize,
        lasts: Duration,
    },
    After {
        transactions: usize,
        lasts: Duration,
    },
    Until(Instant),
}

impl FragileStore {
    pub(super) fn over(inner: Arc<dyn Store>) -> Self {
        Self {
            inner,
            is_broken: AtomicBool::new(false),
            outage: Mutex::default(),
        }
    }

    /// Breaks for a while, so many transactions after the next claim of a run. `stranger` is a
    /// server that has no runs.
    pub(crate) fn break_after_claim(
        &self,
        stranger: InstanceId,
        transactions: usize,
        lasts: Duration,
    ) {
        *self.outage() = Outage::AtClaim {
            stranger,
            transactions,
            lasts,
        };
    }

    pub(crate) fn set_broken(&self, is_broken: bool) {
        self.is_broken.store(is_broken, Ordering::SeqCst);
    }

    /// Ends an outage before its time.
    pub(crate) fn mend(&self) {
        *self.outage() = Outage::None;
    }

    fn outage(&self) -> MutexGuard<'_, Outage> {
        self.outage.lock().expect("nobody broke down with it")
    }

    fn reach(&self) -> Result<&dyn Store, StoreError> {
        if self.is_broken.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("it is broken".into()));
        }
        let mut outage = self.outage();
        match &mut *outage {
            Outage::None | Outage::AtClaim { .. } => Ok(&*self.inner),
            Outage::After {
                transactions: left @ 1..,
                ..
            } => {
                *left -= 1;
                Ok(&*self.inner)
            }
            Outage::After { lasts, .. } => {
                *outage = Outage::Until(Instant::now() + *lasts);
                Err(StoreError::Unavailable("it broke".into()))
            }
            Outage::Until(end) if Instant::now() < *end => {
                Err(StoreError::Unavailable("it is still broken".into()))
            }
            Outage::Until(_) => {
                *outage = Outage::None;
                Ok(&*self.inner)
            }
        }
    }

    /// Looks for the claim that an outage waits for.
    fn watch_claims(&self) -> Result<(), StoreError> {
        let mut outage = self.outage();
        if let Outage::AtClaim {
            stranger,
            transactions,
            lasts,
        } = *outage
        {
            self.inner.run_read(&mut |reads| {
                let running = reads
                    .engine()
                    .running_elsewhere(InstanceScope::SYSTEM, stranger)?;
                if !running.is_empty() {
                    *outage = Outage::After {
                        transactions,
                        lasts,
                    };
                }
                Ok(())
            })?;
        }
        Ok(())
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
        self.reach()?.run_write(body)?;
        self.watch_claims()
    }

    fn feed(&self) -> &dyn EventFeed {
        self.inner.feed()
    }
}
