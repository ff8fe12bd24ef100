//! Writes that wait for their turn: only so much of them at once, and only so long.
//!
//! A store that stands still would otherwise gather all that is sent to it meanwhile, and carry it
//! out for clients that left long ago.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use workforce_app::Code;

use crate::problem::Problem;

/// So long a write waits for its turn: longer than one before it may wait for a lock of the
/// database.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);

/// What waits holds so many units at most: 64 MiB.
const UNITS: usize = 16 * 1024;
/// What a unit stands for, in bytes.
const UNIT: usize = 4 * 1024;

/// The room of all that wait.
pub(crate) struct WaitingWrites(Arc<Semaphore>);

/// A write's part of that room, until it is dropped.
pub(crate) struct Room {
    _units: OwnedSemaphorePermit,
}

impl Default for WaitingWrites {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(UNITS)))
    }
}

impl WaitingWrites {
    /// Room for a write whose body has so many bytes. Besides these it takes a unit for itself.
    ///
    /// # Errors
    /// `busy` when there is none.
    pub(crate) fn room(&self, body: usize) -> Result<Room, Problem> {
        let units = u32::try_from(1 + body.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let units = Arc::clone(&self.0).try_acquire_many_owned(units);
        units
            .map(|units| Room { _units: units })
            .map_err(|_full| busy("as many writes as there is room for wait for the database"))
    }
}

/// Something that waits for its turn. It is done by whoever comes first, or not at all: the thread
/// that carries it out takes it, and so does the one that waits no longer.
pub(crate) struct Turn<J>(Arc<Mutex<Option<J>>>);

impl<J> Clone for Turn<J> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<J> Turn<J> {
    /// The turn of this job.
    pub(crate) fn of(job: J) -> Self {
        Self(Arc::new(Mutex::new(Some(job))))
    }

    /// The job, unless somebody took it.
    pub(crate) fn take(&self) -> Option<J> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// What is told by whoever carries the job out, however long that takes once it has begun.
    ///
    /// # Errors
    /// `busy` when its turn does not come within `patience`: then it is not carried out. When it
    /// was lost in a panic.
    pub(crate) async fn outcome<T>(
        self,
        patience: Duration,
        mut told: oneshot::Receiver<T>,
    ) -> Result<T, Problem> {
        let told = match tokio::time::timeout(patience, &mut told).await {
            Ok(told) => told,
            Err(_elapsed) => match self.take() {
                Some(_dropped) => return Err(busy("the database did not come to it in time")),
                None => told.await,
            },
        };
        told.map_err(|lost| Problem::internal(&lost))
    }
}

fn busy(why: &str) -> Problem {
    Problem::new(Code::Busy, format!("nothing is written: {why}; try again"))
}

#[cfg(test)]
#[path = "waiting_writes_tests.rs"]
mod tests;
