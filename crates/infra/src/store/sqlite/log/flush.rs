//! Commits on their way to the disk.
//!
//! SQLite itself would flush its log within a commit, and the writer would wait. Here a thread
//! flushes while the writer goes on, and tells those who share a commit when it is durable. Others
//! can read a commit before that, so they are told of what they read only then. A commit that
//! follows is never durable without this one: after a crash, SQLite reads its log up to the first
//! thing that is not whole.
//!
//! When the disk refuses a flush, nobody knows what of it is kept, and the system forgets it: the
//! next flush succeeds. So from then on nothing is called durable and nobody is told of anything,
//! until all of the log has been written once more and flushed ([`Flushes::mend`]). A server that
//! starts cannot know what became of the last flush of the one before it, and so does this first.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle, Thread};
use std::time::Instant;

use workforce_domain::port::{DURABLE_WITHIN, StoreError};
use workforce_vitals::{Supervisor, is_full};

use super::file::write_again;
use crate::store::sqlite::outcome::{Outcome, SharedError, Then};

/// The task's name among those that are supervised.
const TASK: &str = "flush";
const NOT_KEPT: &str = "the disk refuses to keep what can be seen, or does not answer";

/// The thread that flushes. When dropped, it flushes what is left.
pub(in crate::store::sqlite) struct Flusher {
    flushes: Arc<Flushes>,
    thread: Option<JoinHandle<()>>,
}

/// What is on its way to the disk.
pub(in crate::store::sqlite) struct Flushes {
    /// The write-ahead log; none where commits need not survive loss of power.
    log: Option<File>,
    /// The number of the last commit that others may see.
    visible: AtomicU64,
    /// That of the last one whose end is known.
    settled: AtomicU64,
    has_failed: AtomicBool,
    /// Who has the log mended.
    mender: OnceLock<Thread>,
    /// Held for each flush: an error of an earlier one is told only once, to whoever comes next.
    flushing: Mutex<()>,
    queue: Mutex<Queue>,
    changed: Condvar,
}

struct Queue {
    commits: Vec<Committed>,
    /// Who waits for the commit with a number.
    waiting: Vec<(u64, Then)>,
    /// When the flush that is under way began.
    flush_began: Option<Instant>,
    closing: bool,
}

impl Queue {
    /// Whether the disk does not answer for so long that nobody waits for it any more.
    fn is_stuck(&self) -> bool {
        self.flush_began
            .is_some_and(|began| began.elapsed() > DURABLE_WITHIN)
    }
}

struct Committed {
    number: u64,
    /// None when it failed.
    outcome: Option<Arc<Outcome>>,
}

impl Flusher {
    /// Starts the thread, which flushes `log`.
    pub(in crate::store::sqlite) fn start(
        log: Option<File>,
        supervisor: Supervisor,
    ) -> io::Result<Self> {
        let flushes = Arc::new(Flushes::of(log));
        let of_thread = Arc::clone(&flushes);
        let thread = thread::Builder::new().name(TASK.into()).spawn(move || {
            let is_closing = || of_thread.queue().closing;
            supervisor.keep_thread(TASK, is_closing, || {
                while let Some(commits) = of_thread.next() {
                    of_thread.settle(commits);
                }
            });
        })?;
        Ok(Self {
            flushes,
            thread: Some(thread),
        })
    }

    /// What is on its way.
    pub(in crate::store::sqlite) const fn flushes(&self) -> &Arc<Flushes> {
        &self.flushes
    }
}

impl Drop for Flusher {
    fn drop(&mut self) {
        self.flushes.queue().closing = true;
        self.flushes.changed.notify_one();
        if let Some(thread) = self.thread.take()
            // Whoever it told may have been the last who knew the store.
            && thread.thread().id() != thread::current().id()
        {
            // It says by itself when it panicked.
            let _ = thread.join();
        }
    }
}

