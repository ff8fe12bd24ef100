//! Where requests wait for a store that has one writer.
//!
//! A thread for each of them would only wait: first for the right to write, then for the commit.
//! So they stand in one line, and one thread at a time takes them to the store one after the other.
//! Several share a commit, which makes them durable at once.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use workforce_domain::port::{Store, StoreError, Tx, Verdict, WriteQueue};

use crate::blocking_threads::BlockingThreads;

/// So many share a commit at most.
const TOGETHER: usize = 64;

/// A write that waits.
pub(crate) trait Job: Send {
    /// Its body; it may be run again after a lost race.
    fn run(&mut self, tx: &mut dyn Tx) -> Result<Verdict, StoreError>;

    /// Told once what became of it, after the commit.
    fn end(self: Box<Self>, outcome: Result<(), StoreError>);
}

/// The line.
#[derive(Default)]
pub(crate) struct WriteLane {
    line: Arc<Mutex<Line>>,
    pub(crate) threads: BlockingThreads,
}

#[derive(Default)]
struct Line {
    jobs: VecDeque<Box<dyn Job>>,
    /// Whether a thread takes them to the store now.
    is_served: bool,
    /// How long the store took after the last body that it ran, when it last committed.
    last_commit: Duration,
}

impl WriteLane {
    /// Has `job` run and told what became of it. Never waits.
    pub(crate) fn submit(&self, store: &Arc<dyn Store>, job: Box<dyn Job>) {
        let mut line = lock(&self.line);
        line.jobs.push_back(job);
        if line.is_served {
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
fn serve(line: &Mutex<Line>, store: &dyn Store) {
    loop {
        let mut waiting = lock(line);
        let Some(first) = waiting.jobs.pop_front() else {
            waiting.is_served = false;
            return;
        };
        let taken = Taken {
            line,
            jobs: vec![first],
            began: None,
            last_commit: waiting.last_commit,
            closed: None,
        };
        drop(waiting);
        // Whoever waits for a job that is gone with a panic is told so; the line goes on.
        let served = catch_unwind(AssertUnwindSafe(|| taken.run_in(store)));
        if served.is_err() {
            tracing::error!("writes were lost in a panic");
        }
    }
}

/// The jobs that share a commit, taken from the line one after the other.
///
/// It ends while others wait, once twice as many have run as wait and running them took as long as
/// the last commit did. Then the clients of these are answered, and send what comes next, while
/// the others are written: neither the writer nor the threads that answer wait for each other.
/// A commit that takes long is shared by more, up to all that there are.
struct Taken<'a> {
    line: &'a Mutex<Line>,
    jobs: Vec<Box<dyn Job>>,
    /// Since when the store runs them: before, it may have waited for its writer.
    began: Option<Instant>,
    last_commit: Duration,
    /// Since when none is added any more.
    closed: Option<Instant>,
}

impl Taken<'_> {
    /// Takes the first one of the line, unless it is empty or these are enough.
    fn take_from(&mut self, line: &mut Line) {
        let ran_for = self.began.map_or(Duration::ZERO, |began| began.elapsed());
        let is_enough = self.jobs.len() >= TOGETHER
            || (self.jobs.len() >= 2 * line.jobs.len() && ran_for >= self.last_commit);
        match line.jobs.pop_front_if(|_first| !is_enough) {
            Some(job) => self.jobs.push(job),
            None => self.closed = Some(Instant::now()),
        }
    }

    fn run_in(mut self, store: &dyn Store) {
        let outcomes = store.run_writes(&mut self);
        if let Some(closed) = self.closed
            && outcomes.iter().any(Result::is_ok)
        {
            lock(self.line).last_commit = closed.elapsed();
        }
        for (job, outcome) in self.jobs.into_iter().zip(outcomes) {
            job.end(outcome);
        }
    }
}

impl WriteQueue for Taken<'_> {
    fn has(&mut self, which: usize) -> bool {
        self.began.get_or_insert_with(Instant::now);
        if which >= self.jobs.len() && self.closed.is_none() {
            let line = self.line;
            self.take_from(&mut lock(line));
        }
        which < self.jobs.len()
    }

    fn run(&mut self, which: usize, tx: &mut dyn Tx) -> Result<Verdict, StoreError> {
        self.jobs[which].run(tx)
    }
}

fn lock(line: &Mutex<Line>) -> MutexGuard<'_, Line> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "write_lane_tests.rs"]
mod tests;
