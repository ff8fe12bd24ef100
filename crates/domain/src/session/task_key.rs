//! What a session is about, as text.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use serde::{Serialize, Serializer};

use crate::id::IssueId;
use crate::wake::Wake;

/// What a session is about: one issue, or nothing in particular. As text it is
/// the key under which wakes coalesce, see [`Wake::key`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TaskKey {
    /// No issue.
    General,
    /// This issue.
    Issue(IssueId),
}

/// The text is no key of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be `general`, or `issue:` and the id of an issue")]
pub struct NoTaskKey;

impl TaskKey {
    /// What stands before the id of an issue.
    pub const OF_ISSUE: &'static str = "issue:";

    /// The issue, if it is about one.
    pub const fn issue(self) -> Option<IssueId> {
        match self {
            Self::General => None,
            Self::Issue(issue) => Some(issue),
        }
    }
}

impl From<Option<IssueId>> for TaskKey {
    fn from(issue: Option<IssueId>) -> Self {
        issue.map_or(Self::General, Self::Issue)
    }
}

impl fmt::Display for TaskKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Wake::key(self.issue()))
    }
}

impl FromStr for TaskKey {
    type Err = NoTaskKey;

    fn from_str(text: &str) -> Result<Self, NoTaskKey> {
        match text.strip_prefix(Self::OF_ISSUE) {
            Some(issue) => issue.parse().map(Self::Issue).or(Err(NoTaskKey)),
            None if text == Wake::key(None) => Ok(Self::General),
            None => Err(NoTaskKey),
        }
    }
}

impl From<TaskKey> for String {
    fn from(key: TaskKey) -> Self {
        Wake::key(key.issue())
    }
}

impl Serialize for TaskKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
