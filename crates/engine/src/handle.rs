mod governed;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use workforce_domain::id::RunId;
use workforce_domain::port::{
    AdapterCheckFuture, AdapterChecks, AdapterToCheck, EngineSignal, TextScrubber,
};
use workforce_domain::time::Timestamp;

use crate::config::{EngineConfig, Ports};
use crate::live::Halt;
use crate::state::EngineState;
use crate::transactions::{Notifiers, Transactions};
use crate::{
    adapter_check, agenda, disk_watch, dispatcher, housekeeping, log_packing, log_publisher,
    renewal, stuck_issues, tickets,
};

/// The longest grace a run gets when the server stops, whatever its agent's
/// configuration says.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);
/// How long the loops get to end once their work is broken off. One may wait for a store that does
/// not answer.
const LOOPS_GRACE: Duration = Duration::from_secs(2);
/// How long a shutdown waits for the ends of killed runs to be written down.
const SHUTDOWN_BOUND: Duration = Duration::from_secs(30);

/// Makes agents run.
#[derive(Debug)]
pub struct Engine;

impl Engine {
    /// Starts an engine on the current runtime. What a dead predecessor left
    /// is cleared away before the first run starts.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn start(mut config: EngineConfig, ports: Ports) -> EngineHandle {
        // A child has another working directory, and nothing is removed behind a link.
        config.runs_dir = without_links_above(&config.runs_dir);
        // Before the first run starts.
        disk_watch::measure(&config);
        let notifiers = Arc::new(Notifiers::default());
        let store = Transactions {
            instance: config.instance,
            ports,
            notifiers,
        };
        let state = EngineState::new(config, store);
        let loops = TaskTracker::new();
        let closing = &state.closing;
        loops.spawn(kept("agenda", &state, closing, agenda::run));
        loops.spawn(kept("dispatcher", &state, closing, dispatcher::run));
        loops.spawn(kept("housekeeping", &state, closing, housekeeping::run));
        loops.spawn(kept("stuck-issues", &state, closing, stuck_issues::run));
        loops.spawn(kept("log-packing", &state, closing, log_packing::run));
        loops.spawn(kept("tickets", &state, closing, tickets::run_advances));
        loops.spawn(kept("pull-requests", &state, closing, tickets::run_watches));
        loops.spawn(kept("worktrees", &state, closing, tickets::run_upkeep));
        loops.close();
        let renewals = TaskTracker::new();
        let abandoning = &state.abandoning;
        renewals.spawn(kept("renewal", &state, abandoning, renewal::run));
        renewals.spawn(kept("room", &state, abandoning, disk_watch::run));
        renewals.spawn(kept("log-events", &state, abandoning, log_publisher::run));
        renewals.close();
        EngineHandle {
            state,
            loops,
            renewals,
            runtime: Handle::current(),
        }
    }
}

/// Keeps a task of the engine running until `stop` is cancelled, which the
/// task sees for itself.
fn kept<F>(
    name: &'static str,
    state: &Arc<EngineState>,
    stop: &CancellationToken,
    task: impl Fn(Arc<EngineState>) -> F + Send + 'static,
) -> impl Future<Output = ()> + Send + 'static
where
    F: Future<Output = ()> + Send + 'static,
{
    let (supervisor, state) = (state.config.vitals.supervisor.clone(), Arc::clone(state));
    supervisor.keep(name, stop.clone(), move || task(Arc::clone(&state)))
}

/// A started engine. Clones are handles on the same one. It goes on when they
/// are dropped; only [`shutdown`](Self::shutdown) ends it.
#[derive(Clone)]
pub struct EngineHandle {
    state: Arc<EngineState>,
    loops: TaskTracker,
    renewals: TaskTracker,
    runtime: Handle,
}

impl EngineHandle {
    /// Notes a sign of life of a run, such as a call of its API.
    pub fn touch(&self, run: RunId) {
        if let Some(live) = self.state.live.get(run) {
            live.touch();
        }
    }

    /// When the dispatcher last looked for due wakes and the store answered;
    /// `None` before the first time.
    #[must_use]
    pub fn last_tick(&self) -> Option<Timestamp> {
        self.state.last_tick()
    }

    /// Waits until what dead predecessors left is cleared away. Never when the
    /// engine is shut down before.
    pub async fn recovered(&self) {
        self.state.recovered.cancelled().await;
    }

    /// How many runs are live on this server.
    #[must_use]
    pub fn live_runs(&self) -> usize {
        self.state.live.len()
    }

