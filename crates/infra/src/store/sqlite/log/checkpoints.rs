//! Checkpoints: what commits left in the write-ahead log is copied into the database file.
//!
//! Left to itself, SQLite has the commit that fills the log do this, and whoever waits for that
//! commit waits for the copying: for a moment each time, and for seconds when a long read had kept
//! the log from being emptied. Here a thread copies while the writer goes on. The log begins anew
//! only when all of it has been copied, so the writer copies the last of a long one, which is
//! little, between two commits. What the thread copied it also has flushed to the disk: SQLite does
//! that with the last page of the log, and so would leave it to the writer.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::Integer;
use workforce_domain::port::StoreError;
use workforce_vitals::Supervisor;

use super::flush::Flushes;
use crate::store::Durability;
use crate::store::errors::failed;
use crate::store::sqlite::Connection;
use crate::store::sqlite::lock::ExclusiveLock;
use crate::store::sqlite::write_back::written_back;

/// The task's name among those that are supervised.
const TASK: &str = "checkpoints";
/// So many pages that are not copied are worth a checkpoint. With more, a page that many commits
/// wrote is copied less often; with fewer, a flush that commits wait for is shorter.
const WORTH_COPYING: i32 = 2_000;
/// A log of so many pages, 32 MiB, is to begin anew.
const LONG: i32 = 8_000;
/// So many pages the writer does not copy, which waits for it.
const TOO_MANY_FOR_WRITER: i32 = 1_000;
/// So long the thread lets commits come together before it looks.
const PAUSE: Duration = Duration::from_millis(20);
/// So long it waits after a failure.
const RETRY: Duration = Duration::from_secs(1);

/// The thread that copies, until dropped.
pub(in crate::store::sqlite) struct Checkpoints {
    shared: Arc<Shared>,
    flushes: Arc<Flushes>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// The writer is to copy the rest of the log.
    ends_soon: AtomicBool,
}

#[derive(Default)]
struct State {
    /// Something was committed since the thread looked.
    grown: bool,
    closing: bool,
}

/// What the thread copies with.
struct Copier {
    conn: Connection,
    flushes: Arc<Flushes>,
    lock: Arc<ExclusiveLock>,
    durability: Durability,
    /// What was left of the log by the last copy, when nobody stood in its way.
    left: Option<Log>,
}

/// The write-ahead log, in pages. Of one that is copied, as it was before.
#[derive(Clone, Copy, Debug, QueryableByName)]
struct Log {
    /// Not 0 when somebody else copies it. The rest is not told then.
    #[diesel(sql_type = Integer)]
    busy: i32,
    #[diesel(sql_type = Integer)]
    log: i32,
    #[diesel(sql_type = Integer)]
    checkpointed: i32,
}

/// What is done with the log.
#[derive(Clone, Copy)]
enum Mode {
    /// Its length is read.
    Look,
    /// As much is copied as no reader stands in the way of.
    Copy,
}

impl Checkpoints {
    /// Starts the thread, which copies through `conn`. The writer must not copy by itself.
    pub(in crate::store::sqlite) fn start(
        conn: Connection,
        flushes: Arc<Flushes>,
        lock: Arc<ExclusiveLock>,
        durability: Durability,
        supervisor: Supervisor,
    ) -> io::Result<Self> {
        let shared = Arc::<Shared>::default();
        let of_thread = Arc::clone(&shared);
        let mut copier = Copier {
            conn,
            flushes: Arc::clone(&flushes),
            lock,
            durability,
            left: None,
        };
        let thread = thread::Builder::new().name(TASK.into()).spawn(move || {
            let is_closing = || of_thread.state().closing;
            supervisor.keep_thread(TASK, is_closing, || run(&mut copier, &of_thread));
        })?;
        Ok(Self {
            shared,
            flushes,
            thread: Some(thread),
        })
    }

    /// Has the thread look soon, after each commit through `writer`.
    pub(in crate::store::sqlite) fn after_commit(&self, writer: &mut Connection) {
        if self.shared.ends_soon.load(Ordering::Relaxed) {
            match copy(writer, &self.flushes) {
                Ok(Some(log)) if log.rest() == 0 => {
                    self.shared.ends_soon.store(false, Ordering::Relaxed);
                }
                Ok(_not_all_copied) => {}
                Err(error) => {
                    self.shared.ends_soon.store(false, Ordering::Relaxed);
                    tracing::warn!(%error, "the end of the log is not copied");
                }
            }
        }
        let mut state = self.shared.state();
        if !state.grown {
            state.grown = true;
            drop(state);
            self.shared.changed.notify_one();
        }
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.shared.state().closing = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // It says by itself when it panicked.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a commit, and a pause longer for those that follow it. Returns whether to go on.
    fn wait_for_commits(&self) -> bool {
        let grown = self
            .changed
            .wait_while(self.state(), |state| !state.grown && !state.closing);
        drop(grown);
        let go_on = self.pause(PAUSE);
        self.state().grown = false;
        go_on
    }

    /// Waits, and returns whether to go on.
    fn pause(&self, pause: Duration) -> bool {
        let waited = self
            .changed
            .wait_timeout_while(self.state(), pause, |state| !state.closing);
        !waited.unwrap_or_else(PoisonError::into_inner).0.closing
    }
}

impl Log {
    /// What is not copied.
    const fn rest(self) -> i32 {
        self.log - self.checkpointed
    }

