//! Wakes: reasons to run an agent, waiting to be answered.

use serde::Serialize;

use alloc::string::String;
use alloc::vec::Vec;

use crate::Document;
use crate::actor::company_owned;
use crate::id::{AgentId, CommentId, CompanyId, IssueId, RunId, WakeId};
use crate::run::{RunKind, WakeStatus};
use crate::string_enum;
use crate::time::Timestamp;

string_enum! {
    /// What kind of thing caused a wake.
    pub enum WakeSource {
        /// The agent's timer.
        Timer = "timer",
        /// Somebody asked for it.
        OnDemand = "on_demand",
        /// An issue was assigned.
        Assignment = "assignment",
        /// Something happened that concerns the agent.
        Automation = "automation",
    }
}

string_enum! {
    /// Why an agent is woken.
    pub enum WakeReason {
        /// An issue was assigned to it.
        IssueAssigned = "issue_assigned",
        /// Somebody commented on its issue.
        IssueCommented = "issue_commented",
        /// A comment mentions it.
        IssueCommentMentioned = "issue_comment_mentioned",
        /// A comment reopened its issue.
        IssueReopenedViaComment = "issue_reopened_via_comment",
        /// The board checked an issue out for it.
        IssueCheckedOut = "issue_checked_out",
        /// Its approval was granted.
        ApprovalApproved = "approval_approved",
        /// Its approval was refused.
        ApprovalRejected = "approval_rejected",
        /// Its approval needs a revision.
        ApprovalRevisionRequested = "approval_revision_requested",
        /// The last open child of its issue ended.
        ChildrenCompleted = "children_completed",
        /// The worktree of its ticket cannot be merged or committed as it is.
        WorkspaceConflictRecovery = "execution_workspace_conflict_recovery",
        /// The pull request of its ticket was merged.
        PullRequestMerged = "pull_request_merged",
        /// The pull request of its ticket was closed without a merge.
        PullRequestClosed = "pull_request_closed",
        /// Checks of the pull request of its ticket failed.
        PullRequestChecksFailed = "pull_request_checks_failed",
        /// A run on the issue ended well, and left it undone.
        IssueLeftUndone = "issue_left_undone",
        /// Its last run was lost with its server.
        ProcessLostRetry = "process_lost_retry",
        /// The provider of its model refused its last run.
        ProviderRetry = "provider_retry",
        /// Its budget was raised or renewed.
        BudgetResumed = "budget_resumed",
        /// Its timer is due.
        HeartbeatTimer = "heartbeat_timer",
        /// Somebody invoked it by hand.
        Manual = "manual",
    }
}

impl WakeReason {
    /// True when somebody said something, which calls for an answer, not for work.
    pub const fn is_talk(self) -> bool {
        matches!(self, Self::IssueCommented | Self::IssueCommentMentioned)
    }
}

/// A wake. At most one is pending per agent and key; whatever else happens
/// meanwhile is added to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = PendingWake))]
#[serde(rename_all = "camelCase")]
pub struct Wake {
    /// Unique id.
    pub id: WakeId,
    /// Its company.
    #[serde(skip)]
    pub company: CompanyId,
    /// The agent to run.
    #[serde(skip)]
    pub agent: AgentId,
    /// The issue it is about.
    #[serde(rename = "issueId")]
    pub issue: Option<IssueId>,
    /// What the run may do.
    pub kind: RunKind,
    /// Where it stands.
    #[serde(skip)]
    pub status: WakeStatus,
    /// What kind of thing caused it first.
    pub source: WakeSource,
    /// Every reason so far, oldest first.
    pub reasons: Vec<WakeReason>,
    /// The comments that caused it, oldest first, at most
    /// [`Wake::MAX_COMMENTS`] of the newest.
    #[serde(skip)]
    pub comments: Vec<CommentId>,
    /// What the caller wants the agent to know.
    #[serde(skip)]
    pub payload: Document,
    /// How many wakes it stands for.
    pub count: i32,
    /// Not to be answered before.
    pub not_before: Timestamp,
    /// The run that will answer it.
    #[serde(rename = "runId")]
    pub run: RunId,
    /// Who asked, when somebody did by hand.
    #[serde(skip)]
    pub requested_by: Option<String>,
    /// Whether the board asked for it, which need not wait until an agent whose
    /// runs failed is tried again.
    #[serde(skip)]
    pub by_board: bool,
    /// Why there is work to do on the issue, the first such reason. The work waits
    /// on while the wake is answered with advice.
    #[serde(skip)]
    pub work: Option<WakeReason>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When something was last added.
    #[serde(skip)]
    pub updated_at: Timestamp,
}

impl Wake {
    /// A wake names at most so many comments: all of a review, and some others.
    pub const MAX_COMMENTS: usize = 128;

    /// The key under which pending wakes of an agent coalesce.
    pub fn key(issue: Option<IssueId>) -> String {
        issue.map_or_else(|| "general".into(), |issue| alloc::format!("issue:{issue}"))
    }
}

company_owned!(Wake, company);
