//! Where requests wait for a store that has one writer.
//!
//! A thread for each of them would only wait: first for the right to write, then for the commit.
//! So they stand in one line, and one thread at a time takes them to the store one after the other.
//! Several share a commit, which makes them durable at once. While one commit is on its way to the
//! disk, those that come meanwhile are run already.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use workforce_domain::port::{DURABLE_WITHIN, Store, StoreError, Tx, Verdict, WriteQueue};

use crate::blocking_threads::BlockingThreads;
use crate::turn::{Turn, drop_taken};

/// So many share a commit at most.
const TOGETHER: usize = 64;
/// So long after a commit is durable, those that it answered may take to send what comes next.
const RETURN: Duration = Duration::from_millis(1);

/// A write that waits.
pub(crate) trait Job: Send {
    /// Its body; it may be run again after a lost race.
    fn run(&mut self, tx: &mut dyn Tx) -> Result<Verdict, StoreError>;

    /// Told once what became of it, when the commit is durable.
    fn end(self: Box<Self>, outcome: Result<(), StoreError>);
}

/// The line.
#[derive(Default)]
pub(crate) struct WriteLane {
    line: Arc<Line>,
    pub(crate) threads: BlockingThreads,
}

#[derive(Default)]
struct Line {
    state: Mutex<LineState>,
    /// A write came, or writes ended.
    changed: Condvar,
}

#[derive(Default)]
struct LineState {
    jobs: VecDeque<Turn<Box<dyn Job>>>,
    /// Whether a thread takes them to the store now.
    is_served: bool,
    /// How many commits are on their way to the disk.
    under_way: usize,
    /// When the last one was closed.
    closed: Option<Instant>,
    /// When the last one ended.
    ended: Option<Instant>,
    /// How long the last one took that ended, since the one before it had.
    last_commit: Duration,
    /// How many shared it.
    last_shared: usize,
    /// How long running those took.
    last_run: Duration,
}

impl LineState {
    /// Whether two commits for this work are faster than one: what is run while the other one is on
    /// its way to the disk then takes longer than that way.
    fn is_worth_two(&self, work: Duration) -> bool {
        work + RETURN >= self.last_commit
    }

    /// Since when a commit that was closed then has been alone on its way.
    fn alone_since(&self, closed: Instant) -> Instant {
        self.ended.map_or(closed, |ended| ended.max(closed))
    }

    /// For how long what is under way may still be waited for. None when nothing is, and nothing
    /// left when the disk does not answer.
    fn rest_of_way(&self) -> Option<Duration> {
        let closed = self.closed.filter(|_closed| self.under_way > 0)?;
        Some(DURABLE_WITHIN.saturating_sub(self.alone_since(closed).elapsed()))
    }
}

impl WriteLane {
    /// How many wait for their turn.
    pub(crate) fn waiting(&self) -> usize {
        let mut line = self.line.lock();
        drop_taken(&mut line.jobs);
        line.jobs.len()
    }

    /// Has `job` run and told what became of it, unless somebody takes it before. Never waits.
    pub(crate) fn submit(&self, store: &Arc<dyn Store>, job: Turn<Box<dyn Job>>) {
        let mut line = self.line.lock();
        drop_taken(&mut line.jobs);
        line.jobs.push_back(job);
        if line.is_served {
            drop(line);
            self.line.changed.notify_all();
            return;
        }
        line.is_served = true;
        drop(line);
        let (line, store) = (Arc::clone(&self.line), Arc::clone(store));
        let runtime = self.threads.runtime();
        runtime.spawn_blocking(move || serve(&line, &*store));
    }
}

/// Takes jobs to the store until none is left.
fn serve(line: &Arc<Line>, store: &dyn Store) {
    while let Some(first) = line.first() {
        let group = Box::new(Group::of(first, Arc::clone(line)));
        // Whoever waits for a job that is gone with a panic is told so; the line goes on.
        let served = catch_unwind(AssertUnwindSafe(|| store.run_writes(group)));
        if served.is_err() {
            tracing::error!("writes were lost in a panic");
        }
    }
}

impl Line {
    fn lock(&self) -> MutexGuard<'_, LineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something changes.
    fn wait<'a>(&self, line: MutexGuard<'a, LineState>) -> MutexGuard<'a, LineState> {
        let waited = self.changed.wait(line);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something changes, at most so long.
    fn wait_at_most<'a>(
        &self,
        line: MutexGuard<'a, LineState>,
        most: Duration,
    ) -> MutexGuard<'a, LineState> {
        let waited = self.changed.wait_timeout(line, most);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// The first one. While a commit is under way it is waited for: those that are answered then
    /// send more. Without one the line is no longer served.
    fn first(&self) -> Option<Box<dyn Job>> {
        let mut line = self.lock();
        loop {
            if let Some(turn) = line.jobs.pop_front() {
                match turn.take() {
                    Some(first) => return Some(first),
                    None => continue,
                }
            }
            if line.under_way == 0 {
                line.is_served = false;
                return None;
            }
            line = self.wait(line);
        }
    }
}

