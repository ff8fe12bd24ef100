//! What is done outside of the store for approvals: worktrees, commits, pushes
//! and pull requests.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::pin::Pin;

use serde::Serialize;
use serde_json::Value;

use crate::Document;
use crate::actor::CompanyScope;
use crate::approval::ExecutionStep;
use crate::execution_workspace::{DiffRequest, WorktreeDiff, WorktreeState};
use crate::id::{ApprovalId, ExecutionWorkspaceId, InstanceId, IssueId, WorkspaceId};
use crate::port::StoreError;
use crate::string_enum;

string_enum! {
    /// Why a step of an execution failed.
    pub enum StepFault {
        /// The workspace has no repository that can be used.
        WorkspaceUnavailable = "workspace_unavailable",
        /// The source repository has changes, another branch or an unfinished
        /// merge.
        SourceRepoDirty = "source_repo_dirty",
        /// The base branch does not exist.
        BaseBranchMissing = "base_branch_missing",
        /// The branch is checked out elsewhere.
        BranchInUse = "branch_in_use",
        /// Another issue, or another branch, has the worktree of the ticket.
        TicketInUse = "ticket_in_use",
        /// A run works in the worktree, or another server with the repository.
        WorkspaceBusy = "workspace_busy",
        /// The worktree is gone, or is not what it was.
        WorkspaceMissing = "workspace_missing",
        /// Files that must not be committed.
        UnsafeFiles = "unsafe_files",
        /// Nothing can be committed.
        GitCommitFailed = "git_commit_failed",
        /// The base branch and the branch of the ticket changed the same.
        SyncConflict = "sync_conflict",
        /// The work is not what the board was shown.
        WorkChanged = "work_changed",
        /// The remote refuses the branch.
        GitPushRejected = "git_push_rejected",
        /// The remote cannot be reached, or takes no credentials of ours.
        GitRemoteFailed = "git_remote_failed",
        /// git failed otherwise.
        GitFailed = "git_failed",
        /// The forge does not open the pull request.
        PrCreateFailed = "pr_create_failed",
        /// The server stopped in the midst of a step.
        Interrupted = "interrupted",
        /// The approval was withdrawn, or its issues ended, meanwhile.
        ApprovalNotPending = "approval_not_pending",
    }
}

impl StepFault {
    /// Whether whoever works in a worktree has to mend it, and nothing else helps.
    pub const fn is_for_agent(self) -> bool {
        matches!(
            self,
            Self::SyncConflict | Self::UnsafeFiles | Self::GitCommitFailed
        )
    }
}

/// A step that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepFailure {
    /// Which step.
    pub step: ExecutionStep,
    /// Why, for programs.
    pub fault: StepFault,
    /// Why, for people, without secrets.
    pub message: String,
    /// Facts about it.
    pub details: Document,
}

/// Why an approval was not carried out.
#[derive(Debug)]
pub enum CarryOutError {
    /// A step failed. It is written down.
    Step(Box<StepFailure>),
    /// It was decided meanwhile, or is another attempt's, or was given up.
    Overtaken,
    /// The store or the server failed.
    Store(StoreError),
}

impl From<StoreError> for CarryOutError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// What the board would find if it approved a plan now, for one workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Preflight {
    /// The workspace of the project.
    pub project_workspace_id: WorkspaceId,
    /// The ticket.
    pub ticket_key: String,
    /// The branch that the work would be done on.
    pub branch: String,
    /// The branch that it would be merged into.
    pub base_branch: Option<String>,
    /// Whether the source repository has no changes to files that it tracks, and
    /// no unfinished merge.
    pub clean: bool,
    /// Whether the base branch is checked out in it, or none.
    pub branch_ok: bool,
    /// Whether the base branch exists.
    pub base_exists: bool,
    /// The first changed paths.
    pub changed_paths: Vec<String>,
    /// Why the workspace cannot be used at all.
    pub error: Option<String>,
}

/// The future of a preflight.
pub type PreflightFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Vec<Preflight>, StoreError>> + Send + 'a>>;

/// The future of an execution.
pub type CarryOutFuture<'a> = Pin<Box<dyn Future<Output = Result<(), CarryOutError>> + Send + 'a>>;

/// The future of a look at a worktree.
pub type WorktreeFuture<'a, T> =
    Pin<Box<dyn Future<Output = Result<T, CarryOutError>> + Send + 'a>>;

/// Which work the board lets be pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgreedWork {
    /// What the approval shows, as whoever approves it has seen it.
    Shown,
    /// All that is there. What the approval does not show yet it shows from then on.
    Present,
}

/// Where the remote of a workspace is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteAddresses {
    /// The address that names the repository and its forge.
    pub named: String,
    /// Where is fetched from, by the rules of the source that rewrite addresses.
    pub fetch: String,
    /// Where is pushed to.
    pub push: String,
}

/// Does outside of the store what approvals ask for. Not to be called in a transaction.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait GovernedWork: Send + Sync {
    /// The server that does it.
    fn server(&self) -> InstanceId;

    /// Looks at the source repositories of an undecided plan; nothing is changed.
    fn preflight(&self, company: CompanyScope, approval: ApprovalId) -> PreflightFuture<'_>;

    /// Takes the steps of an execution that was begun, and decides the approval.
    /// It goes to its end when the future is dropped.
    fn carry_out(
        &self,
        company: CompanyScope,
        approval: ApprovalId,
        agreed: AgreedWork,
    ) -> CarryOutFuture<'_>;

    /// Looks at a worktree; nothing is changed and nothing is fetched.
    fn inspect(
        &self,
        company: CompanyScope,
        worktree: ExecutionWorkspaceId,
    ) -> WorktreeFuture<'_, WorktreeState>;

    /// Compares a worktree with its base branch; nothing is changed and nothing is
    /// fetched.
    fn diff(
        &self,
        company: CompanyScope,
        worktree: ExecutionWorkspaceId,
        request: DiffRequest,
    ) -> WorktreeFuture<'_, WorktreeDiff>;

    /// Commits the work of the ticket of an issue and merges its base branch, for
    /// somebody who is about to ask the board for a pull request: what the board is to
    /// be shown of it, one row for each worktree.
    fn sync(&self, company: CompanyScope, issue: IssueId) -> WorktreeFuture<'_, Vec<Value>>;

    /// The addresses that a ticket of a workspace would get now; `None` without a remote.
    fn addresses(
        &self,
        company: CompanyScope,
        workspace: WorkspaceId,
    ) -> WorktreeFuture<'_, Option<RemoteAddresses>>;
}
