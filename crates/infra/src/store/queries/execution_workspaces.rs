//! The worktrees of governed tickets.

use diesel::prelude::*;
use workforce_domain::actor::{CompanyScope, InstanceScope, Scope};
use workforce_domain::corrupt::Corrupt;
use workforce_domain::execution_workspace::{
    ExecutionWorkspace, ExecutionWorkspaceStatus, PullRequest, PullRequestState, TicketAdvance,
};
use workforce_domain::id::{CompanyId, ExecutionWorkspaceId, IssueId, RunId, WorkspaceId};
use workforce_domain::issue::Issue;
use workforce_domain::port::{
    ExecutionWorkspaceReads, ExecutionWorkspaceWrites, Lock, Locked, StoreError,
};
use workforce_domain::run::RunStatus;
use workforce_domain::time::Timestamp;

use super::super::for_update;
use super::super::transaction::Transaction;
use super::page::{MAX_WHOLE, row_limit};
use super::row::{Row, all, in_scope, length, one};
use crate::store::columns::{IdColumn, InstantColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{execution_workspaces, heartbeat_runs, ticket_advances};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(
    table_name = execution_workspaces,
    treat_none_as_null = true,
    treat_none_as_default_value = false
)]
struct WorkspaceRow {
    id: IdColumn<ExecutionWorkspaceId>,
    company_id: IdColumn<CompanyId>,
    project_workspace_id: IdColumn<WorkspaceId>,
    ticket_key: String,
    branch: String,
    base_branch: String,
    path: String,
    owner_issue_id: Option<IdColumn<IssueId>>,
    status: StringEnumColumn<ExecutionWorkspaceStatus>,
    repository_url: Option<String>,
    fetch_address: Option<String>,
    push_address: Option<String>,
    base_commit: Option<String>,
    head_commit: Option<String>,
    pushed_commit: Option<String>,
    pull_request_number: Option<i64>,
    pull_request_url: Option<String>,
    pull_request_state: Option<StringEnumColumn<PullRequestState>>,
    conflict_wakes: i32,
    held_until: Option<InstantColumn>,
    created_at: InstantColumn,
    updated_at: InstantColumn,
}

impl Row for WorkspaceRow {
    type Record = ExecutionWorkspace;

    fn weight(&self) -> usize {
        self.branch.len() + self.path.len() + length(self.push_address.as_ref())
    }

