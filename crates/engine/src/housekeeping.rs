use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use workforce_app::{budgets, timers};
use workforce_domain::actor::InstanceScope;
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::port::{BudgetStop, StoreError};
use workforce_domain::run::{ProcessRecord, Run, RunErrorCode};
use workforce_domain::time::Month;

use crate::process_cleanup::{Clearing, kill_leftover_processes, lost_run_end};
use crate::retention::{Retention, is_due};
use crate::run_metering::use_of_lost;
use crate::state::EngineState;
use crate::steps;

/// Runs whose lease expired are taken over so many at a time.
const TAKEN_OVER: usize = 50;
/// Budget stops are looked up so many at a time.
const LIFTED: usize = 100;
/// Timers are looked at so often: none beats more than every 30 s.
const TIMERS_EVERY: Duration = Duration::from_secs(1);
/// And so many at a time.
const TIMERS: usize = 100;
/// How often wakes that nobody will ever answer are looked for. They start
/// nothing meanwhile.
const OBSOLETE_EVERY: Duration = Duration::from_secs(1);
/// So many of them are cancelled at a time.
const OBSOLETE: usize = 100;

/// Does the recurring work beside starting runs. Begins when the runs of dead
/// servers are cleared away, and ends when the engine closes. It is a task of
/// its own, so that nothing here keeps runs from starting.
pub(crate) async fn run(state: Arc<EngineState>) {
    if state
        .closing
        .run_until_cancelled(state.recovered.cancelled())
        .await
        .is_none()
    {
        return;
    }
    let mut housekeeping = Housekeeping::default();
    while !state.closing.is_cancelled() {
        housekeeping.run_due(&state).await;
        state
            .closing
            .run_until_cancelled(sleep(state.config.poll_every))
            .await;
    }
}

/// When what was done last.
#[derive(Default)]
struct Housekeeping {
    took_over_at: Option<Instant>,
    timed_at: Option<Instant>,
    swept_at: Option<Instant>,
    lifted_in: Option<Month>,
    retention: Retention,
}

impl Housekeeping {
    /// Does what is due. Errors are logged; the next turn tries again.
    async fn run_due(&mut self, state: &EngineState) {
        if is_due(self.took_over_at, state.config.renew_every) {
            self.took_over_at = Some(Instant::now());
            log_failure(
                "expired runs are not taken over",
                take_over_expired(state).await,
            );
        }
        if is_due(self.timed_at, TIMERS_EVERY) {
            let found = log_failure("timers are not looked at", check_timers(state).await);
            // Where there were that many, there are more.
            if found.is_none_or(|found| found < TIMERS) {
                self.timed_at = Some(Instant::now());
            }
        }
        if is_due(self.swept_at, OBSOLETE_EVERY) {
            let found = log_failure(
                "obsolete wakes are not cancelled",
                cancel_obsolete_wakes(state).await,
            );
            // Where there were that many, there are more.
            if found.is_none_or(|found| found < OBSOLETE) {
                self.swept_at = Some(Instant::now());
            }
        }
        let month = Month::of(state.store.ports.clock.now());
        if self.lifted_in != Some(month)
            && log_failure(
                "budget stops are not lifted",
                lift_budget_stops(state, month).await,
            )
            .is_some()
        {
            self.lifted_in = Some(month);
        }
        self.retention.run(state).await;
    }
}

fn log_failure<T>(what: &'static str, outcome: Result<T, StoreError>) -> Option<T> {
    outcome
        .inspect_err(|error| tracing::error!(%error, cause = ?error, "{what}"))
        .ok()
}

/// Cancels wakes that nobody will ever answer. Returns how many it cancelled.
async fn cancel_obsolete_wakes(state: &EngineState) -> Result<usize, StoreError> {
    let scope = InstanceScope::SYSTEM;
    if !state
        .store
        .read(move |reads| reads.engine().has_obsolete_wakes(scope))
        .await?
    {
        return Ok(0);
    }
    state
        .store
        .write(move |tx, ctx| {
            Ok(tx
                .engine_mut()
                .cancel_obsolete_wakes(scope, ctx.now, OBSOLETE)?)
        })
        .await
}

/// Wakes the agents whose timer is due. Returns how many timers it checked.
async fn check_timers(state: &EngineState) -> Result<usize, StoreError> {
    let now = state.store.ports.clock.now();
    let agents = state
        .store
        .read(move |reads| {
            reads
                .engine()
                .timers_to_check(InstanceScope::SYSTEM, now, TIMERS)
        })
        .await?;
    for (company, agent) in &agents {
        let (company, agent) = (*company, *agent);
        state
            .store
            .write(move |tx, ctx| timers::check(tx, ctx, company, agent))
            .await?;
    }
    Ok(agents.len())
}

/// Lifts the budget stops whose budget is not used up in this month.
async fn lift_budget_stops(state: &EngineState, month: Month) -> Result<(), StoreError> {
    let mut seen: HashSet<(CompanyId, Option<AgentId>)> = HashSet::new();
    while !state.closing.is_cancelled() {
        let stops = state
            .store
            .read(move |reads| {
                reads
                    .engine()
                    .budget_stops_to_lift(InstanceScope::SYSTEM, month, LIFTED)
            })
            .await?;
        let is_new = |stop: &BudgetStop| seen.insert((stop.company.company(), stop.agent));
        let new: Vec<BudgetStop> = stops.into_iter().filter(is_new).collect();
        if new.is_empty() {
            break;
        }
        for stop in new {
            state
                .store
                .write(move |tx, ctx| budgets::lift(tx, ctx, stop, month))
                .await?;
        }
    }
    Ok(())
}

/// Ends the runs whose server did not renew their lease, and queues their work
/// once more. This server's live runs are renewed by their own task.
async fn take_over_expired(state: &EngineState) -> Result<(), StoreError> {
    let now = state.store.ports.clock.now();
    let expired = state
        .store
        .read(move |reads| {
            reads
                .engine()
                .expired(InstanceScope::SYSTEM, now, TAKEN_OVER)
        })
        .await?;
    let expired: Vec<Run> = expired
        .into_iter()
        .filter(|run| !state.live.contains(run.id))
        .collect();
    if expired.is_empty() {
        return Ok(());
    }
    let processes = processes_elsewhere(state).await?;
    for run in expired {
        let process = processes.iter().find(|process| process.run == run.id);
        if let Some(process) = process
            && kill_leftover_processes(state, process).await? == Clearing::StillThere
        {
            continue;
        }
        tracing::warn!(run = %run.id, instance = ?run.instance, "a run lost its server");
        let error = "the server of the run did not renew its lease";
        let end = lost_run_end(state, &run, RunErrorCode::LeaseExpired, error).await;
        let used = use_of_lost(state, run.company, run.id).await;
        state
            .store
            .write(move |tx, ctx| {
                let (end, used) = (end.clone(), used.as_ref());
                steps::take_over(tx, ctx, &run, end, used)
            })
            .await?;
    }
    Ok(())
}

/// The processes that other instances recorded.
pub(crate) async fn processes_elsewhere(
    state: &EngineState,
) -> Result<Vec<ProcessRecord>, StoreError> {
    let instance = state.config.instance;
    state
        .store
        .read(move |reads| {
            reads
                .engine()
                .processes_elsewhere(InstanceScope::SYSTEM, instance)
        })
        .await
}
