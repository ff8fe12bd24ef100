//! What a run whose server is gone left behind: its processes, their record, its
//! log, and how it ended.

use std::path::Path;

use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::id::RunId;
use workforce_domain::port::{Failure, StoreError};
use workforce_domain::run::{ProcessRecord, Run, RunEnd, RunErrorCode, RunOutcome};

use workforce_guard::{ProcessIdentity, RunLog, TAIL_LEN, leftovers, read_log};

use crate::state::EngineState;

/// What became of the recorded process of a run that lost its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clearing {
    /// It was here, and is gone.
    Killed,
    /// There was nothing of it here: it ended, or it is on another host.
    NotHere,
    /// It was here and cannot be killed.
    StillThere,
}

/// Kills what is left of a run on this host. Deletes the record of its process if
/// something was left, or if the record can only be of this host.
pub(crate) async fn kill_leftover_processes(
    state: &EngineState,
    process: &ProcessRecord,
) -> Result<Clearing, StoreError> {
    let clearing = kill(state, process).await;
    match clearing {
        Clearing::StillThere => {
            tracing::error!(run = %process.run, "processes of a lost run cannot be killed");
            return Ok(clearing);
        }
        Clearing::NotHere if !state.config.is_predecessor(process.instance) => {
            return Ok(clearing);
        }
        Clearing::NotHere => {}
        Clearing::Killed => {
            tracing::warn!(run = %process.run, "processes of a lost run were killed");
        }
    }
    let log = state.config.log_path(process.company, process.run);
    let recovered = tokio::task::spawn_blocking(move || RunLog::recover(&log)).await;
    if let Ok(Err(error)) = recovered {
        tracing::warn!(%error, run = %process.run, "the log of a lost run is not complete");
    }
    delete_process(state, process.scope(), process.run).await?;
    Ok(clearing)
}

/// The process that is on record.
pub(crate) const fn identity_of(process: &ProcessRecord) -> ProcessIdentity {
    ProcessIdentity {
        pid: process.pid,
        process_group: process.process_group,
        start_ticks: process.start_ticks,
    }
}

async fn kill(state: &EngineState, process: &ProcessRecord) -> Clearing {
    let (identity, run) = (identity_of(process), process.run);
    let files = state.config.guard_files(process.company, run);
    let looked_in = files.clone();
    let looked = move || leftovers::is_gone(identity, run, &looked_in);
    let is_gone = tokio::task::spawn_blocking(looked).await;
    if matches!(is_gone, Ok(Ok(true))) {
        Clearing::NotHere
    } else if leftovers::end_by_force(identity, run, &files).await {
        Clearing::Killed
    } else {
        Clearing::StillThere
    }
}

/// Deletes the record of a run's process.
pub(crate) async fn delete_process(
    state: &EngineState,
    company: CompanyScope,
    run: RunId,
) -> Result<(), StoreError> {
    state
        .store
        .write(move |tx, _| Ok::<_, Failure<_>>(tx.engine_mut().delete_process(company, run)?))
        .await
}

/// The end of a run that lost its server, with what its log here holds.
pub(crate) async fn lost_run_end(
    state: &EngineState,
    run: &Run,
    code: RunErrorCode,
    error: &str,
) -> RunEnd {
    let path = state.config.log_path(run.company, run.id);
    let tail = tokio::task::spawn_blocking(move || log_tail(&path)).await;
    let (log_bytes, log_tail) = tail.unwrap_or_default();
    RunEnd {
        log_bytes,
        log_tail,
        ..RunEnd::without_exit(RunOutcome::Lost(code), error)
    }
}

fn log_tail(path: &Path) -> (i64, Option<String>) {
    let Ok(whole) = path.metadata().map(|metadata| metadata.len()) else {
        return (0, None);
    };
    let from = whole.saturating_sub(TAIL_LEN as u64);
    let tail = read_log(path, from, TAIL_LEN).map(|slice| slice.content());
    (
        i64::try_from(whole).unwrap_or(i64::MAX),
        tail.ok().filter(|tail| !tail.is_empty()),
    )
}