    fn restore(self) -> Result<ExecutionWorkspace, Corrupt> {
        let pull_request = match (
            self.pull_request_number,
            self.pull_request_url,
            self.pull_request_state,
        ) {
            (Some(number), Some(url), Some(state)) => Some(PullRequest {
                number,
                url,
                state: state.0,
            }),
            (None, None, None) => None,
            _ => {
                let message = "a part of its pull request is missing";
                return Err(Corrupt::new("execution workspace", message));
            }
        };
        Ok(ExecutionWorkspace {
            id: self.id.0,
            company: self.company_id.0,
            owner: self.owner_issue_id.map(|id| id.0),
            project_workspace: self.project_workspace_id.0,
            ticket_key: self.ticket_key,
            branch: self.branch,
            base_branch: self.base_branch,
            path: self.path,
            status: self.status.0,
            repository_url: self.repository_url,
            fetch_address: self.fetch_address,
            push_address: self.push_address,
            base_commit: self.base_commit,
            head_commit: self.head_commit,
            pushed_commit: self.pushed_commit,
            pull_request,
            conflict_wakes: self.conflict_wakes,
            held_until: self.held_until.map(|at| at.0),
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

impl From<&ExecutionWorkspace> for WorkspaceRow {
    fn from(workspace: &ExecutionWorkspace) -> Self {
        let pull_request = workspace.pull_request.as_ref();
        Self {
            id: IdColumn(workspace.id),
            company_id: IdColumn(workspace.company),
            project_workspace_id: IdColumn(workspace.project_workspace),
            ticket_key: workspace.ticket_key.clone(),
            branch: workspace.branch.clone(),
            base_branch: workspace.base_branch.clone(),
            path: workspace.path.clone(),
            owner_issue_id: workspace.owner.map(IdColumn),
            status: StringEnumColumn(workspace.status),
            repository_url: workspace.repository_url.clone(),
            fetch_address: workspace.fetch_address.clone(),
            push_address: workspace.push_address.clone(),
            base_commit: workspace.base_commit.clone(),
            head_commit: workspace.head_commit.clone(),
            pushed_commit: workspace.pushed_commit.clone(),
            pull_request_number: pull_request.map(|it| it.number),
            pull_request_url: pull_request.map(|it| it.url.clone()),
            pull_request_state: pull_request.map(|it| StringEnumColumn(it.state)),
            conflict_wakes: workspace.conflict_wakes,
            held_until: workspace.held_until.map(InstantColumn),
            created_at: InstantColumn(workspace.created_at),
            updated_at: InstantColumn(workspace.updated_at),
        }
    }
}

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(
    table_name = ticket_advances,
    primary_key(issue_id),
    treat_none_as_null = true,
    treat_none_as_default_value = false
)]
struct AdvanceRow {
    issue_id: IdColumn<IssueId>,
    company_id: IdColumn<CompanyId>,
    attempts: i32,
    not_before: InstantColumn,
    error_code: Option<String>,
    error: Option<String>,
    created_at: InstantColumn,
}

impl Row for AdvanceRow {
    type Record = TicketAdvance;

    fn weight(&self) -> usize {
        length(self.error.as_ref())
    }

    fn restore(self) -> Result<TicketAdvance, Corrupt> {
        Ok(TicketAdvance {
            issue: self.issue_id.0,
            company: self.company_id.0,
            attempts: self.attempts,
            not_before: self.not_before.0,
            error_code: self.error_code,
            error: self.error,
            created_at: self.created_at.0,
        })
    }
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
        let removed = StringEnumColumn(ExecutionWorkspaceStatus::Removed);
        let row = execution_workspaces::table
            .filter(execution_workspaces::company_id.eq(IdColumn(company.company())))
            .filter(execution_workspaces::project_workspace_id.eq(IdColumn(workspace)))
            .filter(execution_workspaces::branch.eq(branch))
            .filter(execution_workspaces::status.ne(removed))
            .select(WorkspaceRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
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

    fn first_ready_of(
        &mut self,
        company: CompanyScope,
        workspace: WorkspaceId,
    ) -> Result<Option<ExecutionWorkspace>, StoreError> {
        let ready = StringEnumColumn(ExecutionWorkspaceStatus::Ready);
        let row = execution_workspaces::table
            .filter(execution_workspaces::company_id.eq(IdColumn(company.company())))
            .filter(execution_workspaces::project_workspace_id.eq(IdColumn(workspace)))
            .filter(execution_workspaces::status.eq(ready))
            .order(execution_workspaces::ticket_key)
            .select(WorkspaceRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
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

    fn advance(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Option<TicketAdvance>, StoreError> {
        let row = ticket_advances::table
            .filter(ticket_advances::company_id.eq(IdColumn(company.company())))
            .filter(ticket_advances::issue_id.eq(IdColumn(issue)))
            .select(AdvanceRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
    }

    fn due_advances(
        &mut self,
        _instance: InstanceScope,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<TicketAdvance>, StoreError> {
        let rows: Vec<AdvanceRow> = ticket_advances::table
            .filter(ticket_advances::not_before.le(InstantColumn(now)))
            .order((ticket_advances::not_before, ticket_advances::issue_id))
            .limit(row_limit(limit))
            .select(AdvanceRow::as_select())
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
        let row = AdvanceRow {
            issue_id: IdColumn(issue.id),
            company_id: IdColumn(issue.company),
            attempts: advance.attempts,
            not_before: InstantColumn(advance.not_before),
            error_code: advance.error_code.clone(),
            error: advance.error.clone(),
            created_at: InstantColumn(advance.created_at),
        };
        diesel::insert_into(ticket_advances::table)
            .values(&row)
            .on_conflict(ticket_advances::issue_id)
            .do_update()
            .set(&row)
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn end_advance(&mut self, issue: &Locked<Issue>) -> Result<(), StoreError> {
        diesel::delete(ticket_advances::table)
            .filter(ticket_advances::company_id.eq(IdColumn(issue.company)))
            .filter(ticket_advances::issue_id.eq(IdColumn(issue.id)))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }
}
