//! The record of what happened: activity rows for people, events for programs.

use serde::Serialize;

use alloc::string::String;

use crate::Document;
use crate::actor::ActorKind;
use crate::id::{ActivityId, AgentId, CompanyId, RunId};
use crate::string_enum;
use crate::time::Timestamp;

string_enum! {
    /// What was done, as `noun.verb`.
    pub enum Action {
        /// A company was made.
        CompanyCreated = "company.created",
        /// A company's fields changed.
        CompanyUpdated = "company.updated",
        /// A company was archived.
        CompanyArchived = "company.archived",
        /// A company was stopped by the board.
        CompanyPaused = "company.paused",
        /// A company may work again.
        CompanyResumed = "company.resumed",
        /// A company was taken out of the archive.
        CompanyUnarchived = "company.unarchived",
        /// An agent was made.
        AgentCreated = "agent.created",
        /// The board agreed to a draft, which works from then on.
        AgentHired = "agent.hired",
        /// An agent's fields changed.
        AgentUpdated = "agent.updated",
        /// An agent was stopped.
        AgentPaused = "agent.paused",
        /// An agent may run again.
        AgentResumed = "agent.resumed",
        /// An agent was deactivated for good.
        AgentTerminated = "agent.terminated",
        /// An agent without a history was removed.
        AgentDeleted = "agent.deleted",
        /// An agent's configuration was rolled back.
        AgentConfigRolledBack = "agent.config_rolled_back",
        /// The instructions of an agent changed their place or entry file.
        AgentInstructionsUpdated = "agent.instructions_updated",
        /// A file of an agent's instructions was written.
        AgentInstructionsFilePut = "agent.instructions_file_put",
        /// A file of an agent's instructions was deleted.
        AgentInstructionsFileDeleted = "agent.instructions_file_deleted",
        /// Sessions of an agent were forgotten.
        AgentSessionsReset = "agent.sessions_reset",
        /// The board lets it run although its last runs failed.
        AgentWaitLifted = "agent.wait_lifted",
        /// A key was made.
        AgentKeyCreated = "agent.key_created",
        /// A key was revoked.
        AgentKeyRevoked = "agent.key_revoked",
        /// A goal was made.
        GoalCreated = "goal.created",
        /// A goal changed.
        GoalUpdated = "goal.updated",
        /// A goal was deleted.
        GoalDeleted = "goal.deleted",
        /// A project was made.
        ProjectCreated = "project.created",
        /// A project changed.
        ProjectUpdated = "project.updated",
        /// A project was deleted.
        ProjectDeleted = "project.deleted",
        /// A project's conventions changed.
        ConventionsUpdated = "project.conventions_updated",
        /// A project's conventions were summed up.
        ConventionsCompacted = "project.conventions_compacted",
        /// A workspace was added.
        WorkspaceCreated = "project.workspace_created",
        /// A workspace changed.
        WorkspaceUpdated = "project.workspace_updated",
        /// A workspace was removed.
        WorkspaceDeleted = "project.workspace_deleted",
        /// An issue was made.
        IssueCreated = "issue.created",
        /// An issue changed.
        IssueUpdated = "issue.updated",
        /// An issue was checked out.
        IssueCheckedOut = "issue.checked_out",
        /// An issue was released.
        IssueReleased = "issue.released",
        /// An issue was reopened.
        IssueReopened = "issue.reopened",
        /// An issue got a comment.
        IssueCommentAdded = "issue.comment_added",
        /// Somebody reviewed an issue.
        IssueReviewed = "issue.reviewed",
        /// An issue was seen to be stuck.
        IssueStuck = "issue.stuck",
        /// A file was attached to an issue.
        IssueAttachmentAdded = "issue.attachment_added",
        /// A file was taken from an issue.
        IssueAttachmentRemoved = "issue.attachment_removed",
        /// An issue was deleted.
        IssueDeleted = "issue.deleted",
        /// A label was made.
        LabelCreated = "label.created",
        /// A label changed.
        LabelUpdated = "label.updated",
        /// A label was deleted.
        LabelDeleted = "label.deleted",
        /// A cost was recorded.
        CostReported = "cost.reported",
        /// Four fifths of a budget are used.
        BudgetSoftAlert = "budget.soft_alert",
        /// A budget is used up.
        BudgetHardStop = "budget.hard_stop",
        /// A heartbeat was asked for.
        HeartbeatInvoked = "heartbeat.invoked",
        /// A run was asked to stop.
        HeartbeatCancelled = "heartbeat.cancelled",
        /// The agent of a run said how the run ended.
        HeartbeatCompleted = "heartbeat.completed",
        /// A run started.
        HeartbeatStarted = "heartbeat.started",
        /// A run ended.
        HeartbeatFinished = "heartbeat.finished",
        /// An approval was asked for.
        ApprovalCreated = "approval.created",
        /// An approval was granted.
        ApprovalApproved = "approval.approved",
        /// An approval was refused.
        ApprovalRejected = "approval.rejected",
        /// An approval needs a revision.
        ApprovalRevisionRequested = "approval.revision_requested",
        /// An approval was sent again.
        ApprovalResubmitted = "approval.resubmitted",
        /// The board changed what an approval is about.
        ApprovalEdited = "approval.edited",
        /// An approval got a comment.
        ApprovalCommentAdded = "approval.comment_added",
        /// An approval was withdrawn.
        ApprovalCancelled = "approval.cancelled",
        /// The worktree of a ticket cannot be merged or committed, and its agent was
        /// asked to mend it.
        TicketConflict = "ticket.conflict",
        /// The same, after its agent was asked in vain: the board has to look.
        TicketConflictEscalated = "ticket.conflict_escalated",
        /// A ticket whose work has come to its end is not brought before the board
        /// for now.
        TicketAdvancePostponed = "ticket.advance_postponed",
        /// The base branch of a pull request is not merged for now.
        TicketDriftPostponed = "ticket.drift_postponed",
        /// The base branch was merged into a pull request.
        TicketDriftMerged = "ticket.drift_merged",
        /// A ticket got a worktree.
        WorktreeCreated = "worktree.created",
        /// What lay in the worktree of a ticket was committed, or merged with its base branch.
        WorktreeCommitted = "worktree.committed",
        /// The worktree of a ticket was not as it had been made, and was put in order.
        WorktreeRestored = "worktree.restored",
        /// The worktree of a ticket is not in order, and its agent was told.
        WorktreeDisordered = "worktree.disordered",
        /// The worktree of a ticket took over another address of its repository.
        WorktreeAddressChanged = "worktree.address_changed",
        /// The branch of a ticket was pushed.
        WorktreePushed = "worktree.pushed",
        /// A ticket got a pull request.
        PullRequestOpened = "pull_request.opened",
        /// The pull request of a ticket was merged.
        PullRequestMerged = "pull_request.merged",
        /// The pull request of a ticket was closed without a merge.
        PullRequestClosed = "pull_request.closed",
        /// Checks of the pull request of a ticket failed.
        PullRequestChecksFailed = "pull_request.checks_failed",
        /// All checks of the pull request of a ticket passed.
        PullRequestChecksPassed = "pull_request.checks_passed",
        /// The worktree of a ticket that ended is kept: something would be lost.
        WorktreeKept = "worktree.kept",
        /// The worktree of a ticket that ended was removed; its branch is kept.
        WorktreeRemoved = "worktree.removed",
        /// What the board agrees to began to be done outside of the store.
        ApprovalExecutionStarted = "approval.execution_started",
        /// A step of that failed; the approval is undecided still.
        ApprovalExecutionFailed = "approval.execution_failed",
        /// A secret was made.
        SecretCreated = "secret.created",
        /// A secret's name, description or reference changed.
        SecretUpdated = "secret.updated",
        /// A secret got a new version.
        SecretRotated = "secret.rotated",
        /// A secret was deleted.
        SecretDeleted = "secret.deleted",
        /// An old version of a secret was deleted.
        SecretVersionDeleted = "secret.version_deleted",
        /// A wake was kept back because it looks like a loop.
        WakeLoopSuspected = "wake.loop_suspected",
        /// A server has little room on its disks: no run starts there.
        StorageLow = "storage.low",
        /// It has enough again.
        StorageRecovered = "storage.recovered",
    }
}

