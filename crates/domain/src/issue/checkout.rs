//! The decision on a checkout: an issue has one owner, and one run of it works at a time.

use super::lease::Lease;
use super::lifecycle::{IssueStatus, Progress};
use crate::id::{AgentId, ApprovalId, RunId};
use crate::lifecycle::Lifecycle;
use crate::string_enum;
use crate::time::Timestamp;

/// The statuses a checkout expects when the caller names none.
pub const DEFAULT_EXPECTED: [IssueStatus; 3] = [
    IssueStatus::Todo,
    IssueStatus::Backlog,
    IssueStatus::Blocked,
];

/// What is known of the issue.
#[derive(Clone, Copy, Debug)]
pub struct CheckoutFacts<'a> {
    /// Where it stands.
    pub progress: &'a Progress,
    /// The agent it is assigned to.
    pub assignee_agent: Option<AgentId>,
    /// It is assigned to a person.
    pub assignee_is_board: bool,
    /// Its lease; one that has expired counts as none.
    pub lease: Option<&'a Lease>,
    /// An undecided approval that holds the issue back.
    pub approval_pending: Option<ApprovalId>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct CheckoutRequest<'a> {
    /// The agent that is to own the issue.
    pub agent: AgentId,
    /// The run in which it will work; `None` outside of any.
    pub run: Option<RunId>,
    /// The statuses to check out from.
    pub expected: &'a [IssueStatus],
    /// The present.
    pub now: Timestamp,
}

/// What is to be done about a checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutDecision {
    /// The agent owns the issue already: take or renew the lease, nothing
    /// else changes.
    AlreadyOwned,
    /// Assign the issue to the agent, lease it, and store this progress.
    Take {
        /// Where the issue stands then.
        progress: Progress,
    },
    /// Refuse.
    Conflict(CheckoutConflict),
}

string_enum! {
    /// Why an issue cannot be checked out.
    pub enum ConflictReason {
        /// It is assigned to another agent or to a person.
        OtherAssignee = "other_assignee",
        /// Another run, be it of the same agent, is working on it.
        LiveRun = "live_run",
        /// It does not stand where the caller expects it to.
        StatusMismatch = "status_mismatch",
        /// An approval must be decided first.
        ApprovalPending = "approval_pending",
    }
}

/// Why a checkout is refused, with what a caller needs to choose its next
/// step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the issue cannot be checked out: {}", self.sentence())]
pub struct CheckoutConflict {
    /// The first rule that refuses it.
    pub reason: ConflictReason,
    /// Where the issue stands.
    pub status: IssueStatus,
    /// The agent it is assigned to.
    pub assignee_agent: Option<AgentId>,
    /// The agent that holds a live lease.
    pub holder_agent: Option<AgentId>,
    /// The run that holds a live lease.
    pub holder_run: Option<RunId>,
    /// Somebody holds a live lease.
    pub holder_live: bool,
    /// The approval that must be decided first.
    pub approval: Option<ApprovalId>,
}

impl CheckoutConflict {
    const fn sentence(&self) -> &'static str {
        match self.reason {
            ConflictReason::OtherAssignee => "it is assigned to somebody else",
            ConflictReason::LiveRun => "another run is working on it",
            ConflictReason::StatusMismatch => "its status is not one of the expected ones",
            ConflictReason::ApprovalPending => "an approval must be decided first",
        }
    }
}

impl CheckoutFacts<'_> {
    /// Decides the checkout `request`.
    pub fn decide(&self, request: CheckoutRequest<'_>) -> CheckoutDecision {
        let CheckoutRequest {
            agent,
            run,
            expected,
            now,
        } = request;
        let lease = self.lease.filter(|lease| lease.is_live(now));
        let refuse = |reason| {
            CheckoutDecision::Conflict(CheckoutConflict {
                reason,
                status: self.progress.status(),
                assignee_agent: self.assignee_agent,
                holder_agent: lease.map(|lease| lease.holder.agent()),
                holder_run: lease.and_then(|lease| lease.holder.run()),
                holder_live: lease.is_some(),
                approval: self.approval_pending,
            })
        };
        if self.assignee_is_board
            || self
                .assignee_agent
                .is_some_and(|assignee| assignee != agent)
        {
            return refuse(ConflictReason::OtherAssignee);
        }
        if lease.is_some_and(|lease| !lease.held_by(agent, run)) {
            return refuse(ConflictReason::LiveRun);
        }
        if self.assignee_agent.is_some() && self.progress.status() == IssueStatus::InProgress {
            return CheckoutDecision::AlreadyOwned;
        }
        // An ended issue waits for nobody: what keeps it is its status.
        if self.approval_pending.is_some() && !self.progress.status().is_terminal() {
            return refuse(ConflictReason::ApprovalPending);
        }
        match self.progress.check_out(expected, now) {
            Ok(progress) => CheckoutDecision::Take { progress },
            Err(_) => refuse(ConflictReason::StatusMismatch),
        }
    }
}
