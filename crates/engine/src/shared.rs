use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use workforce_domain::time::Timestamp;

use crate::config::EngineConfig;
use crate::live::LiveRuns;
use crate::transactions::Transactions;

/// What the tasks of an engine share.
pub(crate) struct Core {
    pub(crate) config: EngineConfig,
    pub(crate) store: Transactions,
    pub(crate) live: LiveRuns,
    /// The tasks of live runs.
    pub(crate) runs: TaskTracker,
    /// No run is started any more.
    pub(crate) closing: CancellationToken,
    /// Nothing is tried again any more.
    pub(crate) abandoning: CancellationToken,
    /// What dead predecessors left is cleared away.
    pub(crate) recovered: CancellationToken,
    last_tick: Mutex<Option<Timestamp>>,
}

impl Core {
    pub(crate) fn new(config: EngineConfig, store: Transactions) -> Arc<Self> {
        Arc::new(Self {
            config,
            store,
            live: LiveRuns::default(),
            runs: TaskTracker::new(),
            closing: CancellationToken::new(),
            abandoning: CancellationToken::new(),
            recovered: CancellationToken::new(),
            last_tick: Mutex::default(),
        })
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
