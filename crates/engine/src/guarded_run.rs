//! The process of a run: started through a guard, recorded before it may execute
//! anything, and stayed with to its end (docs/heartbeats.md#processes).

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use workforce_agent_programs::{Conclusion, FailureClass, Outcome, ProgramFailure, RetryHint};
use workforce_domain::actor::CompanyOwned;
use workforce_domain::port::Failure;
use workforce_domain::run::{ProcessRecord, RunEnd, RunErrorCode, RunOutcome, RunStart};
use workforce_domain::text::SessionId;
use workforce_domain::time::Timestamp;
use workforce_guard::client::{self, Guard, GuardError};
use workforce_guard::{Ending, Exit, LaunchError, LogSummary, ProcessIdentity, RunReport, Start};

use crate::execution_result::ExecutionResult;
use crate::live::{Halt, LiveRun};
use crate::program_run::ProgramRun;
use crate::state::EngineState;

/// How long after the order to kill a guard that does not answer is killed.
const FORCE_AFTER: Duration = Duration::from_secs(5);
const MICROS_PER_SECOND: i64 = 1_000_000;
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
    match begin(state, live, start, told).await {
        Ok(guard) => stay(state, live, guard).await,
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
        containment: Some(start.containment.means.names().join(",")),
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
    let recorded = state.store.write(move |tx, _| {
        let run = tx.runs().find(process.scope().into(), process.run)?;
        let ours = run.filter(|run| run.fence == fence && run.status.is_live());
        let halt = match ours {
            None => Some(Halt::LeaseLost),
            Some(run) => run.stop_reason.map(Halt::Requested),
        };
        if halt.is_none() {
            let (company, run) = (process.scope(), process.run);
            tx.engine_mut().record_process(&process)?;
            tx.engine_mut().note_run_start(company, run, fence, &told)?;
            if told.may_be_completed {
                tx.runs_mut().await_completion(company, run)?;
            }
        }
        Ok::<_, Failure<_>>(halt)
    });
    match recorded.await? {
        None => Ok(()),
        Some(halt) => {
            live.halt(halt);
            Err(NotWanted.into())
        }
    }
}

