//! What a company looks like at a glance.

use crate::time::Timestamp;

/// The instants that the figures of a dashboard are counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cutoffs {
    /// The present instant.
    pub now: Timestamp,
    /// The first instant of the day, in UTC.
    pub today: Timestamp,
    /// The first instant of the day before.
    pub yesterday: Timestamp,
    /// An hour ago.
    pub hour_ago: Timestamp,
}

/// How many agents are in which state. Drafts and terminated ones do not
/// count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentFigures {
    /// Enabled, not running, and their last runs did not fail.
    pub active: i64,
    /// With a live run.
    pub running: i64,
    /// Stopped by the board or a budget.
    pub paused: i64,
    /// Whose last runs failed, as their status shows it.
    pub error: i64,
    /// Had a live run an hour ago.
    pub running_an_hour_ago: i64,
    /// Wakes of all of them that were not worth a run.
    pub suppressed_wakes: i64,
    /// The sum of their monthly limits, in cents.
    pub budget_cents: i64,
}

/// How many issues are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskFigures {
    /// Neither done nor cancelled.
    pub open: i64,
    /// In progress.
    pub in_progress: i64,
    /// In review.
    pub in_review: i64,
    /// Blocked.
    pub blocked: i64,
    /// Done.
    pub done: i64,
    /// Done today.
    pub done_today: i64,
    /// Done the day before.
    pub done_yesterday: i64,
    /// In progress with neither a live run nor anything that happened for an
    /// hour.
    pub stale: i64,
}

/// How many issues of a project or a goal have come how far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IssueTally {
    /// Neither done nor cancelled.
    pub open: i64,
    /// Done.
    pub done: i64,
    /// Cancelled.
    pub cancelled: i64,
}

/// The figures of a company.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DashboardMetrics {
    /// Its agents.
    pub agents: AgentFigures,
    /// Its issues.
    pub tasks: TaskFigures,
    /// Approvals that wait for the board.
    pub pending_approvals: i64,
    /// Wakes that wait for a run.
    pub queue_depth: i64,
}

/// What waits for somebody's attention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Badges {
    /// Approvals that wait for the board.
    pub approvals: i64,
    /// Agents whose last run failed.
    pub failed_runs: i64,
    /// Agents that are stopped by their budget.
    pub budget_stops: i64,
    /// Issues in review that no agent is to review, and of which no approval tells.
    pub in_review: i64,
    /// Issues in `todo`, `in_progress` or `blocked` that are assigned to a member of the board.
    pub assigned: i64,
    /// Issues that are stuck.
    pub stuck: i64,
}
