//! Room for the writes that wait for their turn.
//!
//! A store that stands still would otherwise gather all that is sent to it meanwhile.

mod weight;

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use workforce_app::Code;

use crate::problem::Problem;

/// What waits holds so many units at most: 128 MiB.
const UNITS: usize = 32 * 1024;
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
    /// Room for a write with this body, which is kept as it came and as it was read. Besides these
    /// it takes a unit for itself.
    ///
    /// # Errors
    /// `busy` when there is none. `body_too_large` when there never is.
    pub(crate) fn room(&self, body: &[u8]) -> Result<Room, Problem> {
        let units = 1 + weight::of(body).div_ceil(UNIT);
        if units > UNITS {
            let detail = "the body has too many parts to be read; send fewer";
            return Err(Problem::new(Code::BodyTooLarge, detail));
        }
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        let units = Arc::clone(&self.0).try_acquire_many_owned(units);
        units.map(|units| Room { _units: units }).map_err(|_full| {
            let detail = "as many writes as there is room for wait for the database; try again";
            Problem::new(Code::Busy, detail)
        })
    }
}

#[cfg(test)]
#[path = "waiting_writes_tests.rs"]
mod tests;
