//! Bodies that have run, each a member of a batch.

use std::sync::Arc;
use std::thread;

use workforce_domain::id::CompanyId;
use workforce_domain::port::StoreError;

use crate::store::sqlite::outcome::Outcome;

/// How a body ended: with the companies whose listeners are to be woken, or with a panic.
pub(in crate::store::sqlite) type Ended = thread::Result<Result<Vec<CompanyId>, StoreError>>;

/// A body that has run.
pub(in crate::store::sqlite) struct Member {
    own: Ended,
    /// That of its batch, or of the last one that it can have seen.
    batch: Option<Arc<Outcome>>,
}

impl Member {
    /// One of a batch, or one that can have seen it.
    pub(in crate::store::sqlite) const fn of(own: Ended, batch: Option<Arc<Outcome>>) -> Self {
        Self { own, batch }
    }

    /// One that is settled already.
    pub(in crate::store::sqlite) const fn alone(own: Ended) -> Self {
        Self { own, batch: None }
    }

    /// What it waits for.
    pub(in crate::store::sqlite) const fn batch(&self) -> Option<&Arc<Outcome>> {
        self.batch.as_ref()
    }

    /// Whether it is known already that it may be run again.
    pub(in crate::store::sqlite) fn lost_a_race(&self) -> bool {
        matches!(self.own, Ok(Err(StoreError::Contended)))
            || self.batch.as_ref().is_some_and(|batch| batch.lost_a_race())
    }

    /// How it ended, when its batch is settled.
    pub(in crate::store::sqlite) fn ended(self) -> Ended {
        let shared = self.batch.map_or(Ok(()), |batch| batch.wait());
        self.own.map(|own| shared.and(own))
    }
}