string_enum! {
    /// The kinds of things that activity and events speak of.
    pub enum Entity {
        /// A company.
        Company = "company",
        /// An agent.
        Agent = "agent",
        /// A goal.
        Goal = "goal",
        /// A project.
        Project = "project",
        /// A workspace of a project.
        Workspace = "workspace",
        /// An issue.
        Issue = "issue",
        /// A label of issues.
        Label = "label",
        /// An approval.
        Approval = "approval",
        /// A cost event.
        CostEvent = "cost_event",
        /// A heartbeat run.
        HeartbeatRun = "heartbeat_run",
        /// A secret.
        Secret = "secret",
    }
}

string_enum! {
    /// The kinds of live events.
    pub enum EventKind {
        /// Any activity row was written.
        ActivityLogged = "activity.logged",
        /// A run was queued.
        RunQueued = "heartbeat.run.queued",
        /// A run changed its status.
        RunStatus = "heartbeat.run.status",
        /// A run wrote output.
        RunLog = "heartbeat.run.log",
        /// An agent changed its status.
        AgentStatus = "agent.status",
        /// An issue changed.
        IssueUpdated = "issue.updated",
        /// An approval changed.
        ApprovalUpdated = "approval.updated",
        /// Four fifths of a budget are used.
        BudgetAlert = "budget.alert",
        /// A budget is used up.
        BudgetHardStop = "budget.hard_stop",
    }
}

/// One row of the activity log: append-only, written in the transaction of
/// what it tells.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    /// Unique id.
    pub id: ActivityId,
    /// The company it belongs to.
    #[serde(rename = "companyId")]
    pub company: CompanyId,
    /// What kind of actor did it.
    #[serde(rename = "actorType")]
    pub actor_kind: ActorKind,
    /// The actor's id or name.
    pub actor_id: String,
    /// The agent, when an agent did it.
    #[serde(rename = "agentId")]
    pub agent: Option<AgentId>,
    /// The run it was done in.
    #[serde(rename = "runId")]
    pub run: Option<RunId>,
    /// What was done.
    pub action: Action,
    /// To what kind of thing.
    #[serde(rename = "entityType")]
    pub entity: Entity,
    /// To which thing.
    pub entity_id: String,
    /// More about it. `changes` tells of each field that changed what it was
    /// and what it became, as `{"title": {"from": "Old", "to": "New"}}`. Of a
    /// value with more than 8 KiB it holds `{"sha256": digest, "bytes": length}`.
    /// What is not for everybody of the company is hidden on both sides.
    pub details: Document,
    /// When.
    pub created_at: Timestamp,
}

/// A live event; its number within the company is given when it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The company it belongs to.
    pub company: CompanyId,
    /// Its kind.
    pub kind: EventKind,
    /// What it tells.
    pub payload: Document,
    /// When.
    pub created_at: Timestamp,
}
