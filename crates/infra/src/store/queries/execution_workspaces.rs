//! The worktrees of governed tickets.

use diesel::prelude::*;
use workforce_domain::actor::{CompanyScope, InstanceScope, Scope};
use workforce_domain::execution_workspace::{ExecutionWorkspace, TicketAdvance};
use workforce_domain::id::{ExecutionWorkspaceId, InstanceId, IssueId, RunId, WorkspaceId};
use workforce_domain::issue::{Issue, IssueStatus};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{
    ExecutionWorkspaceReads, ExecutionWorkspaceWrites, Lock, Locked, StoreError,
};
use workforce_domain::run::RunStatus;
use workforce_domain::string_enum::StringEnum;
use workforce_domain::time::Timestamp;

use super::super::for_update;
use super::super::transaction::Transaction;
use super::execution_workspace_rows::{READY, REMOVED, WorkspaceRow};
use super::page::{MAX_WHOLE, row_limit};
use super::row::{all, in_scope, one};
use super::ticket_advances;
use crate::store::columns::{IdColumn, InstantColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{execution_workspaces, heartbeat_runs, issues};

/// The statuses of issues that have ended.
fn ended() -> Vec<StringEnumColumn<IssueStatus>> {
    let all = IssueStatus::ALL.iter().copied();
    let ended = all.filter(|status| status.is_terminal());
    ended.map(StringEnumColumn).collect()
}

impl ExecutionWorkspaceReads for Transaction<'_> {
    fn find(
        &mut self,
        scope: Scope,
        id: ExecutionWorkspaceId,
    ) -> Result<Option<ExecutionWorkspace>, StoreError> {
        let query = execution_workspaces::table.filter(execution_workspaces::id.eq(IdColumn(id)));
        let row = in_scope!(scope, execution_workspaces, query, |scoped| scoped
            .select(WorkspaceRow::as_select())
            .first(self.conn)
            .optional());
        one(row.map_err(failed)?)
    }

    fn of_ticket(
        &mut self,
        company: CompanyScope,
        workspace: WorkspaceId,
        ticket_key: &str,
    ) -> Result<Option<ExecutionWorkspace>, StoreError> {
        let row = execution_workspaces::table
            .filter(execution_workspaces::company_id.eq(IdColumn(company.company())))
            .filter(execution_workspaces::project_workspace_id.eq(IdColumn(workspace)))
            .filter(execution_workspaces::ticket_key.eq(ticket_key))
            .select(WorkspaceRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
    }

    fn on_branch(
        &mut self,
        company: CompanyScope,
        workspace: WorkspaceId,
        branch: &str,
    ) -> Result<Option<ExecutionWorkspace>, StoreError> {
        let row = execution_workspaces::table
            .filter(execution_workspaces::company_id.eq(IdColumn(company.company())))
            .filter(execution_workspaces::project_workspace_id.eq(IdColumn(workspace)))
            .filter(execution_workspaces::branch.eq(branch))
            .filter(execution_workspaces::status.ne(REMOVED))
            .select(WorkspaceRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
    }

    fn naming_branch(
        &mut self,
        company: CompanyScope,
        branch: &str,
    ) -> Result<Vec<ExecutionWorkspace>, StoreError> {
        let names = execution_workspaces::branch
            .eq(branch)
            .or(execution_workspaces::base_branch.eq(branch));
        let rows: Vec<WorkspaceRow> = execution_workspaces::table
            .filter(execution_workspaces::company_id.eq(IdColumn(company.company())))
            .filter(names)
            .filter(execution_workspaces::status.ne(REMOVED))
            .order(execution_workspaces::id)
            .limit(MAX_WHOLE)
            .select(WorkspaceRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn owned_by(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Vec<ExecutionWorkspace>, StoreError> {
        let rows: Vec<WorkspaceRow> = execution_workspaces::table
            .filter(execution_workspaces::company_id.eq(IdColumn(company.company())))
            .filter(execution_workspaces::owner_issue_id.eq(IdColumn(issue)))
            .order((execution_workspaces::created_at, execution_workspaces::id))
            .limit(MAX_WHOLE)
            .select(WorkspaceRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn of_workspace(
        &mut self,
        company: CompanyScope,
        workspace: WorkspaceId,
    ) -> Result<Vec<ExecutionWorkspace>, StoreError> {
        let rows: Vec<WorkspaceRow> = execution_workspaces::table
            .filter(execution_workspaces::company_id.eq(IdColumn(company.company())))
            .filter(execution_workspaces::project_workspace_id.eq(IdColumn(workspace)))
            .filter(execution_workspaces::status.ne(REMOVED))
            .order(execution_workspaces::branch)
            .limit(MAX_WHOLE)
            .select(WorkspaceRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn open_ticket_of(
        &mut self,
        company: CompanyScope,
        workspace: WorkspaceId,
    ) -> Result<Option<IssueId>, StoreError> {
        let owners = execution_workspaces::table
            .filter(execution_workspaces::company_id.eq(IdColumn(company.company())))
            .filter(execution_workspaces::project_workspace_id.eq(IdColumn(workspace)))
            .filter(execution_workspaces::status.ne(REMOVED))
            .filter(execution_workspaces::owner_issue_id.is_not_null())
            .select(execution_workspaces::owner_issue_id.assume_not_null());
        let ended = IssueStatus::ALL
            .iter()
            .filter(|status| status.is_terminal());
        let found: Option<IdColumn<IssueId>> = issues::table
            .filter(issues::company_id.eq(IdColumn(company.company())))
            .filter(issues::id.eq_any(owners))
            .filter(issues::status.ne_all(ended.map(|status| StringEnumColumn(*status))))
            .order(issues::id)
            .select(issues::id)
            .first(self.conn)
            .optional()
            .map_err(failed)?;
        Ok(found.map(|id| id.0))
    }

    fn of_run(
        &mut self,
        company: CompanyScope,
        run: RunId,
    ) -> Result<Option<ExecutionWorkspace>, StoreError> {
        let its = heartbeat_runs::table
            .filter(heartbeat_runs::company_id.eq(IdColumn(company.company())))
            .filter(heartbeat_runs::id.eq(IdColumn(run)))
            .select(heartbeat_runs::execution_workspace_id)
            .single_value();
        let row = execution_workspaces::table
            .filter(execution_workspaces::company_id.eq(IdColumn(company.company())))
            .filter(execution_workspaces::id.nullable().eq(its))
            .select(WorkspaceRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
    }

    fn live_run(
        &mut self,
        company: CompanyScope,
        id: ExecutionWorkspaceId,
    ) -> Result<Option<RunId>, StoreError> {
        let run: Option<IdColumn<RunId>> = heartbeat_runs::table
            .filter(heartbeat_runs::company_id.eq(IdColumn(company.company())))
            .filter(heartbeat_runs::execution_workspace_id.eq(IdColumn(id)))
            .filter(heartbeat_runs::status.eq(StringEnumColumn(RunStatus::Running)))
            .select(heartbeat_runs::id)
            .first(self.conn)
            .optional()
            .map_err(failed)?;
        Ok(run.map(|run| run.0))
    }

    fn last_run(
        &mut self,
        company: CompanyScope,
        id: ExecutionWorkspaceId,
    ) -> Result<Option<RunId>, StoreError> {
        let run: Option<IdColumn<RunId>> = heartbeat_runs::table
            .filter(heartbeat_runs::company_id.eq(IdColumn(company.company())))
            .filter(heartbeat_runs::execution_workspace_id.eq(IdColumn(id)))
            .order(heartbeat_runs::id.desc())
            .select(heartbeat_runs::id)
            .first(self.conn)
            .optional()
            .map_err(failed)?;
        Ok(run.map(|run| run.0))
    }

    fn held_before(
        &mut self,
        _instance: InstanceScope,
        before: Timestamp,
        limit: usize,
    ) -> Result<Vec<ExecutionWorkspace>, StoreError> {
        let rows: Vec<WorkspaceRow> = execution_workspaces::table
            .filter(execution_workspaces::held_until.lt(InstantColumn(before)))
            .order((execution_workspaces::held_until, execution_workspaces::id))
            .limit(row_limit(limit))
            .select(WorkspaceRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn held_by(
        &mut self,
        _instance: InstanceScope,
        servers: &[InstanceId],
        limit: usize,
    ) -> Result<Vec<ExecutionWorkspace>, StoreError> {
        let rows: Vec<WorkspaceRow> = execution_workspaces::table
            .filter(execution_workspaces::held_until.is_not_null())
            .filter(execution_workspaces::held_by.eq_any(servers.iter().copied().map(IdColumn)))
            .order((execution_workspaces::held_until, execution_workspaces::id))
            .limit(row_limit(limit))
            .select(WorkspaceRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn advance(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Option<TicketAdvance>, StoreError> {
        ticket_advances::of_issue(self.conn, company, issue)
    }

    fn due_advances(
        &mut self,
        _instance: InstanceScope,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<TicketAdvance>, StoreError> {
        ticket_advances::due(self.conn, now, limit)
    }

    fn open_issue_in(
        &mut self,
        company: CompanyScope,
        id: ExecutionWorkspaceId,
    ) -> Result<Option<IssueId>, StoreError> {
        let issue: Option<IdColumn<IssueId>> = issues::table
            .filter(issues::company_id.eq(IdColumn(company.company())))
            .filter(issues::execution_workspace_id.eq(IdColumn(id)))
            .filter(issues::status.ne_all(ended()))
            .select(issues::id)
            .first(self.conn)
            .optional()
            .map_err(failed)?;
        Ok(issue.map(|issue| issue.0))
    }

    fn to_clean_up(
        &mut self,
        _instance: InstanceScope,
        ended_by: Timestamp,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<ExecutionWorkspace>, StoreError> {
        let ended_by = InstantColumn(ended_by);
        let rows: Vec<WorkspaceRow> = execution_workspaces::table
            .inner_join(
                issues::table.on(issues::company_id
                    .eq(execution_workspaces::company_id)
                    .and(execution_workspaces::owner_issue_id.eq(issues::id.nullable()))),
            )
            .filter(execution_workspaces::status.eq(READY))
            .filter(execution_workspaces::clean_up_after.le(InstantColumn(now)))
            .filter(issues::status.eq_any(ended()))
            .filter(
                issues::completed_at
                    .le(ended_by)
                    .or(issues::cancelled_at.le(ended_by)),
            )
            .order((
                execution_workspaces::clean_up_after,
                execution_workspaces::id,
            ))
            .limit(row_limit(limit))
            .select(WorkspaceRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }
}

impl ExecutionWorkspaceWrites for Transaction<'_> {
    fn insert(
        &mut self,
        workspace: ExecutionWorkspace,
    ) -> Result<Locked<ExecutionWorkspace>, StoreError> {
        diesel::insert_into(execution_workspaces::table)
            .values(WorkspaceRow::from(&workspace))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(Locked::assume_locked(workspace))
    }

    fn lock(
        &mut self,
        scope: Scope,
        id: ExecutionWorkspaceId,
    ) -> Result<Option<Locked<ExecutionWorkspace>>, StoreError> {
        self.locks(Lock::ExecutionWorkspace, id);
        let query = execution_workspaces::table.filter(execution_workspaces::id.eq(IdColumn(id)));
        let row = in_scope!(scope, execution_workspaces, query, |scoped| for_update!(
            scoped.select(WorkspaceRow::as_select())
        )
        .first(self.conn)
        .optional());
        Ok(one(row.map_err(failed)?)?.map(Locked::assume_locked))
    }

    fn save(&mut self, workspace: &Locked<ExecutionWorkspace>) -> Result<(), StoreError> {
        let record = workspace.to_store()?;
        diesel::update(execution_workspaces::table)
            .filter(execution_workspaces::company_id.eq(IdColumn(record.company)))
            .filter(execution_workspaces::id.eq(IdColumn(record.id)))
            .set(WorkspaceRow::from(record))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn save_advance(
        &mut self,
        issue: &Locked<Issue>,
        advance: &TicketAdvance,
    ) -> Result<(), StoreError> {
        ticket_advances::save(self.conn, issue, advance)
    }

    fn end_advance(&mut self, issue: &Locked<Issue>) -> Result<(), StoreError> {
        ticket_advances::end(self.conn, issue)
    }
}
