//! States, each told by an icon, a word and a colour.

use askama::Template;
use askama::filters::HtmlSafe;
use workforce_app::agents::AgentView;
use workforce_domain::adapter_check::CheckStatus;
use workforce_domain::agent::AgentStatus;
use workforce_domain::approval::ApprovalStatus;
use workforce_domain::company::PauseReason;
use workforce_domain::execution_workspace::ChecksState;
use workforce_domain::goal::GoalStatus;
use workforce_domain::issue::{IssueStatus, Priority, StuckReason};
use workforce_domain::project::ProjectStatus;
use workforce_domain::run::RunStatus;
use workforce_domain::wake::WakeReason;

use super::filters;

/// A state. Amber means that a person is wanted, teal is at work, red is stuck or failed, blue
/// waits by itself, green is finished, and grey is nothing to say.
#[derive(Clone, Copy, Template)]
#[template(
    source = r#"<span class="pill {{ class }}">{{ icon|icon }}{{ word }}</span>"#,
    ext = "html"
)]
pub(crate) struct Pill {
    class: &'static str,
    icon: &'static str,
    word: &'static str,
}

impl HtmlSafe for Pill {}

impl Pill {
    /// The word alone.
    pub(crate) const fn word(&self) -> &'static str {
        self.word
    }

    const fn new(class: &'static str, icon: &'static str, word: &'static str) -> Self {
        Self { class, icon, word }
    }

    pub(crate) const fn of_issue(status: IssueStatus) -> Self {
        match status {
            IssueStatus::Backlog => Self::new("", "circle-dashed", "Backlog"),
            IssueStatus::Todo => Self::new("", "circle", "To do"),
            IssueStatus::InProgress => Self::new("p-live", "circle-play", "In progress"),
            IssueStatus::InReview => Self::new("p-wait", "eye", "In review"),
            IssueStatus::Done => Self::new("p-done", "circle-check", "Done"),
            IssueStatus::Blocked => Self::new("p-bad", "ban", "Blocked"),
            IssueStatus::Cancelled => Self::new("", "circle-slash", "Cancelled"),
        }
    }

    pub(crate) const fn of_project(status: ProjectStatus) -> Self {
        match status {
            ProjectStatus::Backlog => Self::new("", "circle-dashed", "Backlog"),
            ProjectStatus::Planned => Self::new("", "circle", "Planned"),
            ProjectStatus::InProgress => Self::new("p-live", "circle-play", "In progress"),
            ProjectStatus::Completed => Self::new("p-done", "circle-check", "Completed"),
            ProjectStatus::Cancelled => Self::new("", "circle-slash", "Cancelled"),
        }
    }

    pub(crate) const fn of_goal(status: GoalStatus) -> Self {
        match status {
            GoalStatus::Planned => Self::new("", "circle", "Planned"),
            GoalStatus::Active => Self::new("p-live", "circle-play", "Active"),
            GoalStatus::Achieved => Self::new("p-done", "circle-check", "Achieved"),
            GoalStatus::Completed => Self::new("p-done", "circle-check", "Completed"),
            GoalStatus::Cancelled => Self::new("", "circle-slash", "Cancelled"),
        }
    }

    pub(crate) const fn of_agent(status: AgentStatus) -> Self {
        match status {
            AgentStatus::Active | AgentStatus::Idle => Self::new("", "circle-dot", "Idle"),
            AgentStatus::Running => Self::new("p-live", "circle-play", "Running"),
            AgentStatus::Paused => Self::new("", "circle-pause", "Paused"),
            AgentStatus::Error => Self::new("p-bad", "circle-x", "Failing"),
            AgentStatus::PendingApproval => Self::new("p-you", "stamp", "Waits for you"),
            AgentStatus::Terminated => Self::new("", "circle-slash", "Terminated"),
        }
    }

    /// The same, with why it is paused where a person is wanted.
    pub(crate) fn of_employee(view: &AgentView) -> Self {
        let pause = view.agent.lifecycle.pause_reason();
        match (view.status, pause) {
            (AgentStatus::Paused, Some(PauseReason::Budget)) => {
                Self::new("p-you", "wallet", "Budget used up")
            }
            (status, _) => Self::of_agent(status),
        }
    }

    pub(crate) const fn of_approval(status: ApprovalStatus) -> Self {
        match status {
            ApprovalStatus::Pending => Self::new("p-you", "stamp", "Waits for you"),
            ApprovalStatus::RevisionRequested => Self::new("p-wait", "hourglass", "To be changed"),
            ApprovalStatus::Approved => Self::new("p-done", "circle-check", "Approved"),
            ApprovalStatus::Rejected => Self::new("", "circle-x", "Rejected"),
            ApprovalStatus::Cancelled => Self::new("", "circle-slash", "Withdrawn"),
        }
    }

    /// What the checks of a pull request say; `None` where there are none.
    pub(crate) const fn of_checks(checks: ChecksState) -> Option<Self> {
        Some(match checks {
            ChecksState::None => return None,
            ChecksState::Pending => Self::new("p-wait", "hourglass", "Running"),
            ChecksState::Passed => Self::new("p-done", "circle-check", "Passed"),
            ChecksState::Failed => Self::new("p-bad", "circle-x", "Failed"),
            ChecksState::Unknown => Self::new("", "circle-dashed", "Not all can be seen"),
        })
    }

    pub(crate) const fn of_check(status: CheckStatus) -> Self {
        match status {
            CheckStatus::Ok => Self::new("p-done bare", "circle-check", "Fine"),
            CheckStatus::Warning => Self::new("p-wait bare", "triangle-alert", "Take care"),
            CheckStatus::Failed => Self::new("p-bad bare", "circle-x", "Failed"),
        }
    }

    pub(crate) const fn of_run(status: RunStatus) -> Self {
        match status {
            RunStatus::Queued => Self::new("p-wait", "hourglass", "Queued"),
            RunStatus::Running => Self::new("p-live", "circle-play", "Running"),
            RunStatus::Succeeded => Self::new("p-done", "circle-check", "Succeeded"),
            RunStatus::Failed => Self::new("p-bad", "circle-x", "Failed"),
            RunStatus::Cancelled => Self::new("", "circle-slash", "Cancelled"),
            RunStatus::TimedOut => Self::new("p-bad", "alarm-clock", "Timed out"),
        }
    }
}

