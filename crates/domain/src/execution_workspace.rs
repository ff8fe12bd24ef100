//! Execution workspaces: the worktrees in which governed tickets are worked on.

mod state;
mod watch;

pub use state::*;
pub use watch::*;

use serde::Serialize;

use alloc::string::String;

use crate::actor::sealed::Sealed;
use crate::actor::{CompanyOwned, company_owned};
use crate::id::{CompanyId, ExecutionWorkspaceId, InstanceId, IssueId, WorkspaceId};
use crate::string_enum;
use crate::string_enum::StringEnum as _;
use crate::time::Timestamp;

string_enum! {
    /// Where an execution workspace stands.
    pub enum ExecutionWorkspaceStatus {
        /// Its worktree is being made, or that failed and may be tried again.
        Provisioning = "provisioning",
        /// Its worktree can be worked in.
        Ready = "ready",
        /// Its worktree is gone; the branch is kept.
        Removed = "removed",
    }
}

string_enum! {
    /// Where a pull request stands at its forge.
    pub enum PullRequestState {
        /// Waiting to be merged.
        Open = "open",
        /// Merged.
        Merged = "merged",
        /// Closed without a merge.
        Closed = "closed",
    }
}

/// A pull request at a forge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PullRequest {
    /// Its number in the repository.
    pub number: i64,
    /// Its address for people.
    pub url: String,
    /// Where it stands.
    pub state: PullRequestState,
}

/// The worktree of one ticket in one workspace of a project. All that git is
/// told about the ticket comes from this record, never from a payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ExecutionWorkspaceRecord))]
#[serde(rename_all = "camelCase")]
pub struct ExecutionWorkspace {
    /// Unique id.
    pub id: ExecutionWorkspaceId,
    /// Its company.
    #[serde(rename = "companyId")]
    pub company: CompanyId,
    /// The issue whose plan was approved; absent once that is deleted.
    #[serde(rename = "ownerIssueId")]
    pub owner: Option<IssueId>,
    /// The workspace of the project whose repository it belongs to.
    #[serde(rename = "projectWorkspaceId")]
    pub project_workspace: WorkspaceId,
    /// The ticket; one worktree exists per ticket and workspace.
    pub ticket_key: String,
    /// The branch of the ticket.
    pub branch: String,
    /// The branch that the work is merged into.
    pub base_branch: String,
    /// Where the worktree lies, below the folder of all worktrees.
    #[serde(skip)]
    pub path: String,
    /// Where it stands.
    pub status: ExecutionWorkspaceStatus,
    /// The address of the repository, which names its forge, as it was when the
    /// worktree was made; absent for a repository without a remote.
    pub repository_url: Option<String>,
    /// Where its base branch is fetched from: that address, after the rules of the
    /// source repository that rewrite addresses.
    #[serde(skip)]
    pub fetch_address: Option<String>,
    /// Where its branch is pushed to.
    #[serde(skip)]
    pub push_address: Option<String>,
    /// The commit that the branch started from.
    pub base_commit: Option<String>,
    /// The last commit of the branch that workforce made or pushed.
    pub head_commit: Option<String>,
    /// The commit of the branch that its remote has.
    pub pushed_commit: Option<String>,
    /// Its pull request.
    pub pull_request: Option<PullRequest>,
    /// How often the assignee was woken to solve a conflict with the base
    /// branch, since the last time that they agreed.
    pub conflict_wakes: i32,
    /// No run begins to work in it before then: workforce itself commits and merges
    /// there.
    #[serde(skip)]
    pub held_until: Option<Timestamp>,
    /// The server that does so, while it is held.
    #[serde(skip)]
    pub held_by: Option<InstanceId>,
    /// Its folder is looked at no earlier once its ticket has ended, to be removed.
    #[serde(skip)]
    pub clean_up_after: Timestamp,
    /// Why its folder was kept although its ticket ended long ago, as a stable code.
    pub kept_because: Option<String>,
    /// What was not in order when a run last began to work there, and could not be put in order
    /// without a loss.
    pub disorder: Option<WorktreeDisorder>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

company_owned!(ExecutionWorkspace, company);

impl ExecutionWorkspace {
    /// A plan makes at most so many.
    pub const MAX_PER_PLAN: usize = 10;

    /// The assignee is woken at most so often to solve a conflict with the base
    /// branch; then the board is told.
    pub const MAX_CONFLICT_WAKES: i32 = 2;

    /// Where the worktree of a ticket lies, below the folder of all worktrees.
    pub fn path_of(company: CompanyId, workspace: WorkspaceId, ticket_key: &str) -> String {
        let slug = ticket_key.to_ascii_lowercase();
        alloc::format!("{company}/{workspace}/{slug}/repo")
    }
}

string_enum! {
    /// What an agent may leave in a worktree that is not as it was made.
    pub enum WorktreeDisorder {
        /// Another branch is checked out.
        OffBranch = "off_branch",
        /// A commit is checked out, and no branch.
        DetachedHead = "detached_head",
        /// A merge, rebase or the like was not ended.
        OperationInProgress = "operation_in_progress",
        /// The branch does not have any more what it had.
        BranchReset = "branch_reset",
        /// The branch was deleted, or has another name.
        BranchDeleted = "branch_deleted",
        /// The file that makes the folder a worktree was replaced.
        GitFileReplaced = "git_file_replaced",
        /// A git that was killed left its lock.
        LeftLock = "left_lock",
    }
}

/// What was found in a worktree before a run began to work there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeFinding {
    /// What.
    pub disorder: WorktreeDisorder,
    /// Whether it is in order again. Otherwise something would have been lost, and nothing was
    /// touched.
    pub is_mended: bool,
    /// The branch, commit, operation or folder that it is about.
    pub detail: Option<String>,
}

impl WorktreeFinding {
    /// How a worktree stands by all that was found there: `in_order`, `restored` when all of it is
    /// in order again, else what is not.
    pub fn state_of(findings: &[Self]) -> &'static str {
        let left = findings.iter().find(|finding| !finding.is_mended);
        match left {
            Some(left) => left.disorder.as_str(),
            None if findings.is_empty() => "in_order",
            None => "restored",
        }
    }
}

/// A ticket whose work has come to its end: it is committed and brought up to its
/// base branch, and then the board is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketAdvance {
    /// The issue that the ticket belongs to.
    pub issue: IssueId,
    /// Its company.
    pub company: CompanyId,
    /// How often it failed.
    pub attempts: i32,
    /// It is tried no earlier.
    pub not_before: Timestamp,
    /// Why it failed last: a stable code.
    pub error_code: Option<String>,
    /// The same for people.
    pub error: Option<String>,
    /// When it was asked for.
    pub created_at: Timestamp,
}

impl Sealed for TicketAdvance {
    fn identity(&self) -> uuid::Uuid {
        self.issue.into()
    }
}

impl CompanyOwned for TicketAdvance {
    fn company(&self) -> CompanyId {
        self.company
    }
}
