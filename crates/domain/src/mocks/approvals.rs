//! Mocks of `port/approvals.rs`.

use alloc::vec::Vec;

use mockall::mock;

use crate::actor::{CompanyScope, InstanceScope, Scope};
use crate::agent::Agent;
use crate::approval::{
    Approval, ApprovalComment, ApprovalEvent, ApprovalExecution, ApprovalHistoryEntry,
    ApprovalStatus, ApprovalType, ExecutionStepRecord,
};
use crate::id::{AgentId, ApprovalId, InstanceId, IssueId};
use crate::issue::Issue;
use crate::page::{Order, Page, PageRequest};
use crate::port::{
    ApprovalCommentCursor, ApprovalCursor, ApprovalFilter, ApprovalHistoryCursor, ApprovalReads,
    ApprovalWrites, Locked, StoreError,
};
use crate::time::Timestamp;

mock! {
    pub Approvals {}

    impl ApprovalReads for Approvals {
        fn find(&mut self, scope: Scope, id: ApprovalId) -> Result<Option<Approval>, StoreError>;
        fn list(
            &mut self,
            company: CompanyScope,
            filter: &ApprovalFilter,
            page: &PageRequest<ApprovalCursor>,
        ) -> Result<Page<Approval, ApprovalCursor>, StoreError>;
        fn of_issue(
            &mut self,
            company: CompanyScope,
            issue: IssueId,
            page: &PageRequest<ApprovalId>,
        ) -> Result<Page<Approval, ApprovalId>, StoreError>;
        fn undecided_linked_to(
            &mut self,
            company: CompanyScope,
            issue: IssueId,
        ) -> Result<Vec<Approval>, StoreError>;
        fn undecided_primary_for(
            &mut self,
            company: CompanyScope,
            kind: ApprovalType,
            issue: IssueId,
        ) -> Result<Option<Approval>, StoreError>;
        fn find_by_draft(
            &mut self,
            company: CompanyScope,
            agent: AgentId,
        ) -> Result<Option<ApprovalId>, StoreError>;
        fn find_draft(
            &mut self,
            company: CompanyScope,
            approval: ApprovalId,
        ) -> Result<Option<AgentId>, StoreError>;
        fn links(
            &mut self,
            company: CompanyScope,
            approvals: &[ApprovalId],
        ) -> Result<Vec<(ApprovalId, IssueId)>, StoreError>;
        fn history(
            &mut self,
            company: CompanyScope,
            approvals: &[ApprovalId],
        ) -> Result<Vec<ApprovalEvent>, StoreError>;
        fn history_of(
            &mut self,
            company: CompanyScope,
            approval: ApprovalId,
            page: &PageRequest<ApprovalHistoryCursor>,
        ) -> Result<Page<ApprovalHistoryEntry, ApprovalHistoryCursor>, StoreError>;
        fn comments(
            &mut self,
            company: CompanyScope,
            approval: ApprovalId,
            order: Order,
            page: &PageRequest<ApprovalCommentCursor>,
        ) -> Result<Page<ApprovalComment, ApprovalCommentCursor>, StoreError>;
        fn undecided_blocking(
            &mut self,
            company: CompanyScope,
            issue: IssueId,
        ) -> Result<Option<ApprovalId>, StoreError>;
        fn executions(
            &mut self,
            company: CompanyScope,
            approvals: &[ApprovalId],
        ) -> Result<Vec<ApprovalExecution>, StoreError>;
        fn execution_steps(
            &mut self,
            company: CompanyScope,
            approvals: &[ApprovalId],
        ) -> Result<Vec<ExecutionStepRecord>, StoreError>;
        fn abandoned_executions(
            &mut self,
            instance: InstanceScope,
            before: Timestamp,
            limit: usize,
        ) -> Result<Vec<ApprovalExecution>, StoreError>;
        fn executions_left_by(
            &mut self,
            instance: InstanceScope,
            servers: &[InstanceId],
            limit: usize,
        ) -> Result<Vec<ApprovalExecution>, StoreError>;
    }

    impl ApprovalWrites for Approvals {
        fn insert<'a>(
            &mut self,
            approval: Approval,
            issues: &'a [Locked<Issue>],
            draft: Option<&'a Locked<Agent>>,
        ) -> Result<Locked<Approval>, StoreError>;
        fn lock(
            &mut self,
            scope: Scope,
            id: ApprovalId,
        ) -> Result<Option<Locked<Approval>>, StoreError>;
        fn transition(
            &mut self,
            approval: &Locked<Approval>,
            from: &[ApprovalStatus],
        ) -> Result<bool, StoreError>;
        fn add_event(&mut self, entry: &ApprovalHistoryEntry) -> Result<(), StoreError>;
        fn save_execution(
            &mut self,
            approval: &Locked<Approval>,
            execution: &ApprovalExecution,
        ) -> Result<(), StoreError>;
        fn save_execution_step(
            &mut self,
            approval: &Locked<Approval>,
            step: &ExecutionStepRecord,
        ) -> Result<(), StoreError>;
        fn add_comment(&mut self, comment: &ApprovalComment) -> Result<(), StoreError>;
    }
}
