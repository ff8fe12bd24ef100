//! Checkpoints: what commits left in the write-ahead log is copied into the database file.
//!
//! Left to itself, SQLite has the commit that fills the log do this, and whoever waits for that
//! commit waits for the copying: for a moment each time, and for seconds when a long read had kept
//! the log from being emptied. Here a thread copies while the writer goes on. The log begins anew
//! only when all of it has been copied, so the writer copies the last of a long one between two
//! commits. Before that the thread copies again and again, each time less, until it is little. What
//! the thread copied it also has flushed to the disk: SQLite does that with the last page of the log,
//! and so would leave it to the writer.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::fs::File;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use workforce_domain::port::StoreError;
use workforce_vitals::Supervisor;

use super::extent::{LONG, Left, Log, Mode, checkpoint};
use super::flush::Flushes;
use crate::store::Durability;
use crate::store::errors::failed;
use crate::store::sqlite::Connection;
use crate::store::sqlite::lock::ExclusiveLock;
use crate::store::sqlite::write_back::{flushed_in_pieces, written_back};

/// The task's name among those that are supervised.
const TASK: &str = "checkpoints";
/// So long the thread lets commits come together before it looks.
const PAUSE: Duration = Duration::from_millis(20);
/// So long it waits after a failure, and for a commit when somebody stood in its way: on a full disk
/// none comes before the log is copied.
const RETRY: Duration = Duration::from_secs(1);
/// So often at most it copies what came while it copied, before the writer ends a long log. Each time
/// takes about half as long as the one before, unless as much is added as is copied.
const ROUNDS: usize = 4;

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
    /// A write was refused since then, perhaps for want of room in the log.
    refused: bool,
    closing: bool,
}

/// What is worth copying.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    Much,
    /// All, and then the file of the log has its room given back.
    All,
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

    /// Has the thread copy all that there is and give the room of the log back: a write may have
    /// found none.
    pub(in crate::store::sqlite) fn after_refusal(&self) {
        self.shared.state().refused = true;
        self.shared.changed.notify_one();
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

    /// Waits for a commit, so long at most, and a pause longer for those that follow it. Returns what
    /// is worth copying, or nothing when the store is closed.
    fn wait_for_commits(&self, at_most: Duration) -> Option<Worth> {
        let waited = self
            .changed
            .wait_timeout_while(self.state(), at_most, |state| {
                !state.grown && !state.refused && !state.closing
            });
        drop(waited);
        let go_on = self.pause(PAUSE);
        let mut state = self.state();
        state.grown = false;
        let worth = if core::mem::take(&mut state.refused) {
            Worth::All
        } else {
            Worth::Much
        };
        go_on.then_some(worth)
    }

    /// Waits, and returns whether to go on.
    fn pause(&self, pause: Duration) -> bool {
        let waited = self
            .changed
            .wait_timeout_while(self.state(), pause, |state| !state.closing);
        !waited.unwrap_or_else(PoisonError::into_inner).0.closing
    }
}

/// The thread's work until the store is closed.
fn run(copier: &mut Copier, shared: &Shared) {
    let mut for_commits = Duration::MAX;
    // A refused write asks for all only once, and may be the last that is tried.
    let mut owed = Worth::Much;
    while let Some(worth) = shared.wait_for_commits(for_commits) {
        owed = owed.max(worth);
        for_commits = match copier.copy_if_worth_it(owed) {
            Ok(Some(left)) => {
                let ends_soon = left == Left::ToWriter;
                shared.ends_soon.store(ends_soon, Ordering::Relaxed);
                if left == Left::ToReader {
                    RETRY
                } else {
                    owed = Worth::Much;
                    Duration::MAX
                }
            }
            Ok(None) => RETRY,
            Err(error) => {
                tracing::warn!(%error, "the write-ahead log is not copied into the database");
                shared.pause(RETRY);
                Duration::ZERO
            }
        };
    }
}

impl Copier {
    /// Returns nothing when somebody else, such as the writer, copies or uses the log just now.
    fn copy_if_worth_it(&mut self, worth: Worth) -> Result<Option<Left>, StoreError> {
        let Some(before) = self.checkpoint(Mode::Look)? else {
            return Ok(None);
        };
        let left = self.left.take();
        if worth == Worth::Much && !before.is_much() {
            return Ok(Some(before.left_after(before)));
        }
        let Some(copied) = self.copy(before, flushed_in_pieces)? else {
            return Ok(None);
        };
        if copied.is_much() {
            return Ok(Some(Left::ToReader));
        }
        // Also of a log that has begun anew, and of which nothing is left to copy.
        if worth == Worth::All && self.checkpoint(Mode::GiveBack)?.is_none() {
            return Ok(None);
        }
        self.left = self.checkpoint(Mode::Look)?;
        // What came in the pause before the copy says nothing of what comes in its time.
        self.copy_end(left.unwrap_or(before))
    }

    /// Copies what came while a long log was copied, as long as the writer would wait for it.
    fn copy_end(&mut self, mut before: Log) -> Result<Option<Left>, StoreError> {
        for _ in 0..ROUNDS {
            let Some(now) = self.left.filter(|log| log.is_much_for_writer()) else {
                break;
            };
            // All at once: in pieces it takes so long that as much is added meanwhile.
            let Some(copied) = self.copy(now, File::sync_data)? else {
                break;
            };
            if copied.is_much_for_writer() {
                return Ok(Some(Left::ToReader));
            }
            before = now;
            self.left = self.checkpoint(Mode::Look)?;
        }
        Ok(self.left.map(|after| after.left_after(before)))
    }

    /// Copies the log, and has what is in the database file then `flushed`.
    fn copy(
        &mut self,
        before: Log,
        flushed: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<Option<Log>, StoreError> {
        let lock = Arc::clone(&self.lock);
        let file = lock.database();
        let copied = if before.rest() < LONG {
            copy(&mut self.conn, &self.flushes)?
        } else {
            written_back(file, || copy(&mut self.conn, &self.flushes)).map_err(not_flushed)??
        };
        if self.durability == Durability::PowerLoss {
            flushed(file).map_err(not_flushed)?;
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

#[cfg(test)]
#[path = "checkpoints_tests.rs"]
mod tests;
