//! How a batch of the writer ended, for those who wait for it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use workforce_domain::port::StoreError;

/// How a batch ended, for those who wait for it.
#[derive(Default)]
pub(super) struct Outcome {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    settled: Option<Result<(), SharedError>>,
    /// What is to be done when it is settled.
    then: Vec<Then>,
}

/// What is to be done when a batch is settled.
pub(super) type Then = Box<dyn FnOnce() + Send>;

/// The failure of a batch, which each of its members is told.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the shared commit failed")]
pub(super) struct SharedError(#[source] pub(super) Arc<StoreError>);

impl Outcome {
    /// Tells how it ended, and does what was to be done then.
    pub(super) fn settle(&self, result: Result<(), SharedError>) {
        let mut state = self.state();
        state.settled = Some(result);
        let all = core::mem::take(&mut state.then);
        drop(state);
        self.changed.notify_all();
        for then in all {
            then();
        }
    }

    /// Does `then` when the batch is settled: at once, or on the thread that settles it.
    pub(super) fn when_settled(&self, then: Then) {
        let mut state = self.state();
        if state.settled.is_none() {
            state.then.push(then);
            return;
        }
        drop(state);
        then();
    }

    /// Whether it is known that it may be run again.
    pub(super) fn lost_a_race(&self) -> bool {
        matches!(
            &self.state().settled,
            Some(Err(SharedError(cause))) if matches!(**cause, StoreError::Contended)
        )
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wait(&self) -> Result<(), StoreError> {
        let mut state = self.state();
        loop {
            match &state.settled {
                None => {
                    let waited = self.changed.wait(state);
                    state = waited.unwrap_or_else(PoisonError::into_inner);
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
