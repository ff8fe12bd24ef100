//! The one writer, whose commits are shared.
//!
//! Making a commit durable costs a flush to disk, whatever it holds. So callers that wait for the
//! writer at the same time become members of one batch: each runs its body on its own thread, and
//! whoever finds nobody waiting commits for all. A caller may bring several bodies, and more while
//! they run, which spares their threads the way to the writer. No caller is answered before the
//! commit that holds its writes.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard, PoisonError};

use workforce_domain::id::CompanyId;
use workforce_domain::port::StoreError;

use super::Connection;
use super::batch::{Bodies, Body, Ended, Given, Member, Turn};
use super::checkpoints::Checkpoints;

/// The writer.
pub(super) struct Writer {
    /// Callers that wait for the turn to run their body. Each of them will take its turn, so an
    /// open batch may be left to them.
    waiting: AtomicUsize,
    turn: Mutex<Turn>,
}

impl Writer {
    pub(super) fn new(conn: Connection, checkpoints: Option<Checkpoints>) -> Self {
        Self {
            waiting: AtomicUsize::new(0),
            turn: Mutex::new(Turn::new(conn, checkpoints)),
        }
    }

    /// Runs `body` as a member of the open batch, or of a new one, and returns when the batch is
    /// settled. A body that refuses waits as well: what it saw may not have been committed.
    /// Returns the companies whose listeners are to be woken.
    ///
    /// # Errors
    /// What the body failed with, or the commit; nothing of the body was written then.
    pub(super) fn run(&self, body: &mut Body<'_>) -> Result<Vec<CompanyId>, StoreError> {
        match self.run_all(&mut Given(&mut [body])).pop() {
            Some(Ok(settled)) => settled,
            Some(Err(panic)) => resume_unwind(panic),
            None => Err(StoreError::Contended),
        }
    }

    /// The same for several bodies, each a member of its own, in one turn. Returns how each of
    /// them ended, in their order.
    pub(super) fn run_all(&self, bodies: &mut dyn Bodies) -> Vec<Ended> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let mut turn = self.turn();
        self.waiting.fetch_sub(1, Ordering::SeqCst);

        let members = turn.run_all(bodies);
        turn.settle_unless(self.waiting.load(Ordering::SeqCst) > 0);
        drop(turn);

        members.into_iter().map(Member::ended).collect()
    }

    /// Uses the connection between two batches.
    pub(super) fn alone<T>(&self, work: impl FnOnce(&mut Connection) -> T) -> T {
        work(&mut self.turn().conn)
    }

    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
