//! The one writer, whose commits are shared.
//!
//! Making a commit durable costs a flush to disk, whatever it holds. So callers that wait for the
//! writer at the same time become members of one batch: each runs its body on its own thread,
//! within a savepoint of the batch's transaction, and whoever finds nobody waiting commits for
//! all. A caller may bring several bodies, which spares their threads the way to the writer. No
//! caller is answered before the commit that holds its writes.

use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use workforce_domain::id::CompanyId;
use workforce_domain::port::{StoreError, Verdict};

use super::statement::{
    BeginImmediate, Commit, Overwrite, Release, Rollback, RollbackTo, Savepoint, Statement,
};
use super::{Connection, Transaction};

/// A batch with this many members is committed even when others wait.
const MAX_MEMBERS: usize = 64;
/// A batch that has been open for this long is committed even when others wait.
const MAX_AGE: Duration = Duration::from_millis(25);

/// What a caller does within its transaction.
pub(super) type Body<'a> = dyn FnMut(&mut Transaction<'_>) -> Result<Verdict, StoreError> + 'a;

/// The writer.
pub(super) struct Writer {
    /// Callers that wait for the turn to run their body. Each of them will take its turn, so an
    /// open batch may be left to them.
    waiting: AtomicUsize,
    turn: Mutex<Turn>,
}

/// What the caller whose turn it is works with.
struct Turn {
    conn: Connection,
    batch: Option<Batch>,
    max_age: Duration,
}

/// An open transaction and those who share it.
struct Batch {
    opened: Instant,
    members: usize,
    outcome: Arc<Outcome>,
}

/// How a batch ended, for those who wait for it.
#[derive(Debug, Default)]
struct Outcome {
    settled: Mutex<Option<Result<(), SharedError>>>,
    changed: Condvar,
}

