//! What is known of a run before its program may execute anything.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::Run;
use crate::text::SessionId;

/// Which text a run was started with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptDigest {
    /// SHA-256 of the text, in hexadecimal digits.
    pub sha256: String,
    /// Its length.
    pub bytes: i32,
}

/// What a run is started with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunStart {
    /// The fences that are around its program, as words separated by commas.
    pub containment: Option<String>,
    /// The session of its program, as far as its id is known.
    pub session: Option<SessionId>,
    /// Whether it goes on with that session; none for a program without sessions.
    pub session_resumed: Option<bool>,
    /// The text that its program is given.
    pub prompt: Option<PromptDigest>,
    /// Whether its agent may say later how it ended.
    pub may_be_completed: bool,
}

impl Run {
    /// Whether its program may have executed anything. What it is started with is noted before.
    pub const fn has_begun(&self) -> bool {
        self.containment.is_some()
    }
}
