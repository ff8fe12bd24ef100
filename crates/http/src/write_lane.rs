//! Where requests wait for a store that has one writer.
//!
//! A thread for each of them would only wait: first for the right to write, then for the commit.
//! So they stand in one line, and one thread at a time takes all that stand there to the store
//! together, which runs them one after the other and makes them durable at once.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::runtime::Handle;
use workforce_domain::port::{Store, StoreError, Tx, Verdict, WriteBody};

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
        let mut waiting = lock(line);
        let count = waiting.jobs.len().min(TOGETHER);
        let jobs: Vec<_> = waiting.jobs.drain(..count).collect();
        if jobs.is_empty() {
            waiting.is_served = false;
            return;
        }
        drop(waiting);
        // Whoever waits for a job that is gone with a panic is told so; the line goes on.
        let served = catch_unwind(AssertUnwindSafe(|| run_together(store, jobs)));
        if served.is_err() {
            tracing::error!("writes were lost in a panic");
        }
    }
}

fn run_together(store: &dyn Store, mut jobs: Vec<Box<dyn Job>>) {
    let outcomes = {
        let mut bodies: Vec<_> = jobs
            .iter_mut()
            .map(|job| |tx: &mut dyn Tx| job.run(tx))
            .collect();
        let mut bodies: Vec<&mut WriteBody<'_>> = bodies
            .iter_mut()
            .map(|body| body as &mut WriteBody<'_>)
            .collect();
        store.run_writes(&mut bodies)
    };
    for (job, outcome) in jobs.into_iter().zip(outcomes) {
        job.end(outcome);
    }
}

fn lock(line: &Mutex<Line>) -> MutexGuard<'_, Line> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "write_lane_tests.rs"]
mod tests;
