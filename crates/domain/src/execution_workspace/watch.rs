//! Open pull requests are watched until they are merged or closed.

use alloc::string::String;
use alloc::vec::Vec;

use crate::Document;
use crate::actor::sealed::Sealed;
use crate::actor::{CompanyOwned, CompanyScope};
use crate::id::{CompanyId, ExecutionWorkspaceId};
use crate::string_enum;
use crate::time::Timestamp;

string_enum! {
    /// What the checks of a pull request say together.
    pub enum ChecksState {
        /// There are none.
        None = "none",
        /// Some have not ended, and none failed.
        Pending = "pending",
        /// All passed, or do not count.
        Passed = "passed",
        /// At least one failed.
        Failed = "failed",
        /// Not all of them can be seen.
        Unknown = "unknown",
    }
}

/// What is known of the open pull request of a worktree, and when it is looked at
/// next.
#[derive(Clone, Debug, PartialEq)]
pub struct PullRequestWatch {
    /// The worktree.
    pub workspace: ExecutionWorkspaceId,
    /// Its company.
    pub company: CompanyId,
    /// Its forge is asked no earlier.
    pub due_at: Timestamp,
    /// How often somebody began to ask. Only the answer to the last question counts.
    pub fence: i64,
    /// How often asking failed since the last answer.
    pub attempts: i32,
    /// What spares the forge to tell again what it told, as its client made it.
    pub validators: Document,
    /// What the checks said.
    pub checks: ChecksState,
    /// The commit that they are of.
    pub head_commit: Option<String>,
    /// Its base branch is not looked at earlier.
    pub drift_due_at: Timestamp,
    /// The commit of the base branch that was merged last, as far as it is known.
    pub merged_base: Option<String>,
    /// The commit in which workforce merged a newer one that is not pushed yet.
    pub merged_head: Option<String>,
    /// What kept a newer one from being merged, so that it is told once.
    pub obstacle: Option<String>,
    /// Whether the board was told of a conflict that nobody solved.
    pub escalated: bool,
    /// When it began.
    pub created_at: Timestamp,
}

impl PullRequestWatch {
    /// The watch of a pull request that was opened, or pushed to, just now.
    pub fn new(company: CompanyScope, workspace: ExecutionWorkspaceId, now: Timestamp) -> Self {
        Self {
            workspace,
            company: company.company(),
            due_at: now,
            fence: 0,
            attempts: 0,
            validators: Document::new(),
            checks: ChecksState::None,
            head_commit: None,
            drift_due_at: now,
            merged_base: None,
            merged_head: None,
            obstacle: None,
            escalated: false,
            created_at: now,
        }
    }
}

impl Sealed for PullRequestWatch {
    fn identity(&self) -> uuid::Uuid {
        self.workspace.into()
    }
}

impl CompanyOwned for PullRequestWatch {
    fn company(&self) -> CompanyId {
        self.company
    }
}

/// What tells which pull requests something is about. One that meets any of it is
/// meant, in whatever repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PullRequestTraits {
    /// Their numbers.
    pub numbers: Vec<i64>,
    /// Their branches.
    pub branches: Vec<String>,
    /// The newest commit of their branch, in hexadecimal digits.
    pub commit: String,
}
