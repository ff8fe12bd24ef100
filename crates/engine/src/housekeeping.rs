use std::collections::HashSet;
use std::sync::Arc;

use tokio::time::{Instant, timeout};
use workforce_app::{budgets, timers};
use workforce_domain::actor::InstanceScope;
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::port::{BudgetStop, StoreError};
use workforce_domain::run::{ProcessRecord, Run, RunErrorCode};
use workforce_domain::time::{Month, Timestamp};

use crate::agenda::Reading;
use crate::process_cleanup::{Clearing, kill_leftover_processes, lost_run_end};
use crate::retention::{Retention, is_due};
use crate::run_metering::use_of_lost;
use crate::state::EngineState;
use crate::{run_end, steps};

/// Runs whose lease expired are taken over so many at a time.
const TAKEN_OVER: usize = 50;
/// Budget stops are looked up so many at a time.
const LIFTED: usize = 100;
/// Timers are looked at so many at a time.
const TIMERS: usize = 100;
/// So many wakes that nobody will ever answer are cancelled at a time.
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
    let mut readings = state.readings.follow();
    while !state.closing.is_cancelled() {
        let next = async {
            let rest = housekeeping.retention.due_in();
            timeout(rest, readings.next()).await.ok()
        };
        match state.closing.run_until_cancelled(next).await {
            Some(Some(reading)) => housekeeping.run_due(&state, &reading).await,
            Some(None) => housekeeping.retention.run(&state).await,
            None => return,
        }
    }
}

/// When what was done last.
#[derive(Default)]
struct Housekeeping {
    /// When runs were left whose processes could not be ended.
    left_at: Option<Instant>,
    /// When nothing was known to wait for an agent whose timer rests.
    clear_at: Option<Timestamp>,
    lifted_in: Option<Month>,
    retention: Retention,
}

impl Housekeeping {
    /// Does what is due. Errors are logged. What is left is still due at the next reading.
    async fn run_due(&mut self, state: &EngineState, reading: &Reading) {
        if reading.has_expired_runs() && is_due(self.left_at, state.config.renew_every) {
            let is_done = log_failure(
                "expired runs are not taken over",
                take_over_expired(state).await,
            );
            self.left_at = (is_done == Some(false)).then(Instant::now);
        }
        if !reading.has_timers() {
            self.clear_at = Some(reading.at);
        } else if let Some(clear_at) = log_failure(
            "timers are not looked at",
            check_timers(state, self.clear_at).await,
        ) {
            self.clear_at = clear_at;
        }
        if reading.has_obsolete_wakes() {
            log_failure(
                "obsolete wakes are not cancelled",
                cancel_obsolete_wakes(state).await,
            );
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
    }
}

fn log_failure<T>(what: &'static str, outcome: Result<T, StoreError>) -> Option<T> {
    outcome
        .inspect_err(|error| tracing::error!(%error, cause = ?error, "{what}"))
        .ok()
}

/// Cancels the wakes that nobody will ever answer.
async fn cancel_obsolete_wakes(state: &EngineState) -> Result<(), StoreError> {
    let scope = InstanceScope::SYSTEM;
    let mut is_left = true;
    while is_left && !state.closing.is_cancelled() {
        let cancelled = state
            .store
            .write(move |tx, ctx| {
                Ok(tx
                    .engine_mut()
                    .cancel_obsolete_wakes(scope, ctx.now, OBSOLETE)?)
            })
            .await?;
        // Where there were that many, there are more.
        is_left = cancelled >= OBSOLETE;
    }
    Ok(())
}

/// Wakes the agents whose timer is due, and sets the timers that are to be set. Nothing was known
/// to wait for agents whose timers rest at `clear_at`; until when that is so afterwards.
async fn check_timers(
    state: &EngineState,
    clear_at: Option<Timestamp>,
) -> Result<Option<Timestamp>, StoreError> {
    while !state.closing.is_cancelled() {
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
                .write(move |tx, ctx| timers::check(tx, ctx, company, agent, clear_at))
                .await?;
        }
        // Where there were that many, there are more.
        if agents.len() < TIMERS {
            return Ok(Some(now));
        }
    }
    Ok(clear_at)
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
/// once more. This server's live runs are renewed by their own task. False when some are left
/// whose processes are still there.
async fn take_over_expired(state: &EngineState) -> Result<bool, StoreError> {
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
        return Ok(true);
    }
    let mut is_done = true;
    let processes = processes_elsewhere(state).await?;
    for run in expired {
        let process = processes.iter().find(|process| process.run == run.id);
        if let Some(process) = process
            && kill_leftover_processes(state, process).await? == Clearing::StillThere
        {
            is_done = false;
            continue;
        }
        tracing::warn!(run = %run.id, instance = ?run.instance, "a run lost its server");
        let error = "the server of the run did not renew its lease";
        let end = lost_run_end(state, &run, RunErrorCode::LeaseExpired, error).await;
        let used = use_of_lost(state, run.company, run.id).await;
        let written = state
            .store
            .write(move |tx, ctx| {
                let (end, used) = (end.clone(), used.as_ref());
                steps::take_over(tx, ctx, &run, end, used)
            })
            .await?;
        run_end::count(state, written);
    }
    Ok(is_done)
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
