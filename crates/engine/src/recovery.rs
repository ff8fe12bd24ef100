use std::time::Duration;

use workforce_app::runs;
use workforce_domain::actor::{CompanyOwned, InstanceScope};
use workforce_domain::port::StoreError;
use workforce_domain::run::{ProcessRecord, Run, RunErrorCode};

use crate::housekeeping::{has_server, processes_elsewhere};
use crate::instructions;
use crate::process_cleanup::{Clearing, delete_process, kill_leftover_processes, lost_run_end};
use crate::state::EngineState;

/// How long after the end of its run the record of a process on another host is
/// forgotten.
const RECORD_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Clears away what servers that are gone left behind, before the first run
/// starts (docs/heartbeats.md#restarts). May be done again after a
/// failure.
pub(crate) async fn recover(state: &EngineState) -> Result<(), StoreError> {
    for process in processes_elsewhere(state).await? {
        if state.config.is_predecessor(process.instance) {
            kill_leftover_processes(state, &process).await?;
        } else {
            clear_shared(state, &process).await?;
        }
    }
    end_left_runs(state).await?;
    instructions::clear_left(state).await
}

/// On a shared store the server of another record may well be alive, here or
/// elsewhere. Its process is killed only when the run has ended, or its lease
/// has expired.
async fn clear_shared(state: &EngineState, process: &ProcessRecord) -> Result<(), StoreError> {
    let (company, run) = (process.scope(), process.run);
    let found = state
        .store
        .read(move |reads| reads.runs().find(company.into(), run))
        .await?;
    let now = state.store.ports.clock.now();
    let Some(run) = found.filter(|run| !has_server(run, now)) else {
        return Ok(());
    };
    let is_old = run.finished_at.is_some_and(|at| now.since(at) > RECORD_AGE);
    if kill_leftover_processes(state, process).await? == Clearing::NotHere && is_old {
        delete_process(state, company, run.id).await?;
    }
    Ok(())
}

/// Ends the live runs of dead predecessors. On a store that only one server uses,
/// these are all live runs. A run whose processes cannot be killed keeps its place
/// until its lease has expired and the processes are gone.
async fn end_left_runs(state: &EngineState) -> Result<(), StoreError> {
    let still_there = processes_elsewhere(state).await?;
    let instance = state.config.instance;
    let left = state
        .store
        .read(move |reads| {
            reads
                .engine()
                .running_elsewhere(InstanceScope::SYSTEM, instance)
        })
        .await?;
    let is_left = |run: &Run| {
        run.instance
            .is_some_and(|instance| state.config.is_predecessor(instance))
    };
    for run in left.into_iter().filter(is_left) {
        if still_there.iter().any(|process| process.run == run.id) {
            continue;
        }
        tracing::warn!(run = %run.id, "a run was lost with its server");
        let end = lost_run_end(
            state,
            &run,
            RunErrorCode::ProcessLost,
            "its server ended before it",
        )
        .await;
        state
            .store
            .write(move |tx, ctx| {
                runs::finish(tx, ctx, run.scope(), run.id, run.fence, end.clone())
            })
            .await?;
    }
    Ok(())
}