/// The jobs that share a commit, taken from the line one after the other.
///
/// While the commit before this one is on its way to the disk, this one could not go there, and more
/// are taken, until it is about to arrive. Then the group ends with the line; or while others wait,
/// once as many have run as wait, where two commits are faster than one. So while one half is on its
/// way to the disk and its clients are answered and send what comes next, the other half is run:
/// neither the disk, the writer nor the threads that answer wait for each other. A commit that takes
/// long is shared by all that there are. But none is added behind a disk that does not answer.
struct Group {
    line: Arc<Line>,
    jobs: Vec<Box<dyn Job>>,
    /// Since when the last one runs.
    runs_since: Option<Instant>,
    /// How long those before it ran.
    ran_for: Duration,
    /// When it was decided that none is added any more.
    closed: Option<Instant>,
}

impl Group {
    fn of(first: Box<dyn Job>, line: Arc<Line>) -> Self {
        Self {
            line,
            jobs: vec![first],
            runs_since: None,
            ran_for: Duration::ZERO,
            closed: None,
        }
    }

    /// Takes the next one of the line, or closes the group.
    fn take_next(&mut self) {
        let shared = Arc::clone(&self.line);
        let mut line = shared.lock();
        while self.jobs.len() < TOGETHER {
            let is_enough = match line.rest_of_way() {
                Some(rest) => rest.is_zero(),
                None => {
                    let is_half = self.jobs.len() >= line.jobs.len();
                    is_half && line.is_worth_two(2 * self.ran_for)
                }
            };
            if let Some(turn) = line.jobs.pop_front_if(|_first| !is_enough) {
                let Some(job) = turn.take() else { continue };
                self.jobs.push(job);
                return;
            }
            if !line.jobs.is_empty() {
                break;
            }
            line = match self.waits_for_more(&line) {
                Some(rest) if !rest.is_zero() => shared.wait_at_most(line, rest),
                _no_longer => break,
            };
        }
        let now = Instant::now();
        line.under_way += 1;
        line.closed = Some(now);
        self.closed = Some(now);
    }

    /// How long to wait when the line is empty.
    fn waits_for_more(&self, line: &LineState) -> Option<Duration> {
        let is_worth_two = line.is_worth_two(line.last_run + self.ran_for);
        match line.under_way {
            0 if is_worth_two => None,
            0 => Self::rest_of_return(line),
            // To commit takes a while as well, and is done just when the disk is free.
            1 if is_worth_two => line.closed.and_then(|closed| {
                let alone_for = line.alone_since(closed).elapsed();
                let rest = (line.last_commit * 3 / 4).checked_sub(alone_for)?;
                Some(rest.min(line.rest_of_way()?))
            }),
            // Until one ends.
            _ => line.rest_of_way(),
        }
    }

    /// How long those that were just answered together may still take to send more.
    fn rest_of_return(line: &LineState) -> Option<Duration> {
        let rest = RETURN.checked_sub(line.ended?.elapsed())?;
        (line.last_shared > 1).then_some(rest)
    }
}

impl WriteQueue for Group {
    fn has(&mut self, which: usize) -> bool {
        if let Some(since) = self.runs_since.take() {
            self.ran_for += since.elapsed();
        }
        if which >= self.jobs.len() && self.closed.is_none() {
            self.take_next();
        }
        which < self.jobs.len()
    }

    fn run(&mut self, which: usize, tx: &mut dyn Tx) -> Result<Verdict, StoreError> {
        self.runs_since = Some(Instant::now());
        self.jobs[which].run(tx)
    }

    fn end(mut self: Box<Self>, outcomes: Vec<Result<(), StoreError>>) {
        let jobs = core::mem::take(&mut self.jobs);
        if let Some(closed) = self.closed
            && outcomes.iter().any(Result::is_ok)
        {
            let mut line = self.line.lock();
            line.last_commit = line.alone_since(closed).elapsed();
            line.last_shared = jobs.len();
            line.last_run = self.ran_for;
        }
        // The next commit may go while these are answered.
        drop(self);
        for (job, outcome) in jobs.into_iter().zip(outcomes) {
            job.end(outcome);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.closed.is_some() {
            let mut line = self.line.lock();
            line.under_way -= 1;
            line.ended = Some(Instant::now());
            drop(line);
            self.line.changed.notify_all();
        }
    }
}

#[cfg(test)]
#[path = "write_lane_tests.rs"]
mod tests;
