//! Runs that end when their agent says so.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::end::start_of;
use super::{RunEnd, RunErrorCode, RunOutcome, bounded_result};
use crate::string_enum;
use crate::time::Timestamp;

/// The sentence of a failure is kept up to this length.
const MAX_ERROR_BYTES: usize = 4 * 1024;

string_enum! {
    /// How an agent says that its run ended.
    pub enum CompletionStatus {
        /// It did what it was to do.
        Succeeded = "succeeded",
        /// It did not.
        Failed = "failed",
    }
}

/// What an agent says about the end of its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = RunCompletion))]
#[serde(rename_all = "camelCase")]
pub struct CompletionReport {
    /// How the run ended.
    pub status: CompletionStatus,
    /// The text with which it ended; its first 16 KiB are kept.
    pub result: Option<String>,
    /// Why it failed, for people; the first 4 KiB are kept. Only of a run that
    /// failed.
    pub error: Option<String>,
    /// Why it failed, as a word: `adapter_failed` (the default), `auth_required`,
    /// `provider_limit`, `provider_overloaded`, `context_too_long` or `max_turns`. Only
    /// of a run that failed.
    pub error_code: Option<RunErrorCode>,
}

/// What is wrong with a report, with the field that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportFault {
    /// The field's pointer.
    pub pointer: &'static str,
    /// What is wrong, for people.
    pub message: &'static str,
}

impl CompletionReport {
    /// The report as it is kept.
    ///
    /// # Errors
    /// When a run that succeeded is to have an error, or the word is not an agent's
    /// to say.
    pub fn checked(self) -> Result<Self, ReportFault> {
        let fault = |pointer, message| Err(ReportFault { pointer, message });
        let is_good = self.status == CompletionStatus::Succeeded;
        if is_good && self.error.is_some() {
            return fault("/error", "only a run that failed has an error");
        }
        let error_code = match self.error_code {
            Some(_) if is_good => {
                return fault("/errorCode", "only a run that failed has an error code");
            }
            Some(code) if !code.is_of_agents() => {
                return fault("/errorCode", "no error code that an agent may give");
            }
            None if is_good => None,
            code => Some(code.unwrap_or(RunErrorCode::AdapterFailed)),
        };
        Ok(Self {
            status: self.status,
            result: self.result.map(bounded_result),
            error: self.error.map(|text| start_of(text, MAX_ERROR_BYTES)),
            error_code,
        })
    }

    /// The end of a run whose agent said this, however its process came to its own.
    #[must_use]
    pub fn applied_to(self, end: RunEnd) -> RunEnd {
        RunEnd {
            outcome: match (self.status, self.error_code) {
                (CompletionStatus::Succeeded, _) => RunOutcome::Succeeded,
                (CompletionStatus::Failed, code) => {
                    RunOutcome::Failed(code.unwrap_or(RunErrorCode::AdapterFailed))
                }
            },
            error: self.error,
            exit_code: None,
            signal: None,
            result_text: self.result,
            retry_at: None,
            ..end
        }
    }
}

/// The state of a run that ends when its agent calls back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completion {
    /// Nobody has called back.
    Awaited,
    /// The agent has said how the run ended.
    Reported(CompletionReport, Timestamp),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(status: CompletionStatus) -> CompletionReport {
        CompletionReport {
            status,
            result: None,
            error: None,
            error_code: None,
        }
    }

    #[test]
    fn a_failure_has_a_code_and_a_success_has_none() {
        let failed = report(CompletionStatus::Failed).checked().unwrap();
        assert_eq!(failed.error_code, Some(RunErrorCode::AdapterFailed));
        let done = report(CompletionStatus::Succeeded);
        assert_eq!(done.clone().checked(), Ok(done.clone()));
        let with_code = CompletionReport {
            error_code: Some(RunErrorCode::MaxTurns),
            ..done.clone()
        };
        assert_eq!(with_code.checked().unwrap_err().pointer, "/errorCode");
        let with_error = CompletionReport {
            error: Some("no".into()),
            ..done
        };
        assert_eq!(with_error.checked().unwrap_err().pointer, "/error");
    }

    #[test]
    fn an_agent_gives_only_words_of_its_own() {
        for (code, is_admitted) in [
            (RunErrorCode::AuthRequired, true),
            (RunErrorCode::ProviderLimit, true),
            (RunErrorCode::BudgetExhausted, false),
            (RunErrorCode::CancelRequested, false),
            (RunErrorCode::ProcessLost, false),
            (RunErrorCode::WallLimit, false),
        ] {
            let failed = CompletionReport {
                error_code: Some(code),
                ..report(CompletionStatus::Failed)
            };
            assert_eq!(failed.checked().is_ok(), is_admitted, "{code}");
        }
    }

    #[test]
    fn long_texts_are_cut() {
        let long = CompletionReport {
            result: Some("\u{e9}".repeat(10_000)),
            error: Some("x\0".repeat(10_000)),
            ..report(CompletionStatus::Failed)
        };
        let kept = long.checked().unwrap();
        assert_eq!(kept.result.unwrap().len(), 16 * 1024);
        let error = kept.error.unwrap();
        assert!(error.len() <= 4 * 1024 && !error.contains('\0'));
    }
}