    /// Whether the rest is much for the thread, or for the writer, whose it is next.
    const fn is_worth_copying(self) -> bool {
        self.rest() >= WORTH_COPYING || (self.log >= LONG && self.rest() >= TOO_MANY_FOR_WRITER)
    }

    /// Whether the writer is to copy the rest, which it waits for: the log is long, and the rest is
    /// little or, since as much is added as is copied meanwhile, no longer becomes less.
    const fn ends_soon(self, before: Self) -> bool {
        let becomes_less = self.rest() < before.rest();
        self.log >= LONG && (self.rest() < TOO_MANY_FOR_WRITER || !becomes_less)
    }
}

/// The thread's work until the store is closed.
fn run(copier: &mut Copier, shared: &Shared) {
    while shared.wait_for_commits() {
        match copier.copy_if_worth_it() {
            Ok(Some(ends_soon)) => shared.ends_soon.store(ends_soon, Ordering::Relaxed),
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, "the write-ahead log is not copied into the database");
                shared.pause(RETRY);
            }
        }
    }
}

impl Copier {
    /// Returns whether the writer is to copy the rest, unless it is copying now.
    fn copy_if_worth_it(&mut self) -> Result<Option<bool>, StoreError> {
        let Some(before) = self.checkpoint(Mode::Look)? else {
            return Ok(None);
        };
        let left = self.left.take();
        if !before.is_worth_copying() {
            return Ok(Some(before.ends_soon(before)));
        }
        let Some(copied) = self.copy(before)? else {
            return Ok(None);
        };
        if copied.is_worth_copying() {
            // A reader stands in the way, and would in the writer's.
            return Ok(Some(false));
        }
        self.left = self.checkpoint(Mode::Look)?;
        // What came in the pause before the copy says nothing of what comes in its time.
        let before = left.unwrap_or(before);
        Ok(self.left.map(|after| after.ends_soon(before)))
    }

    fn copy(&mut self, before: Log) -> Result<Option<Log>, StoreError> {
        let lock = Arc::clone(&self.lock);
        let file = lock.database();
        let copied = if before.rest() < LONG {
            copy(&mut self.conn, &self.flushes)?
        } else {
            written_back(file, || copy(&mut self.conn, &self.flushes)).map_err(not_flushed)??
        };
        if self.durability == Durability::PowerLoss {
            file.sync_data().map_err(not_flushed)?;
        }
        Ok(copied)
    }

    fn checkpoint(&mut self, mode: Mode) -> Result<Option<Log>, StoreError> {
        checkpoint(&mut self.conn, mode).map_err(failed)
    }
}

fn not_flushed(error: io::Error) -> StoreError {
    StoreError::Failed(error.into())
}

/// Copies the log, of which only what is durable may be in the database.
fn copy(conn: &mut Connection, flushes: &Flushes) -> Result<Option<Log>, StoreError> {
    flushes.flush()?;
    checkpoint(conn, Mode::Copy).map_err(failed)
}

/// How many pages of the log can be read.
pub(in crate::store::sqlite) fn log_pages(conn: &mut Connection) -> Result<u64, StoreError> {
    let log = checkpoint(conn, Mode::Look).map_err(failed)?;
    // Without a log it is -1.
    Ok(log.map_or(0, |it| u64::try_from(it.log).unwrap_or(0)))
}

/// Returns nothing when somebody else copies the log.
fn checkpoint(conn: &mut Connection, mode: Mode) -> QueryResult<Option<Log>> {
    let log: Log = sql_query(match mode {
        Mode::Look => "PRAGMA wal_checkpoint(NOOP)",
        Mode::Copy => "PRAGMA wal_checkpoint(PASSIVE)",
    })
    .get_result(conn)?;
    Ok((log.busy == 0).then_some(log))
}

#[cfg(test)]
#[path = "checkpoints_tests.rs"]
mod tests;
