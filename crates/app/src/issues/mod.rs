//! Issues: make, read, change, check out, release, comment (docs/issues.md).

mod advance;
mod approval;
mod assignment;
mod candidates;
mod checkout;
mod checkout_by_update;
mod columns;
mod comment;
mod comment_wakes;
mod create;
mod delete;
mod describe;
mod duplicates;
mod governance;
mod hierarchy;
mod labels;
mod parts;
mod read;
mod reassign;
mod release;
mod reviews;
mod status;
mod stuck;
mod submit_review;
mod tally;
mod update;
mod update_command;
mod update_rights;
mod view;
mod working_run;
mod worktree_choice;

use serde_json::{Value, json};
use workforce_domain::agent::Agent;
use workforce_domain::company::PauseReason;
use workforce_domain::issue::{CheckoutConflict, ConflictReason, Issue, IssueRef, IssueStatus};
use workforce_domain::lifecycle::IllegalTransition;
use workforce_domain::port::{Failure, Locked, Reads, Tx};

pub(crate) use advance::{request as request_advance, require_children_ended};
pub(crate) use approval::{complete, remark};
pub(crate) use assignment::{require_stake, wake_for_work};
pub use checkout::{CHECK_OUT, CheckOut, check_out};
pub use columns::{Column, by_status};
pub use comment::{ADD_COMMENT, AddComment, add_comment, comments};
pub use create::{CREATE, CreateIssue, CreatedIssue, create};
pub use delete::delete;
pub(crate) use read::with_leases;
pub use read::{IssueDetail, ParentView, get, id_of, list, search, titles};
pub use release::{RELEASE, release};
pub use status::Rewrite;
pub(crate) use stuck::follow_up;
pub use stuck::{list_stuck, note_stuck};
pub use submit_review::{
    ReviewComment, SUBMIT_REVIEW, SubmitReview, SubmittedReview, submit_review,
};
pub use tally::{count_by_goal, count_by_project};
pub use update::{UPDATE, UpdatedIssue, update};
pub use update_command::UpdateIssue;
pub use view::IssueView;

use crate::access::{Denied, FieldFault};
use crate::context::Context;
use crate::refusal::{Code, Codes, Refusal};

/// Why a call about issues is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IssueError {
    /// The caller may not, or there is no such issue.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// A field's value breaks a rule.
    #[error(transparent)]
    Field(#[from] FieldFault),
    /// The lifecycle has no such move.
    #[error(transparent)]
    Transition(#[from] IllegalTransition<IssueStatus>),
    /// Somebody else has the issue, or it is not in an expected status. Never
    /// to be tried again as it is.
    #[error("{conflict}")]
    Conflict {
        /// The issue.
        issue: workforce_domain::id::IssueId,
        /// Who holds it, and why that is in the way.
        conflict: CheckoutConflict,
    },
    /// A plan over the issue must be decided first
    /// (docs/approvals.md#pending-plans).
    #[error(
        "a plan over the issue waits for the board, so nobody can begin or be given work on it"
    )]
    ApprovalPending {
        /// The approval of the plan.
        approval: workforce_domain::id::ApprovalId,
    },
    /// The project of the issue, or of one above it, demands a plan that the board
    /// approved (docs/issues.md#governed-issues).
    #[error("the project demands a plan that the board has approved; request `approve_issue_plan`")]
    PlanRequired {
        /// The issue that has no approved plan over it.
        issue: workforce_domain::id::IssueId,
        /// The project.
        project: workforce_domain::id::ProjectId,
    },
    /// Parts of the issue are still open.
    #[error("{total} parts of the issue are open")]
    ChildrenOpen {
        /// The issue.
        issue: workforce_domain::id::IssueId,
        /// The first of them, most urgent first.
        children: Vec<OpenChild>,
        /// How many there are.
        total: i64,
    },
    /// Only who holds an issue can release it.
    #[error("you do not hold this issue")]
    NotHolder,
    /// Work in progress needs somebody who does it.
    #[error("an issue in progress needs an assignee")]
    AssigneeRequired,
    /// A run that only answers a mention cannot check out.
    #[error("this run answers a mention: it may read and comment, not check out")]
    ConsultRun,
    /// A paused agent cannot begin work.
    #[error("the agent is paused ({reason})")]
    AgentPaused {
        /// Why it is paused.
        reason: PauseReason,
    },
    /// A budget of the company or of the issue's project is used up.
    #[error(
        "the budget of the company or of the issue's project is used up; the board can raise it"
    )]
    BudgetExhausted,
    /// The issue would lie below itself.
    #[error("an issue cannot lie below itself")]
    Cycle,
    /// The tree of issues would become too deep.
    #[error("issues nest at most {} levels deep", Issue::MAX_DEPTH)]
    TooDeep,
}