/// The failure of a batch, which each of its members is told.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the shared commit failed")]
struct SharedError(#[source] Arc<StoreError>);

impl Writer {
    pub(super) fn new(conn: Connection) -> Self {
        Self {
            waiting: AtomicUsize::new(0),
            turn: Mutex::new(Turn {
                conn,
                batch: None,
                max_age: MAX_AGE,
            }),
        }
    }

    /// Runs `body` in a savepoint of the open batch, or of a new one, and returns when the batch
    /// is settled. A body that refuses waits as well: what it saw may not have been committed.
    /// Returns the companies whose listeners are to be woken.
    ///
    /// # Errors
    /// What the body failed with, or the commit; nothing of the body was written then.
    pub(super) fn run(&self, body: &mut Body<'_>) -> Result<Vec<CompanyId>, StoreError> {
        match self.run_all(&mut [body]).pop() {
            Some(Ok(settled)) => settled,
            Some(Err(panic)) => resume_unwind(panic),
            None => Err(StoreError::Contended),
        }
    }

    /// The same for several bodies, each a member of its own, in one turn. Returns how each of
    /// them ended, in their order.
    pub(super) fn run_all(&self, bodies: &mut [&mut Body<'_>]) -> Vec<Ended> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let mut turn = self.turn();
        self.waiting.fetch_sub(1, Ordering::SeqCst);

        let mut members = Vec::with_capacity(bodies.len());
        for body in bodies {
            // As long as it has bodies, its caller is one of those who wait.
            turn.settle_unless(true);
            members.push(turn.run(*body));
        }
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

/// How a body ended: with the companies whose listeners are to be woken, or with a panic.
pub(super) type Ended = thread::Result<Result<Vec<CompanyId>, StoreError>>;

/// A body that has run.
struct Member {
    own: Ended,
    /// That of its batch; none when there was no batch to join.
    batch: Option<Arc<Outcome>>,
}

impl Member {
    /// How it ended, when its batch is settled.
    fn ended(self) -> Ended {
        let shared = self.batch.map_or(Ok(()), |batch| batch.wait());
        self.own.map(|own| shared.and(own))
    }
}

/// The transaction of the whole batch is gone or cannot be trusted.
struct Lost(StoreError);

impl Lost {
    /// On a fault of the disk SQLite undoes the whole transaction by itself. Then undoing one
    /// member fails as well, and the fault is what every member is to be told.
    fn because(self, fault: StoreError) -> Self {
        match fault {
            StoreError::Full(_) | StoreError::Failed(_) => Self(fault),
            _ => self,
        }
    }
}

impl Turn {
    /// Runs one body as a member of a batch. Even after a panic the batch is settled later, by
    /// this caller or by another.
    fn run(&mut self, body: &mut Body<'_>) -> Member {
        let batch = match self.join() {
            Ok(batch) => Some(batch),
            Err(error) => {
                let own = Ok(Err(error));
                return Member { own, batch: None };
            }
        };
        let own = match catch_unwind(AssertUnwindSafe(|| self.member(body))) {
            Ok(Ok(own)) => Ok(own),
            Ok(Err(Lost(error))) => {
                self.give_up(error);
                Ok(Ok(Vec::new()))
            }
            Err(panic) => {
                if let Err(Lost(error)) = self.undo_member() {
                    self.give_up(error);
                }
                Err(panic)
            }
        };
        Member { own, batch }
    }

    /// Becomes a member of the open batch, or opens one.
    fn join(&mut self) -> Result<Arc<Outcome>, StoreError> {
        let batch = match &mut self.batch {
            Some(batch) => batch,
            none => {
                begin(&mut self.conn)?;
                none.insert(Batch {
                    opened: Instant::now(),
                    members: 0,
                    outcome: Arc::default(),
                })
            }
        };
        batch.members += 1;
        Ok(Arc::clone(&batch.outcome))
    }

    /// Runs the body of one member, and undoes it when it fails or refuses.
    fn member(&mut self, body: &mut Body<'_>) -> Result<Result<Vec<CompanyId>, StoreError>, Lost> {
        Savepoint.run(&mut self.conn).map_err(Lost)?;
        let mut tx = Transaction::on(&mut self.conn);
        let companies = body(&mut tx).and_then(|verdict| match verdict {
            Verdict::Commit => tx
                .write_journal()
                .map(|(companies, _number)| Some(companies)),
            Verdict::RollBack => Ok(None),
        });
        match companies {
            Ok(Some(companies)) => Release
                .run(&mut self.conn)
                .map(|()| Ok(companies))
                .map_err(Lost),
            Ok(None) => self.undo_member().map(|()| Ok(Vec::new())),
            Err(error) => match self.undo_member() {
                Ok(()) => Ok(Err(error)),
                Err(undo) => Err(undo.because(error)),
            },
        }
    }

    fn undo_member(&mut self) -> Result<(), Lost> {
        RollbackTo
            .run(&mut self.conn)
            .and_then(|()| Release.run(&mut self.conn))
            .map_err(Lost)
    }

    /// Commits the batch. While others wait and it has room, they do that.
    fn settle_unless(&mut self, others_wait: bool) {
        let Some(batch) = &self.batch else { return };
        let has_room = batch.members < MAX_MEMBERS && batch.opened.elapsed() < self.max_age;
        if others_wait && has_room {
            return;
        }
        match Commit.run(&mut self.conn) {
            Ok(()) => self.close(Ok(())),
            Err(error) => {
                self.roll_back();
                let error = self.overwrite_failed_commit(error);
                self.fail(error);
            }
        }
    }

    /// Makes sure that a failed commit wrote nothing, and returns its error. When the disk failed,
    /// the commit may stand there whole, only not known to be durable. No reader sees it, but
    /// whoever opens the file after a crash would. The next commit is written over it, so one is
    /// made at once. If that fails as well, the outcome is unknown.
    fn overwrite_failed_commit(&mut self, error: StoreError) -> StoreError {
        if !is_of_disk(&error) {
            return error;
        }
        match Overwrite.run(&mut self.conn) {
            Ok(()) => error,
            Err(again) => {
                tracing::error!(error = %again, "what a failed commit left is not overwritten");
                StoreError::OutcomeUnknown(Box::new(error))
            }
        }
    }

    /// Undoes the whole batch and tells everybody in it.
    fn give_up(&mut self, error: StoreError) {
        self.roll_back();
        self.fail(error);
    }

    fn roll_back(&mut self) {
        // Fails when SQLite has undone the transaction by itself, as it does on a full disk.
        if let Err(rollback) = Rollback.run(&mut self.conn) {
            tracing::debug!(error = %rollback, "nothing was left to roll back");
        }
    }

    fn fail(&mut self, error: StoreError) {
        tracing::error!(%error, "a shared commit failed");
        self.close(Err(SharedError(Arc::new(error))));
    }

    fn close(&mut self, result: Result<(), SharedError>) {
        if let Some(batch) = self.batch.take() {
            batch.outcome.settle(result);
        }
    }
}

/// Begins a transaction. A fault of the disk may have left the last one open, when not even undoing
/// it was possible; then it is undone first.
fn begin(conn: &mut Connection) -> Result<(), StoreError> {
    BeginImmediate.run(conn).or_else(|error| {
        Rollback.run(conn).map_err(|_nothing_open| error)?;
        tracing::warn!("a transaction that was left open is undone");
        BeginImmediate.run(conn)
    })
}

impl Outcome {
    fn settle(&self, result: Result<(), SharedError>) {
        *self.settled.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        self.changed.notify_all();
    }

    fn wait(&self) -> Result<(), StoreError> {
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
fn is_of_disk(error: &StoreError) -> bool {
    core::error::Error::source(error)
        .is_some_and(|cause| cause.to_string().contains("disk I/O error"))
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
