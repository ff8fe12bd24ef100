//! What an approval does outside of the store, step by step.

use serde::Serialize;

use alloc::string::String;
use alloc::vec::Vec;

use crate::Document;
use crate::actor::CompanyOwned;
use crate::actor::sealed::Sealed;
use crate::board::BoardMember;
use crate::id::{ApprovalId, CompanyId, ExecutionWorkspaceId, InstanceId};
use crate::lifecycle::Lifecycle;
use crate::string_enum;
use crate::time::Timestamp;

string_enum! {
    /// Where the execution of an approval stands.
    pub enum ExecutionState {
        /// A server takes its steps.
        Executing = "executing",
        /// A step failed, or the server did; approving again goes on there.
        Failed = "failed",
        /// Every step was taken.
        Completed = "completed",
    }
}

impl Lifecycle for ExecutionState {
    const SUBJECT: &'static str = "the execution of an approval";

    fn successors(self) -> &'static [Self] {
        match self {
            Self::Executing => &[Self::Failed, Self::Completed],
            Self::Failed => &[Self::Executing],
            Self::Completed => &[],
        }
    }
}

string_enum! {
    /// A step of an execution.
    pub enum ExecutionStep {
        /// Opens the repository of the workspace and looks whether it is clean.
        Source = "source",
        /// Finds the commit of the base branch.
        Base = "base",
        /// Makes the worktree.
        Worktree = "worktree",
        /// Commits what is not committed yet.
        Commit = "commit",
        /// Merges the base branch.
        Sync = "sync",
        /// Pushes the branch.
        Push = "push",
        /// Finds or opens the pull request.
        PullRequest = "pull_request",
        /// Decides the approval and ends its issues.
        Complete = "complete",
    }
}

/// How far an approval has come outside of the store.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalExecution {
    /// The approval.
    pub approval: ApprovalId,
    /// Its company.
    pub company: CompanyId,
    /// Where it stands.
    pub state: ExecutionState,
    /// The step that is taken, or that failed; the last one when completed.
    pub step: ExecutionStep,
    /// Why the step failed: a stable code.
    pub error_code: Option<String>,
    /// The same for people, without secrets.
    pub error: Option<String>,
    /// Facts about the failure.
    pub details: Document,
    /// How often the board approved.
    pub attempts: i32,
    /// Whether the state of the source repository is disregarded.
    pub forced: bool,
    /// Who approves.
    pub decided_by: BoardMember,
    /// What the board adds to it.
    pub note: Option<String>,
    /// Until when it counts as being executed without a sign of life, and the
    /// worktrees that are pushed from are held for it; absent unless it is executed.
    pub lease_expires_at: Option<Timestamp>,
    /// The server that takes its steps, or took them last.
    pub server: Option<InstanceId>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Sealed for ApprovalExecution {
    fn identity(&self) -> uuid::Uuid {
        self.approval.into()
    }
}

impl CompanyOwned for ApprovalExecution {
    fn company(&self) -> CompanyId {
        self.company
    }
}

impl ApprovalExecution {
    /// True while a server takes its steps.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.state == ExecutionState::Executing
            && self.lease_expires_at.is_some_and(|until| now < until)
    }

    /// True while its steps are this attempt's to take: nobody has given it up, nor
    /// begun another one.
    pub fn is_of(&self, attempt: i32) -> bool {
        self.state == ExecutionState::Executing && self.attempts == attempt
    }
}

/// A step that was begun, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExecutionStepRecord {
    /// The approval.
    #[serde(skip)]
    pub approval: ApprovalId,
    /// Its company.
    #[serde(skip)]
    pub company: CompanyId,
    /// The worktree that it is about.
    #[serde(rename = "executionWorkspaceId")]
    pub workspace: ExecutionWorkspaceId,
    /// Which step.
    pub step: ExecutionStep,
    /// When it was last begun.
    pub begun_at: Timestamp,
    /// When it was done; absent while it is not.
    pub done_at: Option<Timestamp>,
    /// What came of it: `commit`, `branch`, `url`, `number`.
    pub result: Document,
}

/// An execution as the answer about its approval shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExecutionView {
    /// Where it stands.
    pub state: ExecutionState,
    /// The step that is taken, or that failed; the last one when completed.
    pub step: ExecutionStep,
    /// Why the step failed: a stable code.
    pub code: Option<String>,
    /// The same for people.
    pub error: Option<String>,
    /// Facts about the failure.
    pub details: Document,
    /// How often the board approved.
    pub attempts: i32,
    /// Whether the state of the source repository was disregarded.
    pub forced: bool,
    /// What was done so far.
    pub steps: Vec<ExecutionStepRecord>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl ExecutionView {
    /// An execution with its steps.
    pub fn new(execution: ApprovalExecution, steps: Vec<ExecutionStepRecord>) -> Self {
        Self {
            state: execution.state,
            step: execution.step,
            code: execution.error_code,
            error: execution.error,
            details: execution.details,
            attempts: execution.attempts,
            forced: execution.forced,
            steps,
            started_at: execution.started_at,
            updated_at: execution.updated_at,
        }
    }
}
