//! How a run ended, by what its guard tells (docs/heartbeats.md#outcomes).

use jiff::tz::TimeZone;
use workforce_agent_programs::{Conclusion, FailureClass, Outcome, RetryHint};
use workforce_domain::run::{RunEnd, RunErrorCode, RunOutcome};
use workforce_domain::text::SessionId;
use workforce_domain::time::Timestamp;
use workforce_guard::{Ending, Exit, LogSummary, RunReport};

use crate::execution_result::ExecutionResult;
use crate::live::Halt;
use crate::program_run::ProgramRun;

const MICROS_PER_SECOND: i64 = 1_000_000;

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
            Outcome::Failed(failure) => failure
                .retry_after
                .as_ref()
                .and_then(|hint| instant_of(hint, now)),
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

/// The instant that a program named.
fn instant_of(hint: &RetryHint, now: Timestamp) -> Option<Timestamp> {
    let seconds = now.micros() / MICROS_PER_SECOND;
    let zone = match hint {
        RetryHint::LocalTime(time) => time.zone.as_deref(),
        RetryHint::After { .. } | RetryHint::At { .. } => Some("UTC"),
    };
    let at = hint.resolve(seconds, offset_of(zone, seconds)?)?;
    Some(Timestamp::from_micros(at.checked_mul(MICROS_PER_SECOND)?))
}

/// What the clocks of a zone are ahead of UTC, in seconds: those of the computer
/// where none is named. `None` for a zone that the computer does not know.
fn offset_of(zone: Option<&str>, now: i64) -> Option<i32> {
    let zone = match zone {
        Some(name) => TimeZone::get(name).ok()?,
        None => TimeZone::system(),
    };
    let now = jiff::Timestamp::from_second(now).ok()?;
    Some(zone.to_offset(now).seconds())
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
    use workforce_agent_programs::LocalTime;

    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).expect("an instant")
    }

    fn clock(hour: u8, zone: Option<&str>) -> RetryHint {
        RetryHint::LocalTime(LocalTime {
            hour,
            minute: 30,
            day: None,
            zone: zone.map(Into::into),
        })
    }

    #[test]
    fn a_time_of_a_named_zone_is_an_instant() {
        let now = at("2026-07-01T10:00:00Z");
        let utc = instant_of(&clock(15, Some("UTC")), now);
        assert_eq!(utc, Some(at("2026-07-01T15:30:00Z")));
        // Where the computer has no tables of zones, it is none.
        if TimeZone::get("Europe/Berlin").is_ok() {
            let berlin = instant_of(&clock(15, Some("Europe/Berlin")), now);
            assert_eq!(berlin, Some(at("2026-07-01T13:30:00Z")));
        }
        assert_eq!(instant_of(&clock(15, Some("Nowhere/Nothing")), now), None);
    }

    #[test]
    fn a_time_of_no_zone_is_one_of_this_computer() {
        let now = at("2026-07-01T10:00:00Z");
        let told = instant_of(&clock(15, None), now).expect("an instant");
        let offset = offset_of(None, now.micros() / MICROS_PER_SECOND).expect("an offset");
        let local = told.micros() / MICROS_PER_SECOND + i64::from(offset);
        assert_eq!(local.rem_euclid(86_400), 15 * 3_600 + 30 * 60);
        assert!(told > now.minus(std::time::Duration::from_secs(600)));
    }

    #[test]
    fn a_duration_counts_from_the_end_of_the_run() {
        let now = at("2026-07-01T10:00:00Z");
        let hint = RetryHint::After { seconds: 90 };
        assert_eq!(instant_of(&hint, now), Some(at("2026-07-01T10:01:30Z")));
    }
}
