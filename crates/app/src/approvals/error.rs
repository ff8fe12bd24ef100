use serde_json::{Value, json};
use workforce_domain::approval::ApprovalStatus;
use workforce_domain::id::ApprovalId;
use workforce_domain::lifecycle::IllegalTransition;
use workforce_domain::port::Failure;

use crate::access::{Denied, FieldFault};
use crate::agents::AgentError;
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

pub(super) const fn not_pending(
    approval: ApprovalId,
    refused: IllegalTransition<ApprovalStatus>,
) -> Failure<ApprovalError> {
    Failure::Refused(ApprovalError::NotPending { approval, refused })
}
