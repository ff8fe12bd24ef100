//! The process of a run: started through a guard, recorded before it may execute
//! anything, and stayed with to its end (docs/heartbeats.md#processes).

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use workforce_domain::run::{ProcessRecord, RunEnd, RunErrorCode, RunOutcome, RunStart};
use workforce_guard::client::{self, Guard, GuardError, News};
use workforce_guard::{LaunchError, ProcessIdentity, Start, leftovers};

use crate::execution_result::ExecutionResult;
use crate::live::{Halt, LiveRun};
use crate::outage::until_answered;
use crate::program_run::{ProgramRun, RunMemo};
use crate::run_metering::{Meter, use_of_lost};
use crate::run_verdict;
use crate::state::EngineState;
use crate::steps::{self, Standing};

/// How long after the order to kill a guard that does not answer is killed.
const FORCE_AFTER: Duration = Duration::from_secs(5);
/// Signs of life are passed on at most this often.
const TOUCH_EVERY: Duration = Duration::from_millis(100);

/// Starts the program of a run and stays with it. `None` for a run that is left to
/// the next start of the server.
pub(crate) async fn execute(
    state: &Arc<EngineState>,
    live: &Arc<LiveRun>,
    start: Start,
    told: RunStart,
) -> Option<ExecutionResult> {
    let memo = RunMemo::of(start.memo.clone());
    match begin(state, live, start, told).await {
        Ok(guard) => stay(state, live, guard, memo).await,
        Err(ending) => Some(ending),
    }
}

/// Starts the program; an ending before its start is the error.
async fn begin(
    state: &EngineState,
    live: &LiveRun,
    start: Start,
    told: RunStart,
) -> Result<Guard, ExecutionResult> {
    if let Some(halt) = live.halted() {
        return Err(ExecutionResult::halted(halt));
    }
    let told = RunStart {
        containment: Some(start.containment.names().join(",")),
        ..told
    };
    let refused = |error: GuardError| match live.halted() {
        Some(halt) => ExecutionResult::halted(halt),
        None => not_started(state, &error),
    };
    let prepared = client::start(&state.config.guard, start)
        .await
        .map_err(refused)?;
    if let Err(error) = record(state, live, prepared.identity(), told).await {
        return Err(match live.halted() {
            Some(halt) => ExecutionResult::halted(halt),
            None => ExecutionResult::broken(format!(
                "its process could not be recorded: {}",
                with_causes(&*error)
            )),
        });
    }
    prepared.go().await.map_err(refused)
}

fn not_started(state: &EngineState, error: &GuardError) -> ExecutionResult {
    match error {
        GuardError::Refused(LaunchError::Files { cause, os_error }) => {
            tracing::error!(cause, "the files of a run cannot be written");
            let broken = ExecutionResult::broken(error.to_string());
            match os_error {
                Some(code) => broken.because(state, &io::Error::from_raw_os_error(*code)),
                None => broken,
            }
        }
        GuardError::Refused(LaunchError::Home { os_error, .. }) => {
            let failed = ExecutionResult::failed(RunErrorCode::SpawnFailed, error.to_string());
            match os_error {
                Some(code) => failed.because(state, &io::Error::from_raw_os_error(*code)),
                None => failed,
            }
        }
        GuardError::Refused(LaunchError::ProcessesUnbounded) => {
            ExecutionResult::failed(RunErrorCode::ConfigInvalid, error.to_string())
        }
        GuardError::Refused(refusal) => {
            ExecutionResult::failed(RunErrorCode::SpawnFailed, refusal.to_string())
        }
        GuardError::Failed(_) => {
            tracing::error!(%error, cause = ?error, "a run has no guard");
            ExecutionResult::failed(RunErrorCode::SpawnFailed, with_causes(error))
        }
    }
}

/// The run is another server's by now, has ended, or is to stop.
#[derive(Debug, thiserror::Error)]
#[error("the run does not start any more")]
struct NotWanted;