/// A part of an issue that is still open.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct OpenChild {
    /// Its id.
    pub id: workforce_domain::id::IssueId,
    /// Its identifier.
    pub identifier: String,
    /// Where it stands.
    pub status: IssueStatus,
}

impl From<Issue> for OpenChild {
    fn from(issue: Issue) -> Self {
        Self {
            id: issue.id,
            status: issue.status(),
            identifier: issue.identifier,
        }
    }
}

impl Refusal for IssueError {
    fn code(&self) -> Code {
        match self {
            Self::Denied(denied) => denied.code(),
            Self::Field(fault) => fault.code(),
            Self::Transition(_) => Code::InvalidTransition,
            Self::Conflict { .. } => Code::CheckoutConflict,
            Self::ApprovalPending { .. } => Code::ApprovalPending,
            Self::PlanRequired { .. } => Code::PlanRequired,
            Self::ChildrenOpen { .. } => Code::ChildrenOpen,
            Self::NotHolder => Code::NotHolder,
            Self::AssigneeRequired => Code::AssigneeRequired,
            Self::ConsultRun => Code::ConsultRun,
            Self::AgentPaused { .. } => Code::AgentPaused,
            Self::BudgetExhausted => Code::BudgetExhausted,
            Self::Cycle => Code::Cycle,
            Self::TooDeep => Code::TooDeep,
        }
    }

    fn details(&self) -> Option<Value> {
        let at = |pointer: &str| Some(json!([{ "pointer": pointer, "message": self.to_string() }]));
        match self {
            Self::Denied(denied) => denied.details(),
            Self::Field(fault) => Some(fault.details()),
            Self::Transition(illegal) => Some(json!({
                "from": illegal.from,
                "to": illegal.to,
                "allowed": illegal.allowed,
            })),
            Self::Conflict { issue, conflict } => Some(json!({
                "issueId": issue,
                "status": conflict.status,
                "assigneeAgentId": conflict.assignee_agent,
                "holderAgentId": conflict.holder_agent,
                "holderRunId": conflict.holder_run,
                "checkoutRunId": conflict.holder_run,
                "holderLive": conflict.holder_live,
                "approvalId": conflict.approval,
                "reason": conflict.reason,
            })),
            Self::ApprovalPending { approval } => Some(json!({
                "approvalId": approval,
                "reason": ConflictReason::ApprovalPending,
            })),
            Self::PlanRequired { issue, project } => Some(json!({
                "issueId": issue,
                "projectId": project,
            })),
            Self::ChildrenOpen {
                issue,
                children,
                total,
            } => Some(json!({ "issueId": issue, "children": children, "total": total })),
            Self::AssigneeRequired => at("/assigneeAgentId"),
            Self::Cycle | Self::TooDeep => at("/parentId"),
            Self::AgentPaused { reason } => Some(json!({ "pauseReason": reason })),
            Self::NotHolder | Self::ConsultRun | Self::BudgetExhausted => None,
        }
    }
}

/// The documents beside an issue are at most so long as JSON, since lists
/// carry them.
const MAX_DOCUMENT: usize = 16 * 1024;

/// The refusals for an issue's parent, project, goal, labels and assignee.
const PLACED: Codes = Codes::of(&[
    Code::ApprovalPending,
    Code::Forbidden,
    Code::InvalidField,
    Code::PlanRequired,
    Code::ReferenceNotFound,
    Code::TooDeep,
]);

/// The issue a caller names, as it is now, not locked.
fn seen(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    issue: &IssueRef,
) -> Result<Issue, Failure<IssueError>> {
    reads
        .issues()
        .find(ctx.actor().scope(), issue)?
        .ok_or_else(|| Denied::NotFound("issue").into())
}

/// Locks the issue a caller names.
fn lock(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &IssueRef,
) -> Result<Locked<Issue>, Failure<IssueError>> {
    tx.issues_mut()
        .lock(ctx.actor().scope(), issue)?
        .ok_or_else(|| Denied::NotFound("issue").into())
}

/// Refuses agents that may not begin work.
const fn require_enabled(agent: &Agent) -> Result<(), IssueError> {
    match agent.lifecycle.pause_reason() {
        Some(reason) => Err(IssueError::AgentPaused { reason }),
        None => Ok(()),
    }
}
