//! What was done, in words.

use workforce_domain::activity::Action;
use workforce_domain::string_enum::StringEnum as _;

/// What somebody did, before the name of what it was done to. One of no words of its own is told
/// by its name.
pub(crate) fn did(action: Action) -> String {
    match of_people(action)
        .or_else(|| of_work(action))
        .or_else(|| of_runs(action))
        .or_else(|| of_tickets(action))
    {
        Some(words) => words.to_owned(),
        None => in_words(action.as_str()),
    }
}

/// The company, its agents, labels, secrets and money.
const fn of_people(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::CompanyCreated => "founded",
        Action::CompanyUpdated
        | Action::AgentUpdated
        | Action::LabelUpdated
        | Action::SecretUpdated => "changed",
        Action::CompanyArchived => "archived",
        Action::CompanyPaused | Action::AgentPaused => "paused",
        Action::CompanyResumed | Action::AgentResumed => "resumed",
        Action::CompanyUnarchived => "took out of the archive",
        Action::AgentCreated | Action::LabelCreated | Action::SecretCreated => "made",
        Action::AgentHired => "hired",
        Action::AgentTerminated => "terminated",
        Action::AgentDeleted | Action::LabelDeleted | Action::SecretDeleted => "deleted",
        Action::AgentConfigRolledBack => "rolled back the configuration of",
        Action::AgentInstructionsUpdated => "changed the instructions of",
        Action::AgentInstructionsFilePut => "wrote a file of the instructions of",
        Action::AgentInstructionsFileDeleted => "deleted a file of the instructions of",
        Action::AgentSessionsReset => "reset sessions of",
        Action::AgentWaitLifted => "let run again",
        Action::AgentKeyCreated => "made a key of",
        Action::AgentKeyRevoked => "revoked a key of",
        Action::SecretRotated => "rotated",
        Action::SecretVersionDeleted => "deleted an old version of",
        Action::CostReported => "reported",
        Action::BudgetSoftAlert => "warned that four fifths are used of the budget of",
        Action::BudgetHardStop => "saw the budget used up of",
        Action::StorageLow => "saw little room on the disks of the server of",
        Action::StorageRecovered => "saw room again on the disks of the server of",
        _ => return None,
    })
}

/// Goals, projects, issues and approvals.
const fn of_work(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::GoalCreated | Action::ProjectCreated | Action::IssueCreated => "made",
        Action::GoalUpdated | Action::ProjectUpdated | Action::IssueUpdated => "changed",
        Action::GoalDeleted | Action::ProjectDeleted | Action::IssueDeleted => "deleted",
        Action::ConventionsUpdated => "changed the conventions of",
        Action::ConventionsCompacted => "made a short form of the conventions of",
        Action::WorkspaceCreated => "added a workspace to",
        Action::WorkspaceUpdated => "changed a workspace of",
        Action::WorkspaceDeleted => "removed a workspace of",
        Action::IssueCheckedOut => "checked out",
        Action::IssueReleased => "gave back",
        Action::IssueReopened => "reopened",
        Action::IssueCommentAdded | Action::ApprovalCommentAdded => "commented on",
        Action::IssueReviewed => "reviewed",
        Action::IssueStuck => "saw that nothing moves",
        Action::IssueAttachmentAdded => "attached a file to",
        Action::IssueAttachmentRemoved => "removed a file from",
        Action::ApprovalCreated => "asked for",
        Action::ApprovalApproved => "approved",
        Action::ApprovalRejected => "rejected",
        Action::ApprovalRevisionRequested => "asked for a change of",
        Action::ApprovalResubmitted => "sent again",
        Action::ApprovalEdited => "edited",
        Action::ApprovalCancelled => "withdrew",
        Action::ApprovalExecutionStarted => "began to carry out",
        Action::ApprovalExecutionFailed => "failed to carry out",
        _ => return None,
    })
}

const fn of_runs(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::HeartbeatInvoked => "asked for",
        Action::HeartbeatCancelled => "stopped",
        Action::HeartbeatCompleted => "told the outcome of",
        Action::HeartbeatStarted => "started",
        Action::HeartbeatFinished => "saw the end of",
        Action::WakeLoopSuspected => "kept back what looks like a loop of",
        _ => return None,
    })
}

/// Worktrees and pull requests of issues.
const fn of_tickets(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::TicketConflict => "found a conflict in the worktree of",
        Action::TicketConflictEscalated => "found a conflict that stays in the worktree of",
        Action::TicketAdvancePostponed => "postponed the next step of",
        Action::TicketDriftPostponed => "postponed the merge of the base branch into",
        Action::TicketDriftMerged => "merged the base branch into",
        Action::WorktreeCreated => "made a worktree for",
        Action::WorktreeCommitted => "committed the work on",
        Action::WorktreeRestored => "put the worktree in order of",
        Action::WorktreeDisordered => "found the worktree out of order of",
        Action::WorktreeAddressChanged => "changed the address of the repository of",
        Action::WorktreePushed => "pushed the branch of",
        Action::WorktreeKept => "kept the worktree of",
        Action::WorktreeRemoved => "removed the worktree of",
        Action::PullRequestOpened => "opened a pull request for",
        Action::PullRequestMerged => "saw the pull request merged of",
        Action::PullRequestClosed => "saw the pull request closed of",
        Action::PullRequestChecksFailed => "saw checks fail of the pull request of",
        Action::PullRequestChecksPassed => "saw all checks pass of the pull request of",
        _ => return None,
    })
}

/// A code as words: `in_progress` is `in progress`, and `pull_request.opened` is
/// `pull request: opened`.
pub(crate) fn in_words(code: &str) -> String {
    code.replace('.', ": ").replace(['_', '-'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_has_words() {
        for action in Action::ALL {
            let words = did(*action);
            assert!(!words.contains(['.', '_', ':']), "{action:?}: {words}");
        }
        assert_eq!(in_words("pull_request.opened"), "pull request: opened");
    }
}
