use alloc::vec::Vec;

use super::{Locked, StoreError};
use crate::actor::{CompanyScope, InstanceScope, Scope};
use crate::agent::Agent;
use crate::approval::{
    Approval, ApprovalComment, ApprovalEvent, ApprovalExecution, ApprovalHistoryEntry,
    ApprovalStanding, ApprovalStatus, ApprovalType, ExecutionStepRecord,
};
use crate::id::{AgentId, ApprovalCommentId, ApprovalEventId, ApprovalId, InstanceId, IssueId};
use crate::issue::Issue;
use crate::page::{CreationKey, Order, Page, PageRequest};
use crate::time::Timestamp;

/// The place of an approval in a list.
pub type ApprovalCursor = CreationKey<ApprovalId>;

/// The place of a comment on an approval in a list.
pub type ApprovalCommentCursor = CreationKey<ApprovalCommentId>;

/// The place of an entry in the history of an approval.
pub type ApprovalHistoryCursor = CreationKey<ApprovalEventId>;

/// Which approvals of a company a list shows. An empty list of values asks for
/// nothing in particular.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovalFilter {
    /// That stand like one of these.
    pub standings: Vec<ApprovalStanding>,
    /// Of one of these types.
    pub types: Vec<ApprovalType>,
}

/// Reads of approvals.
pub trait ApprovalReads {
    /// The approval with this id.
    fn find(&mut self, scope: Scope, id: ApprovalId) -> Result<Option<Approval>, StoreError>;

    /// Approvals of a company, newest first.
    fn list(
        &mut self,
        company: CompanyScope,
        filter: &ApprovalFilter,
        page: &PageRequest<ApprovalCursor>,
    ) -> Result<Page<Approval, ApprovalCursor>, StoreError>;

    /// Approvals that are linked to an issue, newest first.
    fn of_issue(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
        page: &PageRequest<ApprovalId>,
    ) -> Result<Page<Approval, ApprovalId>, StoreError>;

    /// The undecided approvals that are linked to an issue, oldest first.
    fn undecided_linked_to(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Vec<Approval>, StoreError>;

    /// The undecided approval of a type that is about an issue in the first
    /// place; there is one at most.
    fn undecided_primary_for(
        &mut self,
        company: CompanyScope,
        kind: ApprovalType,
        issue: IssueId,
    ) -> Result<Option<Approval>, StoreError>;

    /// The approval that decides on a draft.
    fn find_by_draft(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
    ) -> Result<Option<ApprovalId>, StoreError>;

    /// The draft that an approval decides on.
    fn find_draft(
        &mut self,
        company: CompanyScope,
        approval: ApprovalId,
    ) -> Result<Option<AgentId>, StoreError>;

    /// The issues that approvals are linked to, per approval by id.
    fn links(
        &mut self,
        company: CompanyScope,
        approvals: &[ApprovalId],
    ) -> Result<Vec<(ApprovalId, IssueId)>, StoreError>;

    /// What happened to approvals, oldest first.
    fn history(
        &mut self,
        company: CompanyScope,
        approvals: &[ApprovalId],
    ) -> Result<Vec<ApprovalEvent>, StoreError>;

    /// What happened to an approval with what was submitted, oldest first.
    fn history_of(
        &mut self,
        company: CompanyScope,
        approval: ApprovalId,
        page: &PageRequest<ApprovalHistoryCursor>,
    ) -> Result<Page<ApprovalHistoryEntry, ApprovalHistoryCursor>, StoreError>;

    /// Comments on an approval.
    fn comments(
        &mut self,
        company: CompanyScope,
        approval: ApprovalId,
        order: Order,
        page: &PageRequest<ApprovalCommentCursor>,
    ) -> Result<Page<ApprovalComment, ApprovalCommentCursor>, StoreError>;

    /// The plan approval that still has to be decided and is linked to the
    /// issue or to one of its ancestors; such an issue cannot be worked on.
    fn undecided_blocking(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Option<ApprovalId>, StoreError>;

    /// What approvals did outside of the store, as far as any did.
    fn executions(
        &mut self,
        company: CompanyScope,
        approvals: &[ApprovalId],
    ) -> Result<Vec<ApprovalExecution>, StoreError>;

    /// The steps that these took, in the order in which they began.
    fn execution_steps(
        &mut self,
        company: CompanyScope,
        approvals: &[ApprovalId],
    ) -> Result<Vec<ExecutionStepRecord>, StoreError>;

    /// Executions that no server goes on with any more: their lease expired
    /// before `before`.
    fn abandoned_executions(
        &mut self,
        instance: InstanceScope,
        before: Timestamp,
        limit: usize,
    ) -> Result<Vec<ApprovalExecution>, StoreError>;

    /// Executions whose steps one of these servers takes.
    fn executions_left_by(
        &mut self,
        instance: InstanceScope,
        servers: &[InstanceId],
        limit: usize,
    ) -> Result<Vec<ApprovalExecution>, StoreError>;
}

/// Writes of approvals.
pub trait ApprovalWrites {
    /// Stores a new approval and holds it, with the locked issues it is linked
    /// to, among them its primary one, and with the draft it decides on.
    ///
    /// # Errors
    /// [`StoreError::Contended`] when another undecided approval of its type
    /// became about its issue meanwhile.
    fn insert<'a>(
        &mut self,
        approval: Approval,
        issues: &'a [Locked<Issue>],
        draft: Option<&'a Locked<Agent>>,
    ) -> Result<Locked<Approval>, StoreError>;

    /// Locks an approval.
    fn lock(
        &mut self,
        scope: Scope,
        id: ApprovalId,
    ) -> Result<Option<Locked<Approval>>, StoreError>;

    /// Stores a locked approval on the condition that it still stands in one
    /// of `from`; false when it does not, and then nothing was written. Of two
    /// decisions at the same time one writes.
    fn transition(
        &mut self,
        approval: &Locked<Approval>,
        from: &[ApprovalStatus],
    ) -> Result<bool, StoreError>;

    /// Adds an entry to the history of an approval.
    fn add_event(&mut self, entry: &ApprovalHistoryEntry) -> Result<(), StoreError>;

    /// Stores the execution of a locked approval, in place of any it has.
    fn save_execution(
        &mut self,
        approval: &Locked<Approval>,
        execution: &ApprovalExecution,
    ) -> Result<(), StoreError>;

    /// Stores a step of the execution of a locked approval, in place of the same
    /// step in the same worktree.
    fn save_execution_step(
        &mut self,
        approval: &Locked<Approval>,
        step: &ExecutionStepRecord,
    ) -> Result<(), StoreError>;

    /// Stores a new comment.
    fn add_comment(&mut self, comment: &ApprovalComment) -> Result<(), StoreError>;
}
