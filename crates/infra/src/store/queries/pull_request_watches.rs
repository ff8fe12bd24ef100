//! The watches of open pull requests.

use diesel::prelude::*;
use workforce_domain::actor::{CompanyScope, InstanceScope};
use workforce_domain::execution_workspace::{
    ExecutionWorkspace, PullRequestTraits, PullRequestWatch,
};
use workforce_domain::id::ExecutionWorkspaceId;
use workforce_domain::port::{Locked, PullRequestWatchReads, PullRequestWatchWrites, StoreError};
use workforce_domain::time::Timestamp;

use super::super::transaction::Transaction;
use super::execution_workspace_rows::{WatchRow, WorkspaceRow};
use super::page::row_limit;
use super::row::{all, one};
use crate::store::columns::{IdColumn, InstantColumn};
use crate::store::errors::failed;
use crate::store::schema::{execution_workspaces, pull_request_watches};

impl PullRequestWatchReads for Transaction<'_> {
    fn find(
        &mut self,
        company: CompanyScope,
        id: ExecutionWorkspaceId,
    ) -> Result<Option<PullRequestWatch>, StoreError> {
        let row = pull_request_watches::table
            .filter(pull_request_watches::company_id.eq(IdColumn(company.company())))
            .filter(pull_request_watches::workspace_id.eq(IdColumn(id)))
            .select(WatchRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
    }

    fn due(
        &mut self,
        _instance: InstanceScope,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<PullRequestWatch>, StoreError> {
        let rows: Vec<WatchRow> = pull_request_watches::table
            .filter(pull_request_watches::due_at.le(InstantColumn(now)))
            .order((
                pull_request_watches::due_at,
                pull_request_watches::workspace_id,
            ))
            .limit(row_limit(limit))
            .select(WatchRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn due_drifts(
        &mut self,
        _instance: InstanceScope,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<PullRequestWatch>, StoreError> {
        let rows: Vec<WatchRow> = pull_request_watches::table
            .filter(pull_request_watches::drift_due_at.le(InstantColumn(now)))
            .order((
                pull_request_watches::drift_due_at,
                pull_request_watches::workspace_id,
            ))
            .limit(row_limit(limit))
            .select(WatchRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn worktrees_with(
        &mut self,
        _instance: InstanceScope,
        traits: &PullRequestTraits,
        limit: usize,
    ) -> Result<Vec<ExecutionWorkspace>, StoreError> {
        let commit = &traits.commit;
        let rows: Vec<WorkspaceRow> = pull_request_watches::table
            .inner_join(
                execution_workspaces::table.on(execution_workspaces::company_id
                    .eq(pull_request_watches::company_id)
                    .and(execution_workspaces::id.eq(pull_request_watches::workspace_id))),
            )
            .filter(
                execution_workspaces::pull_request_number
                    .eq_any(traits.numbers.iter().copied().map(Some))
                    .or(execution_workspaces::branch
                        .eq_any(&traits.branches)
                        .or(execution_workspaces::pushed_commit.eq(Some(commit)))
                        .or(pull_request_watches::head_commit.eq(Some(commit)))
                        .assume_not_null()),
            )
            .order(pull_request_watches::workspace_id)
            .limit(row_limit(limit))
            .select(WorkspaceRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }
}

impl PullRequestWatchWrites for Transaction<'_> {
    fn save(
        &mut self,
        workspace: &Locked<ExecutionWorkspace>,
        watch: &PullRequestWatch,
    ) -> Result<(), StoreError> {
        let row = WatchRow::from(&PullRequestWatch {
            workspace: workspace.id,
            company: workspace.company,
            ..watch.clone()
        });
        diesel::insert_into(pull_request_watches::table)
            .values(&row)
            .on_conflict(pull_request_watches::workspace_id)
            .do_update()
            .set(&row)
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn end(&mut self, workspace: &Locked<ExecutionWorkspace>) -> Result<(), StoreError> {
        diesel::delete(pull_request_watches::table)
            .filter(pull_request_watches::company_id.eq(IdColumn(workspace.company)))
            .filter(pull_request_watches::workspace_id.eq(IdColumn(workspace.id)))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }
}
