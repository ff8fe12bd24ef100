//! Whether a run goes on with the session of earlier ones.

use alloc::string::String;
use core::time::Duration;

use super::AgentSession;
use crate::string_enum;
use crate::text::SessionId;
use crate::time::Timestamp;
use crate::wake::WakeReason;

string_enum! {
    /// Why a run begins a session of its own.
    pub enum FreshReason {
        /// There is none to go on with.
        NoSession = "no_session",
        /// The program does not know the session any more.
        SessionUnknown = "session_unknown",
        /// The agent's timer woke it, which is about nothing in particular.
        TimerWake = "timer_wake",
        /// The session belongs to another directory.
        DirectoryChanged = "directory_changed",
        /// The session had another model or other settings.
        SettingsChanged = "settings_changed",
        /// The session has had its number of runs.
        TooManyRuns = "too_many_runs",
        /// The session has sent its number of tokens.
        TooManyTokens = "too_many_tokens",
        /// The session has had its time.
        TooOld = "too_old",
    }
}

/// What a run that is about to start brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionWish<'a> {
    /// The directory that it works in.
    pub directory: &'a str,
    /// SHA-256 of its model and settings, in hexadecimal digits.
    pub fingerprint: &'a str,
    /// What it was started for.
    pub reason: WakeReason,
    /// Whether the program has just said that it does not know the session, so
    /// that the run is tried once more without it.
    pub is_unknown: bool,
}

/// The session that a run goes on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumedSession {
    /// The id by which the program finds it.
    pub session: SessionId,
    /// What its runs have been counted for.
    pub usage_baseline: String,
}

/// How a run begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionPlan {
    /// It goes on with a session.
    Resume(ResumedSession),
    /// It begins a session.
    Fresh {
        /// Why.
        why: FreshReason,
        /// What the session before it came to, for the new one to know.
        handover: Option<String>,
    },
}

impl SessionPlan {
    /// A session has at most so many runs.
    pub const MAX_RUNS: i32 = 50;
    /// A session goes on until its runs have sent so many tokens.
    pub const MAX_INPUT_TOKENS: i64 = 1_000_000;
    /// A session goes on for so long.
    pub const MAX_AGE: Duration = Duration::from_hours(48);

    /// How a run about the task of `previous` begins. What was put aside is
    /// handed over, but not to a run of the timer.
    pub fn decide(
        previous: Option<&AgentSession>,
        wanted: &SessionWish<'_>,
        now: Timestamp,
    ) -> Self {
        let Some(previous) = previous else {
            return Self::Fresh {
                why: FreshReason::NoSession,
                handover: None,
            };
        };
        match previous.obstacle(wanted, now) {
            None => Self::Resume(ResumedSession {
                session: previous.session.clone(),
                usage_baseline: previous.usage_baseline.clone(),
            }),
            Some(why) => Self::Fresh {
                why,
                handover: previous
                    .last_result
                    .clone()
                    .filter(|_| why != FreshReason::TimerWake),
            },
        }
    }

    /// The session to resume, if there is one.
    pub const fn resumed(&self) -> Option<&SessionId> {
        match self {
            Self::Resume(resumed) => Some(&resumed.session),
            Self::Fresh { .. } => None,
        }
    }
}

impl AgentSession {
    /// What keeps a run from going on with the session.
    fn obstacle(&self, wanted: &SessionWish<'_>, now: Timestamp) -> Option<FreshReason> {
        let obstacles = [
            (wanted.is_unknown, FreshReason::SessionUnknown),
            (
                wanted.reason == WakeReason::HeartbeatTimer,
                FreshReason::TimerWake,
            ),
            (
                wanted.directory != self.directory,
                FreshReason::DirectoryChanged,
            ),
            (
                wanted.fingerprint != self.fingerprint,
                FreshReason::SettingsChanged,
            ),
            (self.runs >= SessionPlan::MAX_RUNS, FreshReason::TooManyRuns),
            (
                self.input_tokens >= SessionPlan::MAX_INPUT_TOKENS,
                FreshReason::TooManyTokens,
            ),
            (
                now.since(self.begun_at) >= SessionPlan::MAX_AGE,
                FreshReason::TooOld,
            ),
        ];
        let first = obstacles.into_iter().find(|(holds, _)| *holds);
        first.map(|(_, why)| why)
    }
}
