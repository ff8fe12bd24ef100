use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use workforce_app::approvals::execution;
use workforce_domain::time::Timestamp;
use workforce_git::{Git, GitError};
use workforce_vitals::{StorageArea, is_full};

use crate::adapter_check::CHECKS_AT_ONCE;
use crate::agenda::{LOOK_PAUSE, Readings};
use crate::config::EngineConfig;
use crate::live::LiveRuns;
use crate::tickets::{LazyGit, TakenMessages};
use crate::transactions::Transactions;

/// What the tasks of an engine share.
pub(crate) struct EngineState {
    pub(crate) config: EngineConfig,
    pub(crate) store: Transactions,
    /// When this engine began.
    pub(crate) started: Timestamp,
    pub(crate) live: LiveRuns,
    /// The tasks of live runs.
    pub(crate) runs: TaskTracker,
    /// Cancelled when no more runs are started.
    pub(crate) closing: CancellationToken,
    /// Cancelled when work for tickets is broken off, and what it held is given up.
    pub(crate) breaking_off: CancellationToken,
    /// Cancelled when live runs are left to the next start.
    pub(crate) leaving: CancellationToken,
    /// Cancelled when nothing is tried again.
    pub(crate) abandoning: CancellationToken,
    /// Cancelled when the runs that dead predecessors left are cleared away.
    pub(crate) recovered: CancellationToken,
    /// A permit for each check of an adapter that may go on.
    pub(crate) checks: Arc<Semaphore>,
    /// The tasks that carry out approvals.
    pub(crate) tickets: TaskTracker,
    /// The messages of forges that were taken.
    pub(crate) taken_messages: TakenMessages,
    /// What there is to do.
    pub(crate) readings: Readings,
    git: LazyGit,
    last_tick: Mutex<Option<Timestamp>>,
}

impl EngineState {
    pub(crate) fn new(config: EngineConfig, store: Transactions) -> Arc<Self> {
        Arc::new(Self {
            config,
            started: store.ports.clock.now(),
            store,
            live: LiveRuns::default(),
            runs: TaskTracker::new(),
            closing: CancellationToken::new(),
            breaking_off: CancellationToken::new(),
            leaving: CancellationToken::new(),
            abandoning: CancellationToken::new(),
            recovered: CancellationToken::new(),
            checks: Arc::new(Semaphore::new(CHECKS_AT_ONCE)),
            tickets: TaskTracker::new(),
            taken_messages: TakenMessages::default(),
            readings: Readings::default(),
            git: LazyGit::default(),
            last_tick: Mutex::default(),
        })
    }

    /// git, for governed tickets.
    ///
    /// # Errors
    /// There is none that can be used.
    pub(crate) async fn git(&self) -> Result<&Git, GitError> {
        self.git.get(&self.config.tickets).await
    }

    /// However much there is to do, it is looked for no more often.
    pub(crate) fn look_pause(&self) -> Duration {
        LOOK_PAUSE.min(self.config.poll_every)
    }

    /// Attempts to carry out an approval are given up whose lease ended before that.
    pub(crate) fn attempts_before(&self, now: Timestamp) -> Timestamp {
        match self.config.exclusive_store {
            // What gave its last sign of life before this server began was a server's that is
            // gone.
            true => now.max(self.started.plus(execution::LEASE)),
            false => now,
        }
    }

    /// Whether there is room for what runs write.
    pub(crate) fn has_room(&self) -> bool {
        self.config.vitals.disk_space.shortage().is_none()
    }

    /// Notes a failure to write a file of a run, if it is for lack of room, and
    /// says so: then no further run starts for now.
    pub(crate) fn note_unwritten(&self, error: &std::io::Error) -> bool {
        let lacks_room = is_full(error);
        if lacks_room {
            self.config.vitals.disk_space.note_full(StorageArea::Data);
        }
        lacks_room
    }

    /// Notes that the dispatcher has looked for due wakes.
    pub(crate) fn tick(&self) {
        let now = self.store.ports.clock.now();
        *self
            .last_tick
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(now);
    }

    pub(crate) fn last_tick(&self) -> Option<Timestamp> {
        *self
            .last_tick
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
