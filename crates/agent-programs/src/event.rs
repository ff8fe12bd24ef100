//! What a run tells while it lasts.

use serde::{Deserialize, Serialize};

use crate::failure::FailureClass;
use crate::reset_time::RetryHint;
use crate::session_id::SessionId;
use crate::usage::{MicroCents, TokenUsage};

/// Something that the output of a program told.
///
/// Its serialized form is written by one process and read by another, maybe of
/// a later version: a variant or a field may be added, none may change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ProgramEvent {
    /// The session has this id from now on.
    SessionStarted {
        /// With which it can be resumed.
        id: SessionId,
        /// The model that the program says it uses.
        #[serde(default)]
        model: Option<String>,
    },
    /// What was used and not told before. The sum over a run is what the run
    /// used, so there may be an event without tokens that only brings the cost.
    Usage {
        /// The model, where the program names it.
        #[serde(default)]
        model: Option<String>,
        /// Tokens that no earlier event of the run counted.
        tokens: TokenUsage,
        /// Their cost in the program's own opinion, where it has one.
        #[serde(default)]
        cost: Option<MicroCents>,
    },
    /// A call of the model failed, and the program tries it again by itself.
    Retrying {
        /// Why it failed.
        class: FailureClass,
        /// Which failure in a row this is, from 1.
        attempt: u32,
        /// Milliseconds until the next attempt, where the program tells them.
        #[serde(default)]
        delay_ms: Option<u64>,
        /// When the provider will answer again, where the text tells it.
        #[serde(default)]
        until: Option<RetryHint>,
    },
}
