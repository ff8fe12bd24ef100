//! The batch that members share, and how each of them runs in it.
//!
//! A member that joins what others wrote runs in a savepoint, so that it can be undone alone. The
//! members of the caller that opened the batch run without: a savepoint costs as much as a third
//! of what is written in it, since SQLite copies each page before it changes there, and writes
//! the index of words once for each savepoint instead of once for the commit. In return all of
//! them are undone and run again when one of them has to be undone. Few have: most refusals come
//! before the first change.

use core::panic::AssertUnwindSafe;
use core::time::Duration;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::time::Instant;

use workforce_domain::id::CompanyId;
use workforce_domain::port::{StoreError, Verdict};

use super::member::{Ended, Member};
use crate::store::sqlite::log::checkpoints::Checkpoints;
use crate::store::sqlite::log::extent::log_pages;
use crate::store::sqlite::log::flush::Flushes;
use crate::store::sqlite::outcome::{Outcome, SharedError, is_of_disk};
use crate::store::sqlite::statement::{
    BeginImmediate, Commit, Overwrite, Release, Rollback, RollbackTo, Savepoint, Statement,
    total_changes,
};
use crate::store::sqlite::{Connection, Transaction};

/// A batch with this many members is committed even when others wait.
pub(in crate::store::sqlite) const MAX_MEMBERS: usize = 64;
/// A batch that has been open for this long is committed even when others wait.
const MAX_AGE: Duration = Duration::from_millis(25);

/// What a caller does within its transaction.
pub(in crate::store::sqlite) type Body<'a> =
    dyn FnMut(&mut Transaction<'_>) -> Result<Verdict, StoreError> + 'a;

/// What one caller brings. More may be added until all have run.
pub(in crate::store::sqlite) trait Bodies {
    /// Whether there is one with this number, asked when all before it have run.
    fn has(&mut self, which: usize) -> bool;

    /// Runs one of them.
    fn run(&mut self, which: usize, tx: &mut Transaction<'_>) -> Result<Verdict, StoreError>;
}

/// Bodies to which none are added.
pub(in crate::store::sqlite) struct Given<'a, 'b, 'c>(
    pub(in crate::store::sqlite) &'a mut [&'b mut Body<'c>],
);

impl Bodies for Given<'_, '_, '_> {
    fn has(&mut self, which: usize) -> bool {
        which < self.0.len()
    }

    fn run(&mut self, which: usize, tx: &mut Transaction<'_>) -> Result<Verdict, StoreError> {
        self.0[which](tx)
    }
}

/// What the caller whose turn it is works with.
pub(in crate::store::sqlite) struct Turn {
    pub(in crate::store::sqlite) conn: Connection,
    /// None where SQLite looks after the log of the database by itself.
    checkpoints: Option<Checkpoints>,
    /// None where a commit is durable by itself.
    flushes: Option<Arc<Flushes>>,
    batch: Option<Batch>,
    /// The outcome of the last batch that was committed, which everybody can see.
    seen: Option<Arc<Outcome>>,
    pub(in crate::store::sqlite) max_age: Duration,
}

/// An open transaction and those who share it.
struct Batch {
    opened: Instant,
    members: usize,
    outcome: Arc<Outcome>,
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
    pub(in crate::store::sqlite) const fn new(
        conn: Connection,
        checkpoints: Option<Checkpoints>,
        flushes: Option<Arc<Flushes>>,
    ) -> Self {
        Self {
            conn,
            checkpoints,
            flushes,
            batch: None,
            seen: None,
            max_age: MAX_AGE,
        }
    }

    /// Runs the bodies of one caller, each as a member of a batch. The last one may be left open.
    pub(in crate::store::sqlite) fn run_all(&mut self, bodies: &mut dyn Bodies) -> Vec<Member> {
        let mut members = Vec::new();
        let mut may_share_fate = true;
        while self.is_brought(bodies, members.len()) {
            // As long as it has bodies, its caller is one of those who wait.
            self.settle_unless(true);
            if let Err(away) = self.may_begin() {
                // Nor may those that the caller would add.
                members.push(Member::alone(Ok(Err(away))));
                break;
            }
            let next = members.len();
            if self.batch.is_some() || !may_share_fate {
                members.push(self.run(&mut |tx| bodies.run(next, tx)));
                continue;
            }
            let ran = self.run_without_savepoints(bodies, next);
            may_share_fate = !ran.is_empty();
            members.extend(ran);
        }
        members
    }

    /// Whether a batch may be opened, if there is none.
    fn may_begin(&self) -> Result<(), StoreError> {
        match (&self.batch, &self.flushes) {
            (None, Some(flushes)) => flushes.answer(),
            _ => Ok(()),
        }
    }

    /// Whether there is a body with this number. The batch does not age while its caller waits for
    /// one.
    fn is_brought(&mut self, bodies: &mut dyn Bodies, which: usize) -> bool {
        let asked = Instant::now();
        let is_brought = bodies.has(which);
        if let Some(batch) = &mut self.batch {
            batch.opened += asked.elapsed();
        }
        is_brought
    }

