use workforce_domain::approval::{Approval, ApprovalEvent, ExecutionView};
use workforce_domain::id::IssueId;

/// An approval with what belongs to its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalView {
    /// The approval; its payload shows no secret values.
    pub approval: Approval,
    /// The issues it is linked to, its primary one first.
    pub linked_issues: Vec<IssueId>,
    /// What happened to it, oldest first.
    pub events: Vec<ApprovalEvent>,
    /// How far what it asks for outside of the store has come.
    pub execution: Option<ExecutionView>,
    /// What the caller might want to do better next time.
    pub warnings: Vec<&'static str>,
}
