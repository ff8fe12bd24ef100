//! The one writer, whose commits are shared.
//!
//! Making a commit durable costs a flush to disk, whatever it holds. So callers that wait for the
//! writer at the same time become members of one batch: each runs its body on its own thread, and
//! whoever finds nobody waiting commits for all. A caller may bring several bodies, and more while
//! they run, which spares their threads the way to the writer. No caller is answered before the
//! commit that holds its writes is durable ([`super::log`]).

pub(super) mod batch;
pub(super) mod member;

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Instant;

use diesel::connection::SimpleConnection as _;
use workforce_domain::id::CompanyId;
use workforce_domain::port::StoreError;

use super::Connection;
use super::log::checkpoints::Checkpoints;
use super::log::flush::Flusher;
use batch::{Bodies, Body, Given, Turn};
use member::Member;

/// So long a thread that waits for its turn may take to awake.
const WAKES_WITHIN: Duration = Duration::from_millis(2);

/// The writer.
pub(super) struct Writer {
    /// Callers that wait for the turn to run their body. Each of them will take its turn, so an
    /// open batch may be left to them.
    waiting: AtomicUsize,
    turn: Mutex<Turn>,
    /// None where a commit is durable by itself.
    _flusher: Option<Flusher>,
}

impl Writer {
    pub(super) fn new(
        conn: Connection,
        checkpoints: Option<Checkpoints>,
        flusher: Option<Flusher>,
    ) -> Self {
        let flushes = flusher.as_ref().map(|it| Arc::clone(it.flushes()));
        Self {
            waiting: AtomicUsize::new(0),
            turn: Mutex::new(Turn::new(conn, checkpoints, flushes)),
            _flusher: flusher,
        }
    }

    /// Runs `body` as a member of the open batch, or of a new one, and returns when the batch is
    /// settled. A body that refuses waits as well: what it saw may not have been committed.
    /// Returns the companies whose listeners are to be woken.
    ///
    /// # Errors
    /// What the body failed with, or the commit; nothing of the body was written then.
    pub(super) fn run(&self, body: &mut Body<'_>) -> Result<Vec<CompanyId>, StoreError> {
        let mut turn = self.take_turn();
        let ran = turn.run_all(&mut Given(&mut [body])).pop();
        turn.settle_unless(self.waiting.load(Ordering::SeqCst) > 0);
        drop(turn);

        match ran.map(Member::ended) {
            Some(Ok(settled)) => settled,
            Some(Err(panic)) => resume_unwind(panic),
            None => Err(StoreError::Contended),
        }
    }

    /// The same for several bodies, each a member of its own, in one turn. Returns when all are
    /// committed, which may be before they are settled.
    pub(super) fn run_all(&self, bodies: &mut dyn Bodies) -> Vec<Member> {
        self.let_others_go_first();
        let mut turn = self.take_turn();
        let members = turn.run_all(bodies);
        turn.settle_unless(false);
        members
    }

    /// Whoever brings several bodies may come back at once with more, before those who wait for
    /// their turn are awake.
    fn let_others_go_first(&self) {
        let begun = Instant::now();
        while self.waiting.load(Ordering::SeqCst) > 0 && begun.elapsed() < WAKES_WITHIN {
            thread::yield_now();
        }
    }

    fn take_turn(&self) -> MutexGuard<'_, Turn> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let turn = self.turn();
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        turn
    }

    /// Uses the connection between two batches.
    pub(super) fn alone<T>(&self, work: impl FnOnce(&mut Connection) -> T) -> T {
        work(&mut self.turn().conn)
    }

    /// Drops the pages that the connection caches, unless somebody writes or waits to: then they
    /// are needed at once.
    pub(super) fn drop_cache(&self) {
        let mut turn = match self.turn.try_lock() {
            Ok(turn) => turn,
            Err(TryLockError::Poisoned(turn)) => turn.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if self.waiting.load(Ordering::SeqCst) > 0 {
            return;
        }
        if let Err(error) = turn.conn.batch_execute("PRAGMA shrink_memory") {
            tracing::warn!(%error, "the writer keeps its cache");
        }
    }

    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "writer/writer_tests.rs"]
mod tests;
