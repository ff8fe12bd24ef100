//! Mocks of `port/execution_workspaces.rs`.

use alloc::vec::Vec;

use mockall::mock;

use crate::actor::{CompanyScope, InstanceScope, Scope};
use crate::execution_workspace::{ExecutionWorkspace, TicketAdvance};
use crate::id::{ExecutionWorkspaceId, InstanceId, IssueId, RunId, WorkspaceId};
use crate::issue::Issue;
use crate::port::{ExecutionWorkspaceReads, ExecutionWorkspaceWrites, Locked, StoreError};
use crate::time::Timestamp;

mock! {
    pub ExecutionWorkspaces {}

    impl ExecutionWorkspaceReads for ExecutionWorkspaces {
        fn find(
            &mut self,
            scope: Scope,
            id: ExecutionWorkspaceId,
        ) -> Result<Option<ExecutionWorkspace>, StoreError>;
        fn of_ticket(
            &mut self,
            company: CompanyScope,
            workspace: WorkspaceId,
            ticket_key: &str,
        ) -> Result<Option<ExecutionWorkspace>, StoreError>;
        fn on_branch(
            &mut self,
            company: CompanyScope,
            workspace: WorkspaceId,
            branch: &str,
        ) -> Result<Option<ExecutionWorkspace>, StoreError>;
        fn naming_branch(
            &mut self,
            company: CompanyScope,
            branch: &str,
        ) -> Result<Vec<ExecutionWorkspace>, StoreError>;
        fn of_workspace(
            &mut self,
            company: CompanyScope,
            workspace: WorkspaceId,
        ) -> Result<Vec<ExecutionWorkspace>, StoreError>;
        fn owned_by(
            &mut self,
            company: CompanyScope,
            issue: IssueId,
        ) -> Result<Vec<ExecutionWorkspace>, StoreError>;
        fn open_ticket_of(
            &mut self,
            company: CompanyScope,
            workspace: WorkspaceId,
        ) -> Result<Option<IssueId>, StoreError>;
        fn of_run(
            &mut self,
            company: CompanyScope,
            run: RunId,
        ) -> Result<Option<ExecutionWorkspace>, StoreError>;
        fn live_run(
            &mut self,
            company: CompanyScope,
            id: ExecutionWorkspaceId,
        ) -> Result<Option<RunId>, StoreError>;
        fn last_run(
            &mut self,
            company: CompanyScope,
            id: ExecutionWorkspaceId,
        ) -> Result<Option<RunId>, StoreError>;
        fn advance(
            &mut self,
            company: CompanyScope,
            issue: IssueId,
        ) -> Result<Option<TicketAdvance>, StoreError>;
        fn held_before(
            &mut self,
            instance: InstanceScope,
            before: Timestamp,
            limit: usize,
        ) -> Result<Vec<ExecutionWorkspace>, StoreError>;
        fn held_by(
            &mut self,
            instance: InstanceScope,
            servers: &[InstanceId],
            limit: usize,
        ) -> Result<Vec<ExecutionWorkspace>, StoreError>;
        fn due_advances(
            &mut self,
            instance: InstanceScope,
            now: Timestamp,
            limit: usize,
        ) -> Result<Vec<TicketAdvance>, StoreError>;
        fn open_issue_in(
            &mut self,
            company: CompanyScope,
            id: ExecutionWorkspaceId,
        ) -> Result<Option<IssueId>, StoreError>;
        fn to_clean_up(
            &mut self,
            instance: InstanceScope,
            ended_by: Timestamp,
            now: Timestamp,
            limit: usize,
        ) -> Result<Vec<ExecutionWorkspace>, StoreError>;
    }

    impl ExecutionWorkspaceWrites for ExecutionWorkspaces {
        fn insert(
            &mut self,
            workspace: ExecutionWorkspace,
        ) -> Result<Locked<ExecutionWorkspace>, StoreError>;
        fn lock(
            &mut self,
            scope: Scope,
            id: ExecutionWorkspaceId,
        ) -> Result<Option<Locked<ExecutionWorkspace>>, StoreError>;
        fn save(&mut self, workspace: &Locked<ExecutionWorkspace>) -> Result<(), StoreError>;
        fn save_advance(
            &mut self,
            issue: &Locked<Issue>,
            advance: &TicketAdvance,
        ) -> Result<(), StoreError>;
        fn end_advance(&mut self, issue: &Locked<Issue>) -> Result<(), StoreError>;
    }
}
