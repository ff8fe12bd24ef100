//! Checkpoints: what commits left in the write-ahead log is copied into the database file.
//!
//! Left to itself, SQLite has the commit that fills the log do this, and whoever waits for that
//! commit waits for the copying: for a moment each time, and for seconds when a long read had kept
//! the log from being emptied. Here a thread copies while the writer goes on. The log begins anew
//! only when all of it has been copied, so the writer copies the last of a long one, which is
//! little, between two commits.

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

use super::Connection;
use super::lock::ExclusiveLock;
use super::write_back::written_back;
use crate::store::errors::failed;

/// The task's name among those that are supervised.
const TASK: &str = "checkpoints";
/// So many pages that are not copied are worth a checkpoint.
const WORTH_COPYING: i32 = 1_000;
/// A log of so many pages, 32 MiB, is to begin anew.
const LONG: i32 = 8_000;
/// So long the thread lets commits come together before it looks.
const PAUSE: Duration = Duration::from_millis(20);
/// So long it waits after a failure.
const RETRY: Duration = Duration::from_secs(1);

/// The thread that copies, until dropped.
pub(super) struct Checkpoints {
    shared: Arc<Shared>,
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
    lock: Arc<ExclusiveLock>,
}

/// The write-ahead log, in pages.
#[derive(Clone, Copy, Debug, QueryableByName)]
struct Log {
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
    pub(super) fn start(
        conn: Connection,
        lock: Arc<ExclusiveLock>,
        supervisor: Supervisor,
    ) -> io::Result<Self> {
        let shared = Arc::<Shared>::default();
        let of_thread = Arc::clone(&shared);
        let mut copier = Copier { conn, lock };
        let thread = thread::Builder::new().name(TASK.into()).spawn(move || {
            let is_closing = || of_thread.state().closing;
            supervisor.keep_thread(TASK, is_closing, || run(&mut copier, &of_thread));
        })?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Has the thread look soon, after each commit through `writer`.
    pub(super) fn after_commit(&self, writer: &mut Connection) {
        if self.shared.ends_soon.load(Ordering::Relaxed) {
            match checkpoint(writer, Mode::Copy) {
                Ok(log) if log.rest() > 0 => {}
                Ok(_all_copied) => self.shared.ends_soon.store(false, Ordering::Relaxed),
                Err(error) => tracing::warn!(%error, "the end of the log is not copied"),
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

    /// Whether the writer is to copy the rest, which it waits for: the log is long, and the rest is
    /// little or, since as much is added as is copied meanwhile, does not become less. What a
    /// reader stands in the way of is left.
    const fn ends_soon(self, before: Self) -> bool {
        let was_copied = self.checkpointed > before.checkpointed;
        let becomes_less = self.rest() <= before.rest() / 2;
        self.log >= LONG && (self.rest() < WORTH_COPYING || (was_copied && !becomes_less))
    }
}

/// The thread's work until the store is closed.
fn run(copier: &mut Copier, shared: &Shared) {
    while shared.wait_for_commits() {
        match copier.copy_if_worth_it() {
            Ok(ends_soon) => shared.ends_soon.store(ends_soon, Ordering::Relaxed),
            Err(error) => {
                tracing::warn!(%error, "the write-ahead log is not copied into the database");
                shared.pause(RETRY);
            }
        }
    }
}

impl Copier {
    /// Returns whether the writer is to copy the rest.
    fn copy_if_worth_it(&mut self) -> Result<bool, StoreError> {
        let conn = &mut self.conn;
        let before = checkpoint(conn, Mode::Look).map_err(failed)?;
        let after = if before.rest() < WORTH_COPYING {
            Ok(before)
        } else if before.rest() < LONG {
            checkpoint(conn, Mode::Copy)
        } else {
            let copy = || checkpoint(conn, Mode::Copy);
            written_back(self.lock.database(), copy)
                .map_err(|error| StoreError::Failed(error.into()))?
        };
        Ok(after.map_err(failed)?.ends_soon(before))
    }
}

fn checkpoint(conn: &mut Connection, mode: Mode) -> QueryResult<Log> {
    sql_query(match mode {
        Mode::Look => "PRAGMA wal_checkpoint(NOOP)",
        Mode::Copy => "PRAGMA wal_checkpoint(PASSIVE)",
    })
    .get_result(conn)
}

#[cfg(test)]
#[path = "checkpoints_tests.rs"]
mod tests;
