use workforce_domain::wake::WakeReason;

/// Why an agent was woken, in a sentence.
pub(super) const fn sentence(reason: WakeReason) -> &'static str {
    match reason {
        WakeReason::IssueAssigned => "The issue is assigned to you.",
        WakeReason::IssueCommented => "Somebody commented on your issue.",
        WakeReason::IssueCommentMentioned => "A comment mentions you.",
        WakeReason::IssueReopenedViaComment => "A comment took the issue up again.",
        WakeReason::IssueCheckedOut => "The board checked the issue out for you.",
        WakeReason::ApprovalApproved => "The board agreed to what you asked for.",
        WakeReason::ApprovalRejected => "The board refused what you asked for.",
        WakeReason::ApprovalRevisionRequested => {
            "The board wants a change of what you asked for before it decides."
        }
        WakeReason::ChildrenCompleted => "The last open child of the issue ended.",
        WakeReason::WorkspaceConflictRecovery => {
            "The worktree of the issue's ticket cannot be committed or merged as it is."
        }
        WakeReason::PullRequestMerged => "The pull request of the issue's ticket was merged.",
        WakeReason::PullRequestClosed => {
            "The pull request of the issue's ticket was closed without a merge."
        }
        WakeReason::PullRequestChecksFailed => {
            "Checks of the pull request of the issue's ticket failed."
        }
        WakeReason::IssueLeftUndone => {
            "A run on the issue ended well, but left it undone, and nothing else will move it."
        }
        WakeReason::ProcessLostRetry => "Your last run was lost before it ended.",
        WakeReason::ProviderRetry => "The provider of your model had refused your last run.",
        WakeReason::BudgetResumed => "A budget that had stopped you lets you go on.",
        WakeReason::HeartbeatTimer => "Your timer is due.",
        WakeReason::Manual => "Somebody asked for a run of yours.",
    }
}

/// What a reason asks for beyond the ordinary; `None` where it is nothing.
pub(super) const fn advice(reason: WakeReason) -> Option<&'static str> {
    match reason {
        WakeReason::ApprovalApproved => Some("Go on as it was approved."),
        WakeReason::ApprovalRejected => Some(
            "Do not do what was refused. Find a way that the decision allows, or set the issue to \
`blocked` and say what you need.",
        ),
        WakeReason::ApprovalRevisionRequested => Some(
            "Change what the board asks for and send the approval again. Nothing is approved until the \
board agrees.",
        ),
        WakeReason::ChildrenCompleted => Some(
            "Look at what the children came to. Finish the issue if that is all, or make the \
children that are missing.",
        ),
        WakeReason::WorkspaceConflictRecovery => Some(
            "Mend what the wake tells in the worktree: merge the base branch and solve the conflicts, or \
remove what must not be committed. Commit, and set the issue to `done` again.",
        ),
        WakeReason::PullRequestMerged => Some(
            "The work is in the base branch. See whether anything is to be done because of that; if \
not, there is nothing to do.",
        ),
        WakeReason::PullRequestClosed => Some(
            "Find out why, as far as issues and comments tell, and say in a comment what it means for \
the ticket. Do not open the pull request again by yourself.",
        ),
        WakeReason::PullRequestChecksFailed => Some(
            "The wake names the failed checks. Find out what is wrong. If it is the work of the ticket, \
say so in a comment and set the issue to `todo` to mend it; its end brings the change before \
the board.",
        ),
        WakeReason::IssueLeftUndone => Some(
            "If the issue is yours, see what is left to do: check it out and finish it, or set it \
to `in_review` or `blocked` with a comment that says what it waits for. If it belongs to somebody \
who reports to you, find out what keeps it, and say so, give it to somebody else, or ask the board.",
        ),
        WakeReason::ProcessLostRetry | WakeReason::ProviderRetry => Some(
            "Look first at what your last run left behind, in files and in comments. Do not do it \
twice.",
        ),
        WakeReason::IssueCommented
        | WakeReason::IssueCommentMentioned
        | WakeReason::IssueReopenedViaComment => {
            Some("Read the new comments first, and answer what they ask.")
        }
        WakeReason::IssueAssigned
        | WakeReason::IssueCheckedOut
        | WakeReason::BudgetResumed
        | WakeReason::HeartbeatTimer
        | WakeReason::Manual => None,
    }
}
