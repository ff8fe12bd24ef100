use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use workforce_app::runs;
use workforce_domain::actor::{CompanyOwned, InstanceScope};
use workforce_domain::port::{Failure, StoreError};
use workforce_domain::run::{Completion, ProcessRecord, Run, RunErrorCode};
use workforce_guard::client::{self, Found, Guard};
use workforce_guard::{Description, RunReport};
use workforce_scrub::Patterns;

use crate::housekeeping::processes_elsewhere;
use crate::live::{Halt, LiveRun};
use crate::process_cleanup::{
    Clearing, delete_process, identity_of, kill_leftover_processes, lost_run_end,
};
use crate::program_run::RunMemo;
use crate::run_metering::use_of_lost;
use crate::state::EngineState;
use crate::steps::{EndedRun, has_server};
use crate::{instructions, run_end, run_task, run_verdict, tickets};

/// How long after the end of its run the record of a process on another host is
/// forgotten.
const RECORD_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Clears away what servers that are gone left behind, before the first run
/// starts (docs/heartbeats.md#restarts). May be done again after a
/// failure.
pub(crate) async fn recover(state: &Arc<EngineState>) -> Result<(), StoreError> {
    for process in processes_elsewhere(state).await? {
        if state.config.is_predecessor(process.instance) {
            take_up(state, &process).await?;
        } else {
            clear_shared(state, &process).await?;
        }
    }
    end_left_runs(state).await?;
    tickets::give_up_left(state).await?;
    instructions::clear_left(state).await
}

/// Takes the run of a predecessor up again, if its guard is there, or writes down
/// how it ended meanwhile. Clears away whatever else is left of it.
async fn take_up(state: &Arc<EngineState>, process: &ProcessRecord) -> Result<(), StoreError> {
    let (company, run) = (process.scope(), process.run);
    let (found, completion) = state
        .store
        .read(move |reads| {
            let found = reads.runs().find(company.into(), run)?;
            Ok((found, reads.runs().completion(company, run)?))
        })
        .await?;
    if let Some(run) = found {
        let files = state.config.guard_files(run.company, run.id);
        match client::find(&files, run.id, run.fence).await {
            Found::Alive(guard, description)
                if run.status.is_live()
                    && description.identity == identity_of(process)
                    && adopt(state, process, &run).await? =>
            {
                let is_completed = matches!(completion, Some(Completion::Reported(..)));
                go_on(state, &run, is_completed, guard, &description);
                return Ok(());
            }
            Found::Ended(report) => return write_end(state, &run, *report).await,
            Found::Alive(..) | Found::Gone => {}
        }
    }
    if state.config.predecessors.contains(&process.instance) {
        kill_leftover_processes(state, process).await?;
        return Ok(());
    }
    // The store is a copy, or was moved here: the process is of the original, whose server may be
    // at work.
    tracing::warn!(run = %run, "a run of another data folder is lost; its processes are left alone");
    delete_process(state, company, run).await
}

/// Makes a run this server's; false when it has ended or is another one's.
async fn adopt(
    state: &EngineState,
    process: &ProcessRecord,
    run: &Run,
) -> Result<bool, StoreError> {
    let (company, fence, process) = (run.scope(), run.fence, *process);
    let (instance, lease) = (state.config.instance, state.config.lease);
    state
        .store
        .write(move |tx, ctx| {
            let until = ctx.now.plus(lease);
            Ok::<_, Failure<_>>(
                tx.engine_mut()
                    .take_up(company, &process, fence, instance, until)?,
            )
        })
        .await
}

fn go_on(
    state: &Arc<EngineState>,
    run: &Run,
    is_completed: bool,
    guard: Guard,
    description: &Description,
) {
    tracing::info!(run = %run.id, agent = %run.agent, "a run goes on under this server");
    let token = run.token_digest.unwrap_or_default();
    let live = Arc::new(LiveRun::new(run, token, Instant::now()));
    live.note_process(description.identity);
    live.note_patterns(Patterns::of(description.secrets.iter().map(String::as_str)));
    // The guard hears of the lease that was taken.
    live.note_renewal(Instant::now());
    if let Some(reason) = run.stop_reason {
        live.halt(Halt::Requested(reason));
    } else if is_completed {
        live.halt(Halt::Completed);
    }
    let slot = run_task::Slot::take(state, &live);
    let memo = RunMemo::of(description.memo.clone());
    state.runs.spawn(run_task::resume(slot, guard, memo));
}

/// Writes down how a run ended while it had no server.
async fn write_end(state: &EngineState, run: &Run, report: RunReport) -> Result<(), StoreError> {
    let ending = run_verdict::result_of(report, None, state.store.ports.clock.now());
    tracing::info!(run = %run.id, end = ?ending.end, "a run ended without a server");
    let ended = EndedRun {
        company: run.scope(),
        run: run.id,
        fence: run.fence,
        had_process: true,
    };
    run_end::write(state, ended, ending.end, ending.program).await?;
    instructions::remove(state, run.company, run.id).await;
    Ok(())
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
        let used = use_of_lost(state, run.company, run.id).await;
        let written = state
            .store
            .write(move |tx, ctx| {
                let (end, used) = (end.clone(), used.as_ref());
                runs::finish(tx, ctx, run.scope(), run.id, run.fence, end, used)
            })
            .await?;
        run_end::count(state, written);
    }
    Ok(())
}
