//! Why a run failed.

use serde::{Deserialize, Serialize};

use crate::failure_text;
use crate::reset_time::RetryHint;
use crate::text::{MEANINGFUL_BYTES, first_bytes, one_line};

/// What kind of failure ended a run, by what is to be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The program is not signed in, or its key is refused: somebody must act.
    AuthRequired,
    /// A rate limit or a quota is exhausted: wait until it resets.
    ProviderLimit,
    /// The provider has no capacity at the moment: try again soon.
    Overloaded,
    /// The conversation no longer fits into the model: begin a new session.
    ContextTooLong,
    /// The session to resume is not there, or not from this directory: begin a
    /// new one.
    SessionUnknown,
    /// The program reached the limit of turns that it was given.
    MaxTurns,
    /// The program reached the limit of money that it was given.
    BudgetOfProgram,
    /// The program refuses to work as root without asking.
    RootRefused,
    /// The provider could not be reached, or the connection to it broke.
    Unreachable,
    /// The provider answered with a failure of its own.
    ServerError,
    /// The program ended without its last event: it was stopped, or it crashed.
    Interrupted,
    /// Anything else; also a class that a later version wrote.
    #[serde(other)]
    Other,
}

/// How a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramFailure {
    /// What kind of failure it is.
    pub class: FailureClass,
    /// The same for people: one line of at most 1,000 bytes. It holds what the
    /// program printed, so it may hold a secret of the agent's environment.
    pub message: String,
    /// When another attempt makes sense, where the program told it.
    #[serde(default)]
    pub retry_after: Option<RetryHint>,
}

impl ProgramFailure {
    const MAX_MESSAGE_BYTES: usize = 1_000;

    /// A failure of a class that is known.
    pub(crate) fn new(class: FailureClass, text: &str) -> Self {
        let text = first_bytes(text, MEANINGFUL_BYTES);
        let waits = matches!(
            class,
            FailureClass::ProviderLimit | FailureClass::Overloaded | FailureClass::ServerError
        );
        Self {
            class,
            message: one_line(&failure_text::readable(text), Self::MAX_MESSAGE_BYTES),
            retry_after: waits.then(|| RetryHint::find(text)).flatten(),
        }
    }

    /// A failure that somebody else has understood.
    #[must_use]
    pub fn told(class: FailureClass, text: &str, retry_after: Option<RetryHint>) -> Self {
        Self {
            class,
            message: one_line(text, Self::MAX_MESSAGE_BYTES),
            retry_after,
        }
    }

    /// A failure whose class is in its text.
    pub(crate) fn from_text(text: &str) -> Self {
        let class = failure_text::classify(text).unwrap_or(FailureClass::Other);
        Self::new(class, text)
    }
}
