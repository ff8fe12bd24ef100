//! Where requests wait for the store: reads of one that lies in this process, and writes to one
//! that has more than one writer.
//!
//! Such a read is work for a processor, so more threads than there are processors make no read
//! faster: each slows the others down, and brings another connection whose cache has to be filled.
//! Writes of one company wait for each other in the database, and each that waits there is woken
//! and put to sleep again and again. So requests stand in one line, and few threads take them one
//! after the other, each for as long as there are any. When none of these threads comes back for a
//! while, because what they do is long or the database is far away, another one is added: nothing
//! quick waits for all that is slow.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use crate::blocking_threads::BlockingThreads;
use crate::problem::Problem;
use crate::turn::{PATIENCE, Turn, Work, drop_taken};

/// A request that takes longer is slow, and has a thread added when others wait.
const SLOW: Duration = Duration::from_millis(5);

/// So often, and for so long, a thread that finds the line empty lets others go first before it
/// leaves. The next request often comes just then, and to wake a thread takes longer than many
/// reads do. Where nobody else wants the processor, all of it takes some microseconds. Where others
/// hold the processor, the first time is the last.
const TURNS: u32 = 20;
const LINGERS: Duration = Duration::from_millis(1);

/// How many threads take requests to the store.
#[derive(Clone, Copy)]
pub(crate) struct Threads {
    /// While none is slow.
    pub(crate) usual: usize,
    /// With one more for each that is slow.
    pub(crate) most: usize,
}

/// The line.
#[derive(Default)]
pub(crate) struct StoreLane {
    line: Arc<Mutex<Line>>,
    threads: BlockingThreads,
}

struct Line {
    jobs: VecDeque<Turn<Work>>,
    /// Since when each request runs that was taken.
    running: Vec<Instant>,
    /// Threads that take them now.
    serving: usize,
    threads: Threads,
    /// Whether somebody looks that the line moves on.
    is_watched: bool,
}

impl Default for Line {
    fn default() -> Self {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Self::served_by(Threads {
            usual: processors,
            most: processors,
        })
    }
}

impl StoreLane {
    /// Uses so many of the blocking threads of this runtime from now on. The first runtime told
    /// counts.
    pub(crate) fn run_on(&self, runtime: Handle, threads: Threads) {
        self.threads.run_on(runtime);
        lock(&self.line).threads = threads;
    }

    /// What `read` finds, when its turn has come, unless nobody waits for it any more.
    ///
    /// # Errors
    /// `busy` when its turn does not come in time; when it panicked.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let (turn, found) = Turn::of_work(read);
        self.submit(turn.clone());
        turn.outcome(PATIENCE, Duration::ZERO, found).await
    }

    /// What becomes of `write`, when its turn has come. It is run even when whoever sent it has
    /// left.
    ///
    /// # Errors
    /// `busy` when its turn does not come within `patience`; when it panicked.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        patience: Duration,
        write: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let (turn, written) = Turn::of_work(write);
        self.submit(turn.clone());
        turn.outcome(patience, patience, written).await
    }

    /// How many wait for their turn.
    pub(crate) fn waiting(&self) -> usize {
        let mut line = lock(&self.line);
        drop_taken(&mut line.jobs);
        line.jobs.len()
    }

    /// Puts it at the end of the line.
    fn submit(&self, turn: Turn<Work>) {
        let mut line = lock(&self.line);
        drop_taken(&mut line.jobs);
        line.jobs.push_back(turn);
        let is_served = line.serving >= line.allowed();
        if is_served && line.is_watched {
            return;
        }
        line.serving += usize::from(!is_served);
        line.is_watched |= is_served;
        drop(line);
        let line = Arc::clone(&self.line);
        let runtime = self.threads.runtime();
        if is_served {
            runtime.spawn(watch(line, runtime.clone()));
        } else {
            runtime.spawn_blocking(move || serve(&line));
        }
    }
}

/// Adds a thread for each slow request while others wait.
async fn watch(line: Arc<Mutex<Line>>, runtime: Handle) {
    loop {
        tokio::time::sleep(SLOW).await;
        let mut now = lock(&line);
        if now.jobs.is_empty() {
            now.is_watched = false;
            return;
        }
        if now.serving < now.allowed() {
            now.serving += 1;
            let line = Arc::clone(&line);
            runtime.spawn_blocking(move || serve(&line));
        }
    }
}

/// Takes jobs until none is left, or enough other threads do.
fn serve(line: &Mutex<Line>) {
    let mut ended = None;
    let mut turns = 0;
    let mut last_job = Instant::now();
    loop {
        let mut waiting = lock(line);
        waiting.end(ended.take());
        if waiting.jobs.is_empty() && turns < TURNS && last_job.elapsed() < LINGERS {
            drop(waiting);
            turns += 1;
            thread::yield_now();
            continue;
        }
        let is_enough = waiting.serving > waiting.allowed();
        let Some(turn) = waiting.jobs.pop_front_if(|_first| !is_enough) else {
            waiting.serving -= 1;
            return;
        };
        let Some(job) = turn.take() else { continue };
        let began = Instant::now();
        waiting.running.push(began);
        drop(waiting);
        // Whoever waits for a job that is gone with a panic is told so; the line goes on.
        if catch_unwind(AssertUnwindSafe(job)).is_err() {
            tracing::error!("a request was lost in a panic");
        }
        ended = Some(began);
        (turns, last_job) = (0, Instant::now());
    }
}

impl Line {
    /// One that so many threads serve.
    const fn served_by(threads: Threads) -> Self {
        Self {
            jobs: VecDeque::new(),
            running: Vec::new(),
            serving: 0,
            threads,
            is_watched: false,
        }
    }

    /// So many threads may serve: the usual ones, and one more for each slow request.
    fn allowed(&self) -> usize {
        let now = Instant::now();
        let is_slow = |began: &&Instant| now.duration_since(**began) > SLOW;
        let slow = self.running.iter().filter(is_slow).count();
        (self.threads.usual + slow).min(self.threads.most)
    }

    /// A request that began then has ended.
    fn end(&mut self, began: Option<Instant>) {
        let place = self.running.iter().position(|at| Some(*at) == began);
        if let Some(place) = place {
            self.running.swap_remove(place);
        }
    }
}

fn lock(line: &Mutex<Line>) -> MutexGuard<'_, Line> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "store_lane_tests.rs"]
mod tests;
