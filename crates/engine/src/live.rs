use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use workforce_domain::actor::{CompanyScope, InstanceScope};
use workforce_domain::id::{CompanyId, RunId};
use workforce_domain::run::{Run, RunErrorCode, RunOutcome};
use workforce_scrub::Patterns;

use workforce_guard::ProcessIdentity;

/// Why a run is made to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// Somebody asked for it, for this reason.
    Requested(RunErrorCode),
    /// Its agent has said how it ended.
    Completed,
    /// The server is being stopped.
    ServerShutdown,
    /// The run is not this server's any more.
    LeaseLost,
}

impl Halt {
    /// Whether it takes the place of the `present` reason. The first one counts, except
    /// that a lost lease replaces any other.
    pub fn replaces(self, present: Option<Self>) -> bool {
        present.is_none() || self == Self::LeaseLost
    }

    /// The reason as a word.
    pub(crate) const fn code(self) -> RunErrorCode {
        match self {
            Self::Requested(reason) => reason,
            // The store says how it ended, whatever stands here.
            Self::Completed => RunErrorCode::CancelRequested,
            Self::ServerShutdown => RunErrorCode::ServerShutdown,
            Self::LeaseLost => RunErrorCode::LeaseExpired,
        }
    }

    /// What a word stands for.
    pub(crate) const fn for_reason(reason: RunErrorCode) -> Self {
        match reason {
            RunErrorCode::ServerShutdown => Self::ServerShutdown,
            RunErrorCode::LeaseExpired => Self::LeaseLost,
            reason => Self::Requested(reason),
        }
    }

    /// How a run ends that is made to stop; `None` for one that is another
    /// server's by now, of which this server tells nothing.
    pub const fn outcome(self) -> Option<RunOutcome> {
        match self {
            Self::Requested(reason) => Some(RunOutcome::Stopped(reason)),
            Self::Completed => Some(RunOutcome::Stopped(self.code())),
            Self::ServerShutdown => Some(RunOutcome::Lost(RunErrorCode::ServerShutdown)),
            Self::LeaseLost => None,
        }
    }
}

/// A run that this server claimed and has not ended yet.
#[derive(Debug)]
pub(crate) struct LiveRun {
    pub(crate) run: RunId,
    /// Whose run it is.
    pub(crate) company: CompanyId,
    /// What it was claimed with.
    pub(crate) fence: i64,
    touched: Notify,
    token_digest: [u8; 32],
    patterns: OnceLock<Patterns>,
    halt: watch::Sender<Option<Halt>>,
    kill: CancellationToken,
    renewed_at: Mutex<Instant>,
    renewed: Notify,
    process: OnceLock<ProcessIdentity>,
    settling: AtomicBool,
}

impl LiveRun {
    /// A run whose lease was taken at `claimed_at` or later.
    pub(crate) fn new(run: &Run, token_digest: [u8; 32], claimed_at: Instant) -> Self {
        Self {
            run: run.id,
            company: run.company,
            fence: run.fence,
            touched: Notify::new(),
            token_digest,
            patterns: OnceLock::new(),
            halt: watch::Sender::new(None),
            kill: CancellationToken::new(),
            renewed_at: Mutex::new(claimed_at),
            renewed: Notify::new(),
            process: OnceLock::new(),
            settling: AtomicBool::new(false),
        }
    }

    /// The scope of its company, as the claim told it.
    pub(crate) const fn scope(&self) -> CompanyScope {
        InstanceScope::SYSTEM.enter(self.company)
    }

    /// Makes the run stop. A lost lease ends the processes at once.
    pub(crate) fn halt(&self, reason: Halt) {
        let is_new = self.halt.send_if_modified(|present| {
            let replaces = reason.replaces(*present);
            if replaces {
                *present = Some(reason);
            }
            replaces
        });
        if is_new {
            tracing::info!(run = %self.run, ?reason, "a run is stopped");
        }
        if reason == Halt::LeaseLost {
            self.kill_now();
        }
    }

    /// Notes that the processes are gone and the end is being written down.
    pub(crate) fn begin_settling(&self) {
        self.settling.store(true, Ordering::Release);
    }

    /// Stops the run, which the store gave to another server. Does nothing once
    /// settling has begun: the end that is being written is what the store shows.
    pub(crate) fn mark_lost(&self) {
        if !self.settling.load(Ordering::Acquire) {
            self.halt(Halt::LeaseLost);
        }
    }

    /// Why the run is to stop, if it is.
    pub(crate) fn halted(&self) -> Option<Halt> {
        *self.halt.borrow()
    }

    /// Tells when the run is to stop.
    pub(crate) fn halts(&self) -> watch::Receiver<Option<Halt>> {
        self.halt.subscribe()
    }

    /// Ends the grace of a run that is being stopped.
    pub(crate) fn kill_now(&self) {
        self.kill.cancel();
    }

    /// Waits until the processes are to go without any grace.
    pub(crate) async fn killed(&self) {
        self.kill.cancelled().await;
    }

    /// Notes that the lease was renewed at `at` or later.
    pub(crate) fn note_renewal(&self, at: Instant) {
        *lock(&self.renewed_at) = at;
        self.renewed.notify_one();
    }

    /// Waits for the next renewal.
    pub(crate) async fn renewed(&self) {
        self.renewed.notified().await;
    }

    /// Notes a sign of life.
    pub(crate) fn touch(&self) {
        self.touched.notify_one();
    }

    /// Waits for the next sign of life.
    pub(crate) async fn touched(&self) {
        self.touched.notified().await;
    }

    /// Since when at least the lease was not renewed.
    pub(crate) fn renewed_at(&self) -> Instant {
        *lock(&self.renewed_at)
    }

    /// Notes what the run must not write.
    pub(crate) fn note_patterns(&self, patterns: Patterns) {
        // A run is prepared once in its life.
        let _ = self.patterns.set(patterns);
    }

    /// What the run must not write; nothing before it is prepared.
    pub(crate) fn patterns(&self) -> Patterns {
        self.patterns.get().cloned().unwrap_or_default()
    }

    /// True for the digest of the run's own token.
    pub(crate) fn has_token(&self, digest: &[u8; 32]) -> bool {
        self.token_digest == *digest
    }

    /// Notes the process of the run.
    pub(crate) fn note_process(&self, process: ProcessIdentity) {
        // A run has one in its life.
        let _ = self.process.set(process);
    }

    /// The process of the run, once there was one.
    pub(crate) fn process(&self) -> Option<ProcessIdentity> {
        self.process.get().copied()
    }
}

/// The runs that are live on this server.
#[derive(Debug, Default)]
pub(crate) struct LiveRuns {
    runs: Mutex<HashMap<RunId, Arc<LiveRun>>>,
}

impl LiveRuns {
    pub(crate) fn insert(&self, run: Arc<LiveRun>) {
        lock(&self.runs).insert(run.run, run);
    }

    pub(crate) fn remove(&self, run: RunId) {
        lock(&self.runs).remove(&run);
    }

    pub(crate) fn get(&self, run: RunId) -> Option<Arc<LiveRun>> {
        lock(&self.runs).get(&run).cloned()
    }

    pub(crate) fn contains(&self, run: RunId) -> bool {
        lock(&self.runs).contains_key(&run)
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.runs).len()
    }

    pub(crate) fn all(&self) -> Vec<Arc<LiveRun>> {
        lock(&self.runs).values().cloned().collect()
    }
}

/// No panic can leave the values under these locks half changed, so poisoning
/// means nothing.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
