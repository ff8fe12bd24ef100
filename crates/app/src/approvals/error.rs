use serde_json::{Value, json};
use workforce_domain::approval::ApprovalStatus;
use workforce_domain::id::ApprovalId;
use workforce_domain::lifecycle::IllegalTransition;
use workforce_domain::port::{Failure, StepFailure, StepFault};

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
    /// It was changed since the caller saw it.
    #[error("the approval was changed meanwhile; its revision is {current} now")]
    RevisionConflict {
        /// Its revision.
        current: i32,
    },
    /// What it asks for is being done outside of the store.
    #[error("what the approval asks for is being done; wait until it has ended")]
    ExecutionInProgress {
        /// The approval.
        approval: ApprovalId,
    },
    /// Something outside of the store is in the way.
    #[error("{}", .0.message)]
    Step(Box<StepFailure>),
}

impl From<StepFailure> for ApprovalError {
    fn from(failure: StepFailure) -> Self {
        Self::Step(Box::new(failure))
    }
}

/// The code that a step that failed is refused with.
const fn code_of(fault: StepFault) -> Code {
    match fault {
        StepFault::WorkspaceUnavailable => Code::WorkspaceUnavailable,
        StepFault::SourceRepoDirty => Code::SourceRepoDirty,
        StepFault::BaseBranchMissing => Code::BaseBranchMissing,
        StepFault::BranchInUse => Code::BranchInUse,
        StepFault::TicketInUse => Code::TicketInUse,
        StepFault::WorkspaceBusy => Code::WorkspaceBusy,
        StepFault::WorkspaceMissing => Code::WorkspaceMissing,
        StepFault::UnsafeFiles => Code::UnsafeFiles,
        StepFault::GitCommitFailed => Code::GitCommitFailed,
        StepFault::SyncConflict => Code::SyncConflict,
        StepFault::WorkChanged => Code::WorkChanged,
        StepFault::GitPushRejected => Code::GitPushRejected,
        StepFault::GitRemoteFailed => Code::GitRemoteFailed,
        StepFault::GitFailed => Code::GitFailed,
        StepFault::PrCreateFailed => Code::PrCreateFailed,
        StepFault::Interrupted => Code::ServerStopping,
        StepFault::ApprovalNotPending => Code::ApprovalNotPending,
    }
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
            Self::RevisionConflict { .. } => Code::RevisionConflict,
            Self::ExecutionInProgress { .. } => Code::ExecutionInProgress,
            Self::Step(failure) => code_of(failure.fault),
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Denied(denied) => denied.details(),
            Self::Field(fault) => Some(fault.details()),
            Self::Agent(error) => error.details(),
            Self::Issue(error) => error.details(),
            Self::RevisionConflict { current } => Some(json!({ "revision": current })),
            Self::ExecutionInProgress { approval } => Some(json!({ "approvalId": approval })),
            Self::Step(failure) => {
                let mut details = failure.details.clone();
                details.insert("step".to_owned(), json!(failure.step));
                Some(Value::Object(details.into()))
            }
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
