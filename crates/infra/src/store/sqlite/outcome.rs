//! How a batch of the writer ended, for those who wait for it.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use workforce_domain::port::StoreError;

/// How a batch ended, for those who wait for it.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    settled: Mutex<Option<Result<(), SharedError>>>,
    changed: Condvar,
}

/// The failure of a batch, which each of its members is told.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the shared commit failed")]
pub(super) struct SharedError(#[source] pub(super) Arc<StoreError>);

impl Outcome {
    pub(super) fn settle(&self, result: Result<(), SharedError>) {
        *self.settled.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        self.changed.notify_all();
    }

    pub(super) fn wait(&self) -> Result<(), StoreError> {
        let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match &*settled {
                None => {
                    settled = self
                        .changed
                        .wait(settled)
                        .unwrap_or_else(PoisonError::into_inner);
                }
                Some(Ok(())) => return Ok(()),
                Some(Err(SharedError(cause))) if matches!(**cause, StoreError::Contended) => {
                    return Err(StoreError::Contended);
                }
                Some(Err(shared)) if matches!(*shared.0, StoreError::Full(_)) => {
                    return Err(StoreError::Full(Box::new(shared.clone())));
                }
                Some(Err(shared)) if matches!(*shared.0, StoreError::OutcomeUnknown(_)) => {
                    return Err(StoreError::OutcomeUnknown(Box::new(shared.clone())));
                }
                Some(Err(shared)) => return Err(StoreError::Failed(Box::new(shared.clone()))),
            }
        }
    }
}

/// Whether a commit failed while it was written or flushed.
pub(super) fn is_of_disk(error: &StoreError) -> bool {
    core::error::Error::source(error)
        .is_some_and(|cause| cause.to_string().contains("disk I/O error"))
}