/// Records the process while its program does not run yet. A stop that was
/// asked for before the run was among the live ones is seen here; one that
/// comes later finds it there.
async fn record(
    state: &EngineState,
    live: &LiveRun,
    identity: ProcessIdentity,
    told: RunStart,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    if live.halted().is_some() {
        return Err(NotWanted.into());
    }
    live.note_process(identity);
    let fence = live.fence;
    let process = ProcessRecord {
        run: live.run,
        company: live.company,
        instance: state.config.instance,
        pid: identity.pid,
        process_group: identity.process_group,
        start_ticks: identity.start_ticks,
    };
    let lease = state.config.lease;
    let told = Arc::new(told);
    let record = || async {
        let (begun, told) = (Instant::now(), Arc::clone(&told));
        let recorded = state
            .store
            .write(move |tx, ctx| steps::record_process(tx, ctx, &process, fence, &told, lease));
        Ok((recorded.await?, begun))
    };
    // The program waits meanwhile.
    let (standing, begun) = until_answered(live, record).await?;
    let halt = match standing {
        Standing::Ours => {
            live.note_renewal(begun);
            return Ok(());
        }
        Standing::ToStop(reason) => Halt::Requested(reason),
        Standing::Lost => Halt::LeaseLost,
    };
    live.halt(halt);
    Err(NotWanted.into())
}

/// Stays with a run whose program is executed. `None` for a run that is left to
/// the next start of the server.
pub(crate) async fn stay(
    state: &Arc<EngineState>,
    live: &LiveRun,
    guard: Guard,
    memo: RunMemo,
) -> Option<ExecutionResult> {
    let meter = Meter::begin(state, live, memo);
    let ending = attend(state, live, guard, meter.as_ref()).await;
    // Nothing is booked beside the end.
    if let Some(meter) = meter {
        meter.end().await;
    }
    ending
}

async fn attend(
    state: &EngineState,
    live: &LiveRun,
    mut guard: Guard,
    meter: Option<&Meter>,
) -> Option<ExecutionResult> {
    let mut halts = live.halts();
    let (mut is_stopped, mut killed_at) = (false, None::<Instant>);
    let mut touch_at = Instant::now();
    loop {
        tokio::select! {
            biased;
            news = guard.news() => match news {
                Some(News::Ended(report)) => {
                    let now = state.store.ports.clock.now();
                    return Some(run_verdict::result_of(*report, live.halted(), now));
                }
                Some(News::Used) => meter.iter().for_each(|meter| meter.note()),
                None => return Some(lost_guard(state, live).await),
            },
            () = state.leaving.cancelled() => return None,
            () = live.killed(), if killed_at.is_none() => {
                killed_at = Some(Instant::now());
                guard.kill().await;
            }
            () = sleep_until(killed_at.unwrap_or(touch_at) + FORCE_AFTER), if killed_at.is_some() => {
                return Some(lost_guard(state, live).await);
            }
            halt = halted(&mut halts), if !is_stopped => {
                is_stopped = true;
                guard.stop(halt.code()).await;
            }
            () = live.renewed() => {
                let patience = state.config.patience();
                guard.renew(patience.saturating_sub(live.renewed_at().elapsed())).await;
            }
            () = async { sleep_until(touch_at).await; live.touched().await } => {
                touch_at = Instant::now() + TOUCH_EVERY;
                guard.touch().await;
            }
        }
    }
}

async fn halted(halts: &mut watch::Receiver<Option<Halt>>) -> Halt {
    if let Ok(halt) = halts.wait_for(Option::is_some).await
        && let Some(halt) = *halt
    {
        return halt;
    }
    std::future::pending().await
}

/// The end of a run whose guard was killed, or is frozen.
async fn lost_guard(state: &EngineState, live: &LiveRun) -> ExecutionResult {
    tracing::error!(run = %live.run, "the guard of a run is gone");
    let group_empty = match live.process() {
        Some(identity) => {
            let files = state.config.guard_files(live.company, live.run);
            leftovers::end_by_force(identity, live.run, &files).await
        }
        None => true,
    };
    let outcome = match live.halted() {
        Some(halt) => halt.outcome(),
        None => Some(RunOutcome::Lost(RunErrorCode::ProcessLost)),
    };
    let used = use_of_lost(state, live.company, live.run).await;
    ExecutionResult {
        end: outcome.map(|outcome| RunEnd::without_exit(outcome, "its guard was killed")),
        program: used.map(|used| Box::new(ProgramRun::lost(used))),
        group_empty,
        lacks_room: false,
    }
}

/// An error with everything that led to it.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