/// The word for a status in a choice.
pub(crate) const fn word(status: IssueStatus) -> &'static str {
    Pill::of_issue(status).word
}

/// Why nothing moves an issue, as a sentence.
pub(crate) const fn why_stuck(reason: StuckReason) -> &'static str {
    match reason {
        StuckReason::Unassigned => "Has no assignee",
        StuckReason::CompanyNotActive => "The company is paused",
        StuckReason::AgentPaused => "Its assignee is paused",
        StuckReason::BudgetExhausted => "A budget is used up",
        StuckReason::SignInRequired => "The program of its assignee is not signed in",
        StuckReason::Blocked => "Blocked by hand; nobody will wake it",
        StuckReason::RunFailed => "Its last run failed, and is not tried again",
        StuckReason::LeftUndone => "Its last run left it undone",
        StuckReason::NotWoken => "No run was ever started for it",
    }
}

/// The word for a priority.
pub(crate) const fn of_priority(priority: Priority) -> &'static str {
    match priority {
        Priority::Critical => "Critical",
        Priority::High => "High",
        Priority::Medium => "Medium",
        Priority::Low => "Low",
    }
}

/// Why an agent was woken, in words.
pub(crate) const fn why_woken(reason: WakeReason) -> &'static str {
    match reason {
        WakeReason::IssueAssigned => "woken by the assignment",
        WakeReason::IssueCommented => "woken by a comment",
        WakeReason::IssueCommentMentioned => "woken by a mention",
        WakeReason::IssueReopenedViaComment => "woken since the issue was taken up again",
        WakeReason::IssueCheckedOut => "woken since the issue was checked out for it",
        WakeReason::ApprovalApproved => "woken by your approval",
        WakeReason::ApprovalRejected => "woken by your rejection",
        WakeReason::ApprovalRevisionRequested => "woken by your request for a change",
        WakeReason::ChildrenCompleted => "woken since the last child ended",
        WakeReason::WorkspaceConflictRecovery => "woken by a conflict in its worktree",
        WakeReason::PullRequestMerged => "woken since its pull request was merged",
        WakeReason::PullRequestClosed => "woken since its pull request was closed",
        WakeReason::PullRequestChecksFailed => "woken since the checks of its pull request failed",
        WakeReason::IssueLeftUndone => "reminded of what was left undone",
        WakeReason::ProcessLostRetry => "tried again after its process was lost",
        WakeReason::ProviderRetry => "tried again after the provider refused",
        WakeReason::BudgetResumed => "woken since there is a budget again",
        WakeReason::HeartbeatTimer => "woken by its timer",
        WakeReason::Manual => "woken by hand",
    }
}