    /// Stops the engine (docs/heartbeats.md#restarts): starts no more runs,
    /// waits for live ones to end, stops those that do not, and queues their
    /// work once more. What is done for tickets is waited for first, and broken off.
    /// Returns when no process is left and every end is written down. After 30 s it
    /// gives up; processes that the kernel does not let go, and ends that the store does
    /// not take, are left to the next start.
    ///
    /// An engine that keeps its runs leaves them to the next start at once.
    pub async fn shutdown(&self) {
        let state = &self.state;
        state.closing.cancel();
        self.end_tickets().await;
        state.runs.close();
        if state.config.keep_runs {
            self.leave_runs().await;
        } else if timeout(state.config.drain, state.runs.wait())
            .await
            .is_err()
        {
            self.stop_runs().await;
        }
        state.abandoning.cancel();
        self.renewals.wait().await;
    }

    /// Waits for what is done for tickets, and breaks it off when it does not end. What
    /// was done is written down, so that nothing is done twice; what was held is given
    /// up, so that no other server waits for it.
    async fn end_tickets(&self) {
        let state = &self.state;
        state.tickets.close();
        let ended = async {
            self.loops.wait().await;
            state.tickets.wait().await;
        };
        if timeout(state.config.tickets.grace, ended).await.is_ok() {
            return;
        }
        tracing::warn!("work for tickets is broken off");
        state.breaking_off.cancel();
        if timeout(LOOPS_GRACE, self.loops.wait()).await.is_err() {
            tracing::warn!("the store does not answer: a write is left to it");
        }
        if timeout(SHUTDOWN_GRACE, state.tickets.wait()).await.is_err() {
            tracing::warn!("an approval is left to be given up after the next start");
        }
    }

    /// Leaves the runs to their guards. One whose program is not executed yet has
    /// none to leave it to, and is queued again.
    async fn leave_runs(&self) {
        let state = &self.state;
        for live in state.live.all() {
            if live.process().is_none() {
                live.halt(Halt::ServerShutdown);
            }
        }
        state.leaving.cancel();
        if timeout(SHUTDOWN_BOUND, state.runs.wait()).await.is_err() {
            tracing::error!("runs that ended just now are left to the next start of the server");
        }
    }

    async fn stop_runs(&self) {
        let state = &self.state;
        for live in state.live.all() {
            live.halt(Halt::ServerShutdown);
        }
        if timeout(SHUTDOWN_GRACE, state.runs.wait()).await.is_ok() {
            return;
        }
        for live in state.live.all() {
            live.kill_now();
        }
        if timeout(SHUTDOWN_BOUND, state.runs.wait()).await.is_err() {
            let left = state.live.len();
            tracing::error!(left, "runs are left to the next start of the server");
        }
    }
}

impl AdapterChecks for EngineHandle {
    fn check(&self, adapter: AdapterToCheck) -> AdapterCheckFuture<'_> {
        Box::pin(adapter_check::admit(&self.state, &self.runtime, adapter))
    }
}

impl EngineSignal for EngineHandle {
    fn nudge(&self) {
        self.state.store.notifiers.nudge();
    }

    fn containment(&self) -> Vec<&'static str> {
        self.state.config.containment.names()
    }

    fn run_is_active(&self, run: RunId) {
        self.touch(run);
    }

    fn scrubber_of(&self, run: RunId) -> Option<Arc<dyn TextScrubber>> {
        let live = self.state.live.get(run)?;
        Some(Arc::new(live.patterns()))
    }

    fn scrubber_of_token(&self, digest: &[u8; 32]) -> Option<Arc<dyn TextScrubber>> {
        let runs = self.state.live.all();
        let live = runs.iter().find(|live| live.has_token(digest))?;
        Some(Arc::new(live.patterns()))
    }

    fn instance_cap(&self) -> i64 {
        self.state.config.instance_cap()
    }

    fn is_dispatching(&self, now: Timestamp) -> bool {
        self.state
            .last_tick()
            .is_some_and(|tick| now.since(tick) <= STALLED_AFTER)
    }

    fn last_tick(&self) -> Option<Timestamp> {
        self.state.last_tick()
    }
}

/// A dispatcher that looked longer ago than this is stalled; it looks every
/// 15 seconds.
const STALLED_AFTER: Duration = Duration::from_secs(30);

/// The absolute path of a folder, without a link on the way to it.
fn without_links_above(folder: &Path) -> PathBuf {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    match (absolute.parent(), absolute.file_name()) {
        (Some(parent), Some(name)) => match parent.canonicalize() {
            Ok(parent) => parent.join(name),
            // It is not there yet.
            Err(_) => absolute,
        },
        _ => absolute,
    }
}
