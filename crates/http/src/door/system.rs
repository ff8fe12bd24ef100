//! How the server is: what its health check and its metrics tell.

use std::sync::Arc;
use std::time::Duration;

use workforce_app::{Context, Failure};
use workforce_domain::instance_figures::InstanceFigures;
use workforce_domain::port::{Connections, Reads};
use workforce_domain::time::Timestamp;

use super::visit::Visit;
use crate::metrics;
use crate::problem::Problem;
use crate::routes::readiness;

/// How the server is.
#[derive(Debug)]
pub struct System {
    /// Why it cannot do its work; `None` when it can.
    pub unready: Option<Problem>,
    /// When the engine last looked for runs to start.
    pub last_look: Option<Timestamp>,
    /// The figures of all companies; `None` when the store does not answer soon.
    pub figures: Option<Arc<InstanceFigures>>,
    /// Runs that may be live at once.
    pub cap: i64,
    /// Open streams of events and logs.
    pub open_streams: usize,
    /// Requests that wait for their turn at the store.
    pub waiting_requests: usize,
    /// The connections to the database, where there is a pool of them.
    pub connections: Option<Connections>,
    /// Whether one file is the database.
    pub is_one_file: bool,
    /// The parts of the server that work by themselves, and how often each was started again.
    pub tasks: Vec<(&'static str, u64)>,
    /// For how long it has run.
    pub uptime: Duration,
    /// Its version.
    pub version: &'static str,
}

impl Visit {
    /// How the server is, for the board.
    ///
    /// # Errors
    /// Who asks may not.
    pub async fn system(&self) -> Result<System, Problem> {
        self.look(|_reads: &mut dyn Reads, ctx: &Context<'_>| {
            ctx.require_board().map_err(Failure::Refused)
        })
        .await?;
        let state = self.state();
        let ports = &state.ports;
        let tasks = state.vitals.supervisor.tasks();
        Ok(System {
            unready: readiness(state).await.err(),
            last_look: ports.engine.last_tick(),
            figures: metrics::figures(state).await,
            cap: ports.engine.instance_cap(),
            open_streams: state.streams().open(),
            waiting_requests: state.store_lane.waiting() + state.write_lane.waiting(),
            connections: ports.store.connections(),
            is_one_file: ports.store.has_one_writer(),
            tasks: tasks
                .into_iter()
                .map(|task| (task.name, task.restarts))
                .collect(),
            uptime: ports.clock.now().since(state.started_at),
            version: env!("CARGO_PKG_VERSION"),
        })
    }
}