    /// Runs bodies from `first` on in a batch of their own without savepoints, as many as go into
    /// it. Returns none when one of them has to be undone and the others with it; then nothing is
    /// left of them, and each is to be run again.
    fn run_without_savepoints(&mut self, bodies: &mut dyn Bodies, first: usize) -> Vec<Member> {
        let mut members = Vec::new();
        while !self.is_full() && self.is_brought(bodies, first + members.len()) {
            let batch = match self.join() {
                Ok(batch) => batch,
                Err(error) => return vec![Member::alone(Ok(Err(error)))],
            };
            let next = first + members.len();
            // The first one is undone alone, whether it changed something or not.
            let before = if members.is_empty() {
                None
            } else {
                total_changes(&mut self.conn).ok()
            };
            let run = || self.body(&mut |tx| bodies.run(next, tx));
            let own = match catch_unwind(AssertUnwindSafe(run)) {
                Ok(Ok(Some(companies))) => Ok(Ok(companies)),
                // It changed nothing, so that nothing has to be undone.
                Ok(Ok(None))
                    if before.is_some() && before == total_changes(&mut self.conn).ok() =>
                {
                    Ok(Ok(Vec::new()))
                }
                undone => {
                    self.roll_back();
                    self.batch = None;
                    if !members.is_empty() {
                        return Vec::new();
                    }
                    // Nobody else's writes were undone with its own.
                    let own = undone.map(|own| own.map(|_refused| Vec::new()));
                    return vec![self.lonely(own)];
                }
            };
            let batch = Some(batch);
            members.push(Member::of(own, batch));
        }
        members
    }

    /// Runs one body, in a savepoint, as a member of a batch. Even after a panic the batch is
    /// settled later, by this caller or by another.
    fn run(&mut self, body: &mut Body<'_>) -> Member {
        let batch = match self.join() {
            Ok(batch) => Some(batch),
            Err(error) => return Member::alone(Ok(Err(error))),
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
        Member::of(own, batch)
    }

    /// One that is in no batch, but has seen what others committed.
    fn lonely(&self, own: Ended) -> Member {
        Member::of(own, self.seen.clone())
    }

    /// Becomes a member of the open batch, or opens one.
    fn join(&mut self) -> Result<Arc<Outcome>, StoreError> {
        if self.batch.is_none() {
            if let Some(flushes) = &self.flushes
                && flushes.has_failed()
            {
                flushes.mend(log_pages(&mut self.conn)?)?;
                self.seen = None;
            }
            begin(&mut self.conn).inspect_err(|error| self.heed(error))?;
        }
        let batch = self.batch.get_or_insert_with(|| Batch {
            opened: Instant::now(),
            members: 0,
            outcome: Arc::default(),
        });
        batch.members += 1;
        Ok(Arc::clone(&batch.outcome))
    }

    /// Runs the body of one member, and undoes it when it fails or refuses.
    fn member(&mut self, body: &mut Body<'_>) -> Result<Result<Vec<CompanyId>, StoreError>, Lost> {
        Savepoint.run(&mut self.conn).map_err(Lost)?;
        match self.body(body) {
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

    /// Runs a body and writes what happened, in the open transaction. Returns the companies whose
    /// listeners are to be woken, or nothing when it refused: then it may have to be undone, as
    /// after an error.
    fn body(&mut self, body: &mut Body<'_>) -> Result<Option<Vec<CompanyId>>, StoreError> {
        let mut tx = Transaction::on(&mut self.conn);
        let written = body(&mut tx).and_then(|verdict| match verdict {
            Verdict::Commit => {
                let (companies, _number) = tx.write_journal()?;
                Ok(Some(companies))
            }
            Verdict::RollBack => Ok(None),
        });
        written.inspect_err(|error| self.heed(error))
    }

    /// Has the log give its room back after a failure for want of it.
    fn heed(&self, error: &StoreError) {
        if let Some(checkpoints) = &self.checkpoints
            && (is_of_disk(error) || matches!(error, StoreError::Full(_)))
        {
            checkpoints.after_refusal();
        }
    }

    fn undo_member(&mut self) -> Result<(), Lost> {
        RollbackTo
            .run(&mut self.conn)
            .and_then(|()| Release.run(&mut self.conn))
            .map_err(Lost)
    }

    /// Commits the batch. While others wait and it has room, they do that.
    pub(in crate::store::sqlite) fn settle_unless(&mut self, others_wait: bool) {
        if self.batch.is_none() || (others_wait && !self.is_full()) {
            return;
        }
        if let Some(flushes) = &self.flushes {
            flushes.begin_commit();
        }
        match Commit.run(&mut self.conn) {
            Ok(()) => {
                self.flush_batch();
                if let Some(checkpoints) = &self.checkpoints {
                    checkpoints.after_commit(&mut self.conn);
                }
            }
            Err(error) => {
                self.roll_back();
                let error = self.overwrite_failed_commit(error);
                if let Some(flushes) = &self.flushes {
                    flushes.committed(None);
                }
                self.fail(error);
            }
        }
    }

    /// Has the members told when the batch, which is committed, is durable.
    fn flush_batch(&mut self) {
        let Some(Batch { outcome, .. }) = self.batch.take() else {
            return;
        };
        match &self.flushes {
            Some(flushes) => {
                self.seen = Some(Arc::clone(&outcome));
                flushes.committed(Some(outcome));
            }
            None => outcome.settle(Ok(())),
        }
    }

    /// Whether the open batch takes no more members.
    fn is_full(&self) -> bool {
        self.batch.as_ref().is_some_and(|batch| {
            batch.members >= MAX_MEMBERS || batch.opened.elapsed() >= self.max_age
        })
    }

    /// Makes sure that a failed commit wrote nothing, and returns its error. When the disk failed,
    /// the commit may stand there whole, only not known to be durable. No reader sees it, but
    /// whoever opens the file after a crash would. The next commit is written over it, so one is
    /// made at once. If that fails as well, the outcome is unknown.
    pub(in crate::store::sqlite) fn overwrite_failed_commit(
        &mut self,
        error: StoreError,
    ) -> StoreError {
        if !is_of_disk(&error) {
            return error;
        }
        let flush = || self.flushes.as_ref().map_or(Ok(()), |it| it.flush());
        match Overwrite.run(&mut self.conn).and_then(|()| flush()) {
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
        if let Some(checkpoints) = &self.checkpoints {
            checkpoints.after_refusal();
        }
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