impl Flushes {
    const fn of(log: Option<File>) -> Self {
        Self {
            log,
            visible: AtomicU64::new(0),
            settled: AtomicU64::new(0),
            has_failed: AtomicBool::new(false),
            mender: OnceLock::new(),
            flushing: Mutex::new(()),
            queue: Mutex::new(Queue {
                commits: Vec::new(),
                waiting: Vec::new(),
                flush_began: None,
                closing: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Begins a commit: others may see it from now on. [`committed`](Self::committed) ends it.
    pub(in crate::store::sqlite) fn begin_commit(&self) {
        self.visible.fetch_add(1, Ordering::SeqCst);
    }

    /// Has those who share the commit told when it is durable. None share one that failed.
    pub(in crate::store::sqlite) fn committed(&self, outcome: Option<Arc<Outcome>>) {
        let number = self.visible.load(Ordering::SeqCst);
        self.queue().commits.push(Committed { number, outcome });
        self.changed.notify_one();
    }

    /// Does `then` when all that others can see now is durable. Drops it undone when the disk has
    /// refused some of it, or does not answer: those who wait must not become more and more.
    pub(in crate::store::sqlite) fn when_durable(&self, then: Then) {
        let visible = self.visible.load(Ordering::SeqCst);
        if self.is_durable(visible) {
            return then();
        }
        let mut queue = self.queue();
        if self.is_durable(visible) {
            drop(queue);
            return then();
        }
        if !queue.is_stuck() && !self.has_failed() {
            queue.waiting.push((visible, then));
        }
    }

    /// Waits until all that others can see now is durable.
    ///
    /// # Errors
    /// When the disk has refused some of it, or that takes longer than [`DURABLE_WITHIN`]; at once
    /// when it does already.
    pub(in crate::store::sqlite) fn wait(&self) -> Result<(), StoreError> {
        if self.is_durable(self.visible.load(Ordering::SeqCst)) {
            return Ok(());
        }
        let (sender, durable) = sync_channel(1);
        self.when_durable(Box::new(move || {
            // Nobody waits any more for a disk that is away.
            let _ = sender.send(());
        }));
        let waited = durable.recv_timeout(DURABLE_WITHIN);
        waited.map_err(|_away| StoreError::Unavailable(NOT_KEPT.into()))
    }

    /// Looks that the disk answers: what is written meanwhile would only gather behind a flush that
    /// hangs.
    ///
    /// # Errors
    /// When a flush takes longer than [`DURABLE_WITHIN`].
    pub(in crate::store::sqlite) fn answer(&self) -> Result<(), StoreError> {
        match self.queue().is_stuck() {
            true => Err(StoreError::Unavailable(NOT_KEPT.into())),
            false => Ok(()),
        }
    }

    /// Flushes what was written, on this thread.
    ///
    /// # Errors
    /// When the disk refuses that, or did before and the log is not mended since.
    pub(in crate::store::sqlite) fn flush(&self) -> Result<(), StoreError> {
        let _alone = self.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.has_failed() {
            return Err(StoreError::Unavailable(
                "the disk has refused a flush before".into(),
            ));
        }
        let flushed = self.log.as_ref().map_or(Ok(()), File::sync_data);
        flushed.map_err(|error| {
            self.has_failed.store(true, Ordering::SeqCst);
            if let Some(mender) = self.mender.get() {
                mender.unpark();
            }
            not_flushed(error)
        })
    }

    /// Whether the disk has refused a flush, and the log is not mended since.
    pub(in crate::store::sqlite) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::SeqCst)
    }

    /// Has a thread awake as soon as a flush is refused. Only the first who asks.
    pub(super) fn awake_when_refused(&self, mender: Thread) {
        let _ = self.mender.set(mender);
    }

    /// Writes the whole log, which has so many pages, once more and flushes it. To be called between
    /// two transactions, by who alone writes.
    ///
    /// # Errors
    /// When the disk still does not take it, or has lost some of the log: then only a start, which
    /// reads what there is, makes a whole of it.
    pub(in crate::store::sqlite) fn mend(&self, pages: u64) -> Result<(), StoreError> {
        let _alone = self.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(log) = &self.log {
            let away = |error: io::Error| match not_flushed(error) {
                StoreError::Failed(cause) => StoreError::Unavailable(cause),
                full => full,
            };
            if write_again(log).map_err(away)? < pages {
                let lost = "the disk has lost some of the log; start the server anew";
                return Err(StoreError::Unavailable(lost.into()));
            }
            log.sync_data().map_err(away)?;
        }
        if self.has_failed.swap(false, Ordering::SeqCst) {
            tracing::info!("the log, whose flush had failed, is written once more and durable");
        }
        Ok(())
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a commit and all before it are durable. What was settled by a refusal is so when the
    /// log is mended.
    fn is_durable(&self, number: u64) -> bool {
        self.settled.load(Ordering::SeqCst) >= number && !self.has_failed()
    }

    /// Waits for commits, and takes all that there are.
    fn next(&self) -> Option<Vec<Committed>> {
        let waited = self.changed.wait_while(self.queue(), |queue| {
            queue.commits.is_empty() && !queue.closing
        });
        let mut queue = waited.unwrap_or_else(PoisonError::into_inner);
        let commits = core::mem::take(&mut queue.commits);
        if commits.is_empty() {
            return None;
        }
        queue.flush_began = Some(Instant::now());
        Some(commits)
    }

    /// Makes commits durable, and tells everybody who waits for them.
    fn settle(&self, commits: Vec<Committed>) {
        let Some(number) = commits.last().map(|last| last.number) else {
            return;
        };
        let flushed = self.flush_commits();
        let mut queue = self.queue();
        queue.flush_began = None;
        self.settled.store(number, Ordering::SeqCst);
        let ready = queue.waiting.extract_if(.., |(it, _then)| *it <= number);
        let ready: Vec<_> = ready.map(|(_number, then)| then).collect();
        drop(queue);
        let outcomes = commits.into_iter().filter_map(|commit| commit.outcome);
        for outcome in outcomes {
            told(|| outcome.settle(flushed.clone()));
        }
        if flushed.is_ok() {
            for then in ready {
                told(then);
            }
        }
    }

    /// Flushes commits that can be seen.
    fn flush_commits(&self) -> Result<(), SharedError> {
        self.flush().map_err(|error| {
            tracing::error!(%error, cause = ?error, "what was committed is not known to be durable");
            SharedError(Arc::new(StoreError::OutcomeUnknown(Box::new(error))))
        })
    }
}

/// Whoever is told has no say in what the others are told.
fn told(tell: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(tell)).is_err() {
        tracing::error!("somebody panicked who was told that a commit is durable");
    }
}

fn not_flushed(error: io::Error) -> StoreError {
    if is_full(&error) {
        StoreError::Full(error.into())
    } else {
        StoreError::Failed(error.into())
    }
}

#[cfg(test)]
#[path = "flush_tests.rs"]
mod tests;
