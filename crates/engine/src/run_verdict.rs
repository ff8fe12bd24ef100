//! What became of a run, by what its guard tells (docs/heartbeats.md#outcomes).

use nix::libc;
use workforce_agent_programs::{Conclusion, FailureClass, Outcome};
use workforce_domain::run::{RunEnd, RunErrorCode, RunOutcome};
use workforce_domain::text::SessionId;
use workforce_domain::time::Timestamp;
use workforce_guard::{Ending, Exit, LogSummary, RunReport};

use crate::execution_result::ExecutionResult;
use crate::live::Halt;
use crate::program_run::ProgramRun;
use crate::retry_time::instant_of;

/// The error of a run that failed for want of memory.
const OUT_OF_MEMORY: &str =
    "the run needed more memory than its limit, adapterConfig.maxMemoryMb, allows";

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
    let ran_out_of_memory = report.ran_out_of_memory;
    let (log_bytes, log_tail) = stored(report.log);
    let said = Said::of(report.conclusion, now);
    let end =
        verdict(report.ended_by, report.exit, said.outcome, halted).map(|(outcome, error)| {
            let is_cause = ran_out_of_memory && matches!(outcome, RunOutcome::Failed(_));
            RunEnd {
                outcome,
                error: if is_cause {
                    Some(OUT_OF_MEMORY.to_owned())
                } else {
                    error
                },
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

/// What to do about a program that is not signed in.
const SIGN_IN: &str = "sign the program in as the user that runs it, or bind its key in \
    adapterConfig.env; the agent's adapter-check says what is missing. The work waits in the queue";

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
            Outcome::Failed(failure) => failure
                .retry_after
                .as_ref()
                .and_then(|hint| instant_of(hint, now)),
            Outcome::Succeeded => None,
        };
        let session = conclusion.session.as_ref();
        Self {
            outcome: Some(conclusion.outcome.clone()),
            session: session.and_then(|session| SessionId::parse(session.as_str()).ok()),
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
            Outcome::Failed(failure) if failure.class == FailureClass::AuthRequired => (
                RunOutcome::Failed(RunErrorCode::AuthRequired),
                format!("{}; {SIGN_IN}", failure.message),
            ),
            Outcome::Failed(failure) => {
                (RunOutcome::Failed(code_of(failure.class)), failure.message)
            }
        },
        (Ending::Itself, Some(Exit::Code(0))) => return Some((RunOutcome::Succeeded, None)),
        (Ending::Itself, Some(Exit::Code(code))) => {
            (failed, format!("the program ended with code {code}"))
        }
        (Ending::Itself, Some(Exit::Signal(libc::SIGXFSZ))) => (
            failed,
            "the program wrote a file beyond its limit, adapterConfig.maxFileSizeMb".to_owned(),
        ),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn report(exit: Exit, ran_out_of_memory: bool) -> RunReport {
        RunReport {
            run: "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap(),
            fence: 1,
            ended_by: Ending::Itself,
            exit: Some(exit),
            ran_out_of_memory,
            conclusion: None,
            usage: Vec::new(),
            memo: serde_json::Value::Null,
            log: LogSummary::default(),
        }
    }

    fn end(exit: Exit, ran_out_of_memory: bool) -> (RunOutcome, Option<String>) {
        let report = report(exit, ran_out_of_memory);
        let end = result_of(report, None, Timestamp::from_micros(0))
            .end
            .unwrap();
        (end.outcome, end.error)
    }

    #[test]
    fn a_run_that_failed_for_want_of_memory_says_so() {
        let failed = RunOutcome::Failed(RunErrorCode::AdapterFailed);
        let (outcome, error) = end(Exit::Signal(libc::SIGKILL), true);
        assert_eq!(outcome, failed);
        assert!(error.is_some_and(|error| error.contains("maxMemoryMb")));
        let (outcome, error) = end(Exit::Signal(libc::SIGKILL), false);
        assert_eq!(outcome, failed);
        assert!(error.is_some_and(|error| !error.contains("maxMemoryMb")));
        // One of its processes was killed, and it went on without.
        assert_eq!(end(Exit::Code(0), true), (RunOutcome::Succeeded, None));
    }
}
