//! Where requests wait for a store that has one writer.
//!
//! A thread for each of them would only wait: first for the right to write, then for the commit.
//! So they stand in one line, and one thread at a time takes all that stand there to the store
//! together, which runs them one after the other and makes them durable at once.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::runtime::Handle;
use workforce_domain::port::{Store, StoreError, Tx, Verdict, WriteQueue};

/// So many are taken to the store at once.
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
    threads: OnceLock<Handle>,
}

#[derive(Default)]
struct Line {
    jobs: VecDeque<Box<dyn Job>>,
    /// Whether a thread takes them to the store now.
    is_served: bool,
}

impl WriteLane {
    /// Uses the blocking threads of this runtime from now on. The first one told counts.
    pub(crate) fn run_on(&self, threads: Handle) {
        self.threads.get_or_init(|| threads);
    }

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
        let threads = self.threads.get().cloned();
        let threads = threads.unwrap_or_else(Handle::current);
        threads.spawn_blocking(move || serve(&line, &*store));
    }
}

/// Takes jobs to the store until none is left.
fn serve(line: &Mutex<Line>, store: &dyn Store) {
    loop {
        let mut taken = Taken {
            line,
            jobs: Vec::new(),
        };
        let mut waiting = lock(line);
        if waiting.jobs.is_empty() {
            waiting.is_served = false;
            return;
        }
        taken.take_from(&mut waiting);
        drop(waiting);
        // Whoever waits for a job that is gone with a panic is told so; the line goes on.
        let served = catch_unwind(AssertUnwindSafe(|| taken.run_in(store)));
        if served.is_err() {
            tracing::error!("writes were lost in a panic");
        }
    }
}

/// The jobs that are taken to the store together, those included that join the line meanwhile:
/// they have part in a commit that is still to come.
struct Taken<'a> {
    line: &'a Mutex<Line>,
    jobs: Vec<Box<dyn Job>>,
}

impl Taken<'_> {
    /// Takes as many as there is room for.
    fn take_from(&mut self, line: &mut Line) {
        let count = line.jobs.len().min(TOGETHER - self.jobs.len());
        self.jobs.extend(line.jobs.drain(..count));
    }

    fn run_in(mut self, store: &dyn Store) {
        let outcomes = store.run_writes(&mut self);
        for (job, outcome) in self.jobs.into_iter().zip(outcomes) {
            job.end(outcome);
        }
    }
}

impl WriteQueue for Taken<'_> {
    fn count(&mut self) -> usize {
        let line = self.line;
        self.take_from(&mut lock(line));
        self.jobs.len()
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
