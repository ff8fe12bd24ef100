//! The error of a stored record that breaks a rule of its type.

use alloc::string::String;

/// A stored record does not satisfy the rules of its type, so it cannot
/// re-enter the domain. Seen only when something else wrote to the database.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stored {kind} breaks a rule: {reason}")]
pub struct Corrupt {
    /// Which kind of record.
    pub kind: &'static str,
    /// Which rule.
    pub reason: String,
}

impl Corrupt {
    /// A record of `kind` that breaks the rule told by `reason`.
    pub fn new(kind: &'static str, reason: impl Into<String>) -> Self {
        Self {
            kind,
            reason: reason.into(),
        }
    }
}
