use diesel::prelude::*;
use workforce_domain::actor::{CompanyScope, Scope};
use workforce_domain::budget::BudgetScope;
use workforce_domain::conventions::Conventions;
use workforce_domain::id::{GoalId, ProjectId, WorkspaceId};
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{
    Lock, Locked, ProjectCursor, ProjectReads, ProjectWrites, StoreError,
};
use workforce_domain::project::{GoalLink, Project, Workspace};
use workforce_domain::time::Timestamp;

use super::super::transaction::Transaction;
use super::super::{LoadingMode, for_update};
use super::advisory::advisory_lock;
use super::conventions;
use super::page::{MAX_WHOLE, characters, fetch_limit, page_of, substr};
use super::project_rows::{ProjectRow, WorkspaceRow};
use super::row::{admit, all, exactly_one, in_scope, load_by_ids, one};
use crate::store::columns::{IdColumn, InstantColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{
    budget_alerts, goals, project_goals, project_workspaces, projects, spend_totals,
};

impl ProjectReads for Transaction<'_> {
    fn find(&mut self, scope: Scope, id: ProjectId) -> Result<Option<Project>, StoreError> {
        let query = projects::table.filter(projects::id.eq(IdColumn(id)));
        let row = in_scope!(scope, projects, query, |scoped| scoped
            .select(ProjectRow::as_select())
            .first(self.conn)
            .optional());
        one(row.map_err(failed)?)
    }

    fn find_by_url_key(
        &mut self,
        company: CompanyScope,
        url_key: &str,
    ) -> Result<Option<Project>, StoreError> {
        let row: Option<ProjectRow> = projects::table
            .filter(projects::company_id.eq(IdColumn(company.company())))
            .filter(projects::url_key.eq(url_key))
            .select(ProjectRow::as_select())
            .first(self.conn)
            .optional()
            .map_err(failed)?;
        one(row)
    }

    fn find_all(
        &mut self,
        company: CompanyScope,
        ids: &[ProjectId],
    ) -> Result<Vec<Project>, StoreError> {
        let rows: QueryResult<Vec<ProjectRow>> =
            load_by_ids!(self.conn, projects::id, ids, |has_id| projects::table
                .filter(projects::company_id.eq(IdColumn(company.company())))
                .filter(has_id)
                .select(ProjectRow::as_select()));
        all(rows.map_err(failed)?)
    }

    fn with_budgets(&mut self, company: CompanyScope) -> Result<Vec<ProjectId>, StoreError> {
        let has_budget = projects::budget_monthly_cents
            .gt(0)
            .or(projects::budget_total_cents.gt(0));
        let ids: Vec<IdColumn<ProjectId>> = projects::table
            .filter(projects::company_id.eq(IdColumn(company.company())))
            .filter(has_budget)
            .select(projects::id)
            .load(self.conn)
            .map_err(failed)?;
        Ok(ids.into_iter().map(|id| id.0).collect())
    }

    fn list(
        &mut self,
        company: CompanyScope,
        page: &PageRequest<ProjectCursor>,
    ) -> Result<Page<Project, ProjectCursor>, StoreError> {
        let mut query = projects::table
            .filter(projects::company_id.eq(IdColumn(company.company())))
            .select(ProjectRow::as_select())
            .into_boxed();
        if let Some(after) = page.after {
            let at = InstantColumn(Timestamp::from_micros(after.at));
            query = query.filter(projects::created_at.ge(at)).filter(
                projects::created_at
                    .gt(at)
                    .or(projects::id.gt(IdColumn(after.id))),
            );
        }
        let rows = query
            .order((projects::created_at, projects::id))
            .limit(fetch_limit(page))
            .load_iter::<ProjectRow, LoadingMode>(self.conn)
            .map_err(failed)?;
        page_of(rows, page, |project| CreationKey {
            at: project.created_at.micros(),
            id: project.id,
        })
    }

    fn url_keys(&mut self, company: CompanyScope, stem: &str) -> Result<Vec<String>, StoreError> {
        projects::table
            .filter(projects::company_id.eq(IdColumn(company.company())))
            .filter(substr(projects::url_key, 1, characters(stem)).eq(stem))
            .select(projects::url_key)
            .order(projects::url_key)
            .limit(MAX_WHOLE)
            .load(self.conn)
            .map_err(failed)
    }

    fn goals(
        &mut self,
        company: CompanyScope,
        projects: &[ProjectId],
    ) -> Result<Vec<(ProjectId, GoalLink)>, StoreError> {
        type Link = (IdColumn<ProjectId>, IdColumn<GoalId>, String);
        let project = project_goals::project_id;
        let rows: QueryResult<Vec<Link>> =
            load_by_ids!(self.conn, project, projects, |has_id| project_goals::table
                .inner_join(goals::table)
                .filter(project_goals::company_id.eq(IdColumn(company.company())))
                .filter(has_id)
                .select((
                    project_goals::project_id,
                    project_goals::goal_id,
                    goals::title,
                ))
                .order((
                    project_goals::project_id,
                    project_goals::position,
                    project_goals::goal_id,
                )));
        rows.map_err(failed)?
            .into_iter()
            .map(|(project, id, title)| {
                let title = admit("goal", title)?;
                Ok((project.0, GoalLink { id: id.0, title }))
            })
            .collect()
    }

    fn find_workspace(
        &mut self,
        company: CompanyScope,
        id: WorkspaceId,
    ) -> Result<Option<Workspace>, StoreError> {
        let row = project_workspaces::table
            .filter(project_workspaces::company_id.eq(IdColumn(company.company())))
            .filter(project_workspaces::id.eq(IdColumn(id)))
            .select(WorkspaceRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
    }

    fn workspaces_based_on(
        &mut self,
        company: CompanyScope,
        branch: &str,
    ) -> Result<Vec<Workspace>, StoreError> {
        let is_base = project_workspaces::default_base_branch
            .eq(branch)
            .or(project_workspaces::repo_ref.eq(branch));
        let rows: Vec<WorkspaceRow> = project_workspaces::table
            .filter(project_workspaces::company_id.eq(IdColumn(company.company())))
            .filter(is_base)
            .order(project_workspaces::id)
            .limit(MAX_WHOLE)
            .select(WorkspaceRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn workspaces(
        &mut self,
        company: CompanyScope,
        projects: &[ProjectId],
    ) -> Result<Vec<Workspace>, StoreError> {
        let project = project_workspaces::project_id;
        let rows: QueryResult<Vec<WorkspaceRow>> =
            load_by_ids!(self.conn, project, projects, |has_id| {
                project_workspaces::table
                    .filter(project_workspaces::company_id.eq(IdColumn(company.company())))
                    .filter(has_id)
                    .select(WorkspaceRow::as_select())
                    .order((
                        project_workspaces::project_id,
                        project_workspaces::is_primary.desc(),
                        project_workspaces::created_at,
                        project_workspaces::id,
                    ))
            });
        all(rows.map_err(failed)?)
    }

    fn conventions(
        &mut self,
        company: CompanyScope,
        project: ProjectId,
    ) -> Result<Option<Conventions>, StoreError> {
        conventions::find(self.conn, company, project)
    }
}

/// Takes the primary place of a project from whichever other workspace has it.
fn clear_primary(
    tx: &mut Transaction<'_>,
    project: &Project,
    workspace: &Workspace,
) -> Result<(), StoreError> {
    diesel::update(project_workspaces::table)
        .filter(project_workspaces::company_id.eq(IdColumn(project.company)))
        .filter(project_workspaces::project_id.eq(IdColumn(project.id)))
        .filter(project_workspaces::id.ne(IdColumn(workspace.id)))
        .filter(project_workspaces::is_primary.eq(true))
        .set((
            project_workspaces::is_primary.eq(false),
            project_workspaces::updated_at.eq(InstantColumn(workspace.updated_at)),
        ))
        .execute(tx.conn)
        .map_err(failed)?;
    Ok(())
}

impl ProjectWrites for Transaction<'_> {
    fn lock_url_keys(
        &mut self,
        company: CompanyScope,
        stem: &str,
    ) -> Result<Vec<String>, StoreError> {
        self.locks(Lock::Names, company.company());
        advisory_lock(self.conn, "names of projects", company.company().into()).map_err(failed)?;
        ProjectReads::url_keys(self, company, stem)
    }

    fn insert(&mut self, project: Project) -> Result<Locked<Project>, StoreError> {
        diesel::insert_into(projects::table)
            .values(ProjectRow::from(&project))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(Locked::assume_locked(project))
    }

    fn lock(&mut self, scope: Scope, id: ProjectId) -> Result<Option<Locked<Project>>, StoreError> {
        self.locks(Lock::Project, id);
        let query = projects::table.filter(projects::id.eq(IdColumn(id)));
        let row = in_scope!(scope, projects, query, |scoped| for_update!(
            scoped.select(ProjectRow::as_select())
        )
        .first(self.conn)
        .optional());
        Ok(one(row.map_err(failed)?)?.map(Locked::assume_locked))
    }

    fn save(&mut self, project: &Locked<Project>) -> Result<(), StoreError> {
        diesel::update(projects::table)
            .filter(projects::company_id.eq(IdColumn(project.company)))
            .filter(projects::id.eq(IdColumn(project.id)))
            .set(ProjectRow::from(project.to_store()?))
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)
    }

    fn delete(&mut self, project: Locked<Project>) -> Result<(), StoreError> {
        let project = project.to_store()?;
        let company = IdColumn(project.company);
        // Waits for whoever books a cost on it, so that the total of that is seen below.
        diesel::delete(projects::table)
            .filter(projects::company_id.eq(company))
            .filter(projects::id.eq(IdColumn(project.id)))
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)?;
        // These name it without a reference, so nothing takes them with it.
        let scope = StringEnumColumn(BudgetScope::Project);
        let totals = spend_totals::table
            .filter(spend_totals::company_id.eq(company))
            .filter(spend_totals::scope_type.eq(scope))
            .filter(spend_totals::scope_id.eq(IdColumn(project.id)));
        diesel::delete(totals).execute(self.conn).map_err(failed)?;
        let alerts = budget_alerts::table
            .filter(budget_alerts::company_id.eq(company))
            .filter(budget_alerts::scope_type.eq(scope))
            .filter(budget_alerts::scope_id.eq(IdColumn(project.id)));
        diesel::delete(alerts).execute(self.conn).map_err(failed)?;
        Ok(())
    }

    fn set_goals(&mut self, project: &Locked<Project>, goals: &[GoalId]) -> Result<(), StoreError> {
        let project = project.to_store()?;
        diesel::delete(project_goals::table)
            .filter(project_goals::company_id.eq(IdColumn(project.company)))
            .filter(project_goals::project_id.eq(IdColumn(project.id)))
            .execute(self.conn)
            .map_err(failed)?;
        let links: Vec<_> = (0_i32..)
            .zip(goals)
            .map(|(position, goal)| {
                (
                    project_goals::company_id.eq(IdColumn(project.company)),
                    project_goals::project_id.eq(IdColumn(project.id)),
                    project_goals::goal_id.eq(IdColumn(*goal)),
                    project_goals::position.eq(position),
                )
            })
            .collect();
        diesel::insert_into(project_goals::table)
            .values(links)
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn insert_workspace(
        &mut self,
        project: &Locked<Project>,
        workspace: &Workspace,
    ) -> Result<(), StoreError> {
        let project = project.to_store()?;
        if workspace.is_primary {
            clear_primary(self, project, workspace)?;
        }
        diesel::insert_into(project_workspaces::table)
            .values(WorkspaceRow::from(workspace))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn save_workspace(
        &mut self,
        project: &Locked<Project>,
        workspace: &Workspace,
    ) -> Result<(), StoreError> {
        let project = project.to_store()?;
        if workspace.is_primary {
            clear_primary(self, project, workspace)?;
        }
        diesel::update(project_workspaces::table)
            .filter(project_workspaces::company_id.eq(IdColumn(project.company)))
            .filter(project_workspaces::project_id.eq(IdColumn(project.id)))
            .filter(project_workspaces::id.eq(IdColumn(workspace.id)))
            .set(WorkspaceRow::from(workspace))
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)
    }

    fn delete_workspace(
        &mut self,
        project: &Locked<Project>,
        workspace: WorkspaceId,
    ) -> Result<(), StoreError> {
        let project = project.to_store()?;
        diesel::delete(project_workspaces::table)
            .filter(project_workspaces::company_id.eq(IdColumn(project.company)))
            .filter(project_workspaces::project_id.eq(IdColumn(project.id)))
            .filter(project_workspaces::id.eq(IdColumn(workspace)))
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)
    }

    fn save_conventions(
        &mut self,
        project: &Locked<Project>,
        conventions: &Conventions,
    ) -> Result<(), StoreError> {
        let project = project.to_store()?;
        conventions::save(self.conn, project, conventions)
    }
}
