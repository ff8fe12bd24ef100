//! Approvals: ask the board, decide, send again, withdraw, hire
//! (docs/approvals.md).
//!
//! One transaction holds a decision, its entry in the history, its activity and
//! events, its effects on issues and drafts, and the wake of the requester. Work
//! outside of the store, such as a commit or a pull request, is no part of it.

mod cancel;
mod comment;
mod decide;
mod effects;
mod hire;
mod hire_fields;
mod history;
mod links;
mod payload;
mod read;
mod resubmit;
mod review_flags;
mod snapshot;
mod submit;

use serde_json::{Value, json};
use workforce_domain::approval::{Approval, ApprovalEvent, ApprovalStatus};
use workforce_domain::id::{ApprovalId, IssueId};
use workforce_domain::lifecycle::IllegalTransition;
use workforce_domain::port::{Failure, Locked, StoreError, Tx};

pub use cancel::{CANCEL, cancel, draft_terminated, issue_leaves};
pub use comment::{add_comment, comments};
pub use decide::{DECIDE, Decide, approve, reject, request_revision};
pub use hire::{HIRE, HireAgent, Hired, hire};
pub use read::{get, history, issues, list, of_issue};
pub use resubmit::{RESUBMIT, resubmit};
pub use snapshot::{DRAFT_EDITED, draft_edited};
pub use submit::{SUBMIT, SubmitApproval, SubmittedApproval, submit};

use crate::access::{Denied, FieldFault, denied};
use crate::agents::AgentError;
use crate::context::Context;
use crate::issues::IssueError;
use crate::refusal::{Code, Refusal};

/// Why a call about approvals is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApprovalError {
    /// The caller may not, or there is no such approval.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// A field's value breaks a rule.
    #[error(transparent)]
    Field(#[from] FieldFault),
    /// The draft that the approval is about breaks a rule.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// An issue that the approval is about breaks a rule.
    #[error(transparent)]
    Issue(#[from] IssueError),
    /// The approval is decided, or does not wait for such a decision.
    #[error("{refused}")]
    NotPending {
        /// The approval.
        approval: ApprovalId,
        /// Where it stands, and what it can become.
        refused: IllegalTransition<ApprovalStatus>,
    },
    /// It waits for the board and can be sent again only after the board asked
    /// for a change.
    #[error("{refused}")]
    NotInRevision {
        /// The approval.
        approval: ApprovalId,
        /// Where it stands, and what it can become.
        refused: IllegalTransition<ApprovalStatus>,
    },
}

impl Refusal for ApprovalError {
    fn code(&self) -> Code {
        match self {
            Self::Denied(denied) => denied.code(),
            Self::Field(fault) => fault.code(),
            Self::Agent(error) => error.code(),
            Self::Issue(error) => error.code(),
            Self::NotPending { .. } => Code::ApprovalNotPending,
            Self::NotInRevision { .. } => Code::InvalidTransition,
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Denied(denied) => denied.details(),
            Self::Field(fault) => Some(fault.details()),
            Self::Agent(error) => error.details(),
            Self::Issue(error) => error.details(),
            Self::NotPending { approval, refused } | Self::NotInRevision { approval, refused } => {
                Some(json!({
                    "approvalId": approval,
                    "status": refused.from,
                    "allowed": refused.allowed,
                }))
            }
        }
    }
}

/// An approval with what belongs to its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalView {
    /// The approval; its payload shows no secret values.
    pub approval: Approval,
    /// The issues it is linked to, its primary one first.
    pub linked_issues: Vec<IssueId>,
    /// What happened to it, oldest first.
    pub events: Vec<ApprovalEvent>,
    /// What the caller might want to do better next time.
    pub warnings: Vec<&'static str>,
}

/// The approval that a caller names, as it is now, not locked.
fn seen(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ApprovalId,
) -> Result<Approval, Failure<ApprovalError>> {
    tx.approvals()
        .find(ctx.actor().scope(), id)?
        .ok_or_else(|| denied(Denied::NotFound("approval")))
}

/// Locks an approval that was just seen. Its draft and its issues are locked
/// before it.
fn lock(tx: &mut dyn Tx, approval: &Approval) -> Result<Locked<Approval>, Failure<ApprovalError>> {
    use workforce_domain::actor::CompanyOwned;
    tx.approvals_mut()
        .lock(approval.scope().into(), approval.id)?
        .ok_or_else(|| denied(Denied::NotFound("approval")))
}

/// Stores a locked approval that stood in `from`.
fn store(
    tx: &mut dyn Tx,
    approval: &Locked<Approval>,
    from: ApprovalStatus,
) -> Result<(), StoreError> {
    if tx.approvals_mut().transition(approval, &[from])? {
        Ok(())
    } else {
        // Another decision came first: the body runs again and sees it.
        Err(StoreError::Contended)
    }
}

const fn not_pending(
    approval: ApprovalId,
    refused: IllegalTransition<ApprovalStatus>,
) -> Failure<ApprovalError> {
    Failure::Refused(ApprovalError::NotPending { approval, refused })
}

/// Refuses agents other than the one that asked.
fn require_requester(ctx: &Context<'_>, approval: &Approval) -> Result<(), Failure<ApprovalError>> {
    match ctx.agent() {
        Some(caller) if approval.requested_by.agent() != Some(caller.agent) => Err(denied(
            Denied::Forbidden("only the agent that asked, or the board, may do this"),
        )),
        _ => Ok(()),
    }
}