/// Stays with a run whose program is executed. `None` for a run that is left to
/// the next start of the server.
pub(crate) async fn stay(
    state: &EngineState,
    live: &LiveRun,
    mut guard: Guard,
) -> Option<ExecutionResult> {
    let mut halts = live.halts();
    let (mut is_stopped, mut killed_at) = (false, None::<Instant>);
    let mut touch_at = Instant::now();
    loop {
        tokio::select! {
            biased;
            report = guard.ended() => return Some(match report {
                Some(report) => result_of(report, live.halted(), state.store.ports.clock.now()),
                None => lost_guard(live).await,
            }),
            () = state.leaving.cancelled() => return None,
            () = live.killed(), if killed_at.is_none() => {
                killed_at = Some(Instant::now());
                guard.kill().await;
            }
            () = sleep_until(killed_at.unwrap_or(touch_at) + FORCE_AFTER), if killed_at.is_some() => {
                return Some(lost_guard(live).await);
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
async fn lost_guard(live: &LiveRun) -> ExecutionResult {
    tracing::error!(run = %live.run, "the guard of a run is gone");
    let group_empty = match live.process() {
        Some(identity) => client::end_by_force(identity, live.run).await,
        None => true,
    };
    let outcome = match live.halted() {
        Some(halt) => halt.outcome(),
        None => Some(RunOutcome::Lost(RunErrorCode::ProcessLost)),
    };
    ExecutionResult {
        end: outcome.map(|outcome| RunEnd::without_exit(outcome, "its guard was killed")),
        program: None,
        group_empty,
        lacks_room: false,
    }
}

/// How a run ended, by what its guard tells.
pub(crate) fn result_of(
    report: RunReport,
    halted: Option<Halt>,
    now: Timestamp,
) -> ExecutionResult {
    let (exit_code, signal) = match report.exit {
        Some(Exit::Code(code)) => (Some(code), None),
        Some(Exit::Signal(signal)) => (None, Some(signal)),
        None => (None, None),
    };
    let program = ProgramRun::of(&report).map(Box::new);
    let (log_bytes, log_tail) = stored(report.log);
    let said = Said::of(report.conclusion, now);
    let end =
        verdict(report.ended_by, report.exit, said.outcome, halted).map(|(outcome, error)| {
            RunEnd {
                outcome,
                error,
                exit_code,
                signal,
                log_bytes,
                log_tail,
                session: said.session,
                result_text: said.result_text,
                retry_at: said.retry_at,
            }
        });
    ExecutionResult {
        end,
        program,
        group_empty: true,
        lacks_room: false,
    }
}

/// What an agent program said.
#[derive(Default)]
struct Said {
    outcome: Option<Outcome>,
    session: Option<SessionId>,
    result_text: Option<String>,
    retry_at: Option<Timestamp>,
}

impl Said {
    fn of(conclusion: Option<Conclusion>, now: Timestamp) -> Self {
        let Some(conclusion) = conclusion else {
            return Self::default();
        };
        let retry_at = match &conclusion.outcome {
            // A time of day is that of a zone that is not known here.
            Outcome::Failed(ProgramFailure {
                retry_after: Some(RetryHint::LocalTime(_)),
                ..
            }) => None,
            Outcome::Failed(failure) => failure.retry_after.as_ref().and_then(|hint| {
                let seconds = hint.resolve(now.micros() / MICROS_PER_SECOND, 0)?;
                Some(Timestamp::from_micros(
                    seconds.checked_mul(MICROS_PER_SECOND)?,
                ))
            }),
            Outcome::Succeeded => None,
        };
        let session = conclusion.session.as_ref();
        Self {
            outcome: Some(conclusion.outcome.clone()),
            session: session.and_then(|session| SessionId::new(session.as_str()).ok()),
            result_text: conclusion.result_text.clone(),
            retry_at,
        }
    }
}

/// What became of a program, with a sentence for people; nothing when the run
/// is another server's.
fn verdict(
    ended_by: Ending,
    exit: Option<Exit>,
    told: Option<Outcome>,
    halted: Option<Halt>,
) -> Option<(RunOutcome, Option<String>)> {
    let failed = RunOutcome::Failed(RunErrorCode::AdapterFailed);
    let (outcome, error) = match (ended_by, exit) {
        // What an agent program tells counts, not its exit code.
        (Ending::Itself, _) if let Some(told) = told => match told {
            Outcome::Succeeded => return Some((RunOutcome::Succeeded, None)),
            // Its work is queued again, and begins a session of its own.
            Outcome::Failed(failure) if failure.class == FailureClass::SessionUnknown => (
                RunOutcome::Lost(RunErrorCode::SessionUnknown),
                failure.message,
            ),
            Outcome::Failed(failure) => {
                (RunOutcome::Failed(code_of(failure.class)), failure.message)
            }
        },
        (Ending::Itself, Some(Exit::Code(0))) => return Some((RunOutcome::Succeeded, None)),
        (Ending::Itself, Some(Exit::Code(code))) => {
            (failed, format!("the program ended with code {code}"))
        }
        (Ending::Itself, Some(Exit::Signal(signal))) => {
            (failed, format!("signal {signal} ended the program"))
        }
        (Ending::Itself, None) => (
            failed,
            "the system tells no exit code of the program".to_owned(),
        ),
        (Ending::WallLimit, _) => (
            RunOutcome::TimedOut(RunErrorCode::WallLimit),
            "the run took longer than its time limit".to_owned(),
        ),
        (Ending::IdleLimit, _) => (
            RunOutcome::TimedOut(RunErrorCode::IdleLimit),
            "the run showed no sign of life for its idle limit".to_owned(),
        ),
        (Ending::Stopped(reason), _) => stopped(Halt::for_reason(reason))?,
        (Ending::Abandoned, _) => match halted {
            Some(halt) => stopped(halt)?,
            None => (
                RunOutcome::Lost(RunErrorCode::ProcessLost),
                "no server renewed its lease in time".to_owned(),
            ),
        },
    };
    Some((outcome, Some(error)))
}

/// The class of a failure as a run shows it.
const fn code_of(class: FailureClass) -> RunErrorCode {
    match class {
        FailureClass::AuthRequired => RunErrorCode::AuthRequired,
        FailureClass::ProviderLimit => RunErrorCode::ProviderLimit,
        FailureClass::Overloaded => RunErrorCode::ProviderOverloaded,
        FailureClass::ContextTooLong => RunErrorCode::ContextTooLong,
        FailureClass::SessionUnknown => RunErrorCode::SessionUnknown,
        FailureClass::MaxTurns => RunErrorCode::MaxTurns,
        FailureClass::RootRefused => RunErrorCode::ConfigInvalid,
        FailureClass::BudgetOfProgram
        | FailureClass::Unreachable
        | FailureClass::ServerError
        | FailureClass::Interrupted
        | FailureClass::Other => RunErrorCode::AdapterFailed,
    }
}

fn stopped(halt: Halt) -> Option<(RunOutcome, String)> {
    let error = match halt {
        Halt::Requested(RunErrorCode::BudgetExhausted) => "the budget of the month is used up",
        Halt::Completed => "its agent said how it ended",
        Halt::Requested(_) => "somebody asked the run to stop",
        Halt::ServerShutdown | Halt::LeaseLost => "the server was stopped",
    };
    Some((halt.outcome()?, error.to_owned()))
}

fn stored(log: LogSummary) -> (i64, Option<String>) {
    if let Some(fault) = log.fault {
        tracing::error!(fault, "output of a run is missing from its log");
    }
    let bytes = i64::try_from(log.total_bytes).unwrap_or(i64::MAX);
    (bytes, (!log.tail.is_empty()).then_some(log.tail))
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
