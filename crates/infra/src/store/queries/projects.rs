use diesel::prelude::*;
use workforce_domain::Document;
use workforce_domain::actor::{CompanyScope, Scope};
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{AgentId, CompanyId, GoalId, ProjectId, WorkspaceId};
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{Held, ProjectKey, ProjectReads, ProjectWrites, StoreError};
use workforce_domain::project::{GoalLink, Project, ProjectStatus, Workspace, WorkspaceSource};
use workforce_domain::text::{Description, Label, Location, Name, Title};
use workforce_domain::time::Timestamp;

use super::super::transaction::Transaction;
use super::super::{LoadingMode, held};
use super::page::{MAX_WHOLE, characters, fetch_limit, page_of, substr};
use super::row::{Row, admit, admit_some, all, exactly_one, in_scope, length, one};
use crate::store::columns::{IdColumn, InstantColumn, JsonColumn, WordColumn};
use crate::store::errors::failed;
use crate::store::schema::{goals, project_goals, project_workspaces, projects};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = projects, treat_none_as_null = true, treat_none_as_default_value = false)]
struct ProjectRow {
    id: IdColumn<ProjectId>,
    company_id: IdColumn<CompanyId>,
    name: String,
    url_key: String,
    description: Option<String>,
    status: WordColumn<ProjectStatus>,
    lead_agent_id: Option<IdColumn<AgentId>>,
    target_date: Option<InstantColumn>,
    color: Option<String>,
    review_required: bool,
    archived_at: Option<InstantColumn>,
    created_at: InstantColumn,
    updated_at: InstantColumn,
}

impl Row for ProjectRow {
    type Record = Project;

    fn weight(&self) -> usize {
        length(self.description.as_ref())
    }

    fn restore(self) -> Result<Project, Corrupt> {
        const KIND: &str = "project";
        Ok(Project {
            id: self.id.0,
            company: self.company_id.0,
            name: admit(KIND, &self.name, Name::new)?,
            url_key: self.url_key,
            description: admit_some(KIND, self.description.as_deref(), Description::new)?,
            status: self.status.0,
            lead_agent: self.lead_agent_id.map(|id| id.0),
            target_date: self.target_date.map(|at| at.0),
            color: admit_some(KIND, self.color.as_deref(), Label::new)?,
            review_required: self.review_required,
            archived_at: self.archived_at.map(|at| at.0),
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

impl From<&Project> for ProjectRow {
    fn from(project: &Project) -> Self {
        Self {
            id: IdColumn(project.id),
            company_id: IdColumn(project.company),
            name: project.name.to_string(),
            url_key: project.url_key.clone(),
            description: project.description.as_ref().map(ToString::to_string),
            status: WordColumn(project.status),
            lead_agent_id: project.lead_agent.map(IdColumn),
            target_date: project.target_date.map(InstantColumn),
            color: project.color.as_ref().map(ToString::to_string),
            review_required: project.review_required,
            archived_at: project.archived_at.map(InstantColumn),
            created_at: InstantColumn(project.created_at),
            updated_at: InstantColumn(project.updated_at),
        }
    }
}

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(
    table_name = project_workspaces,
    treat_none_as_null = true,
    treat_none_as_default_value = false
)]
struct WorkspaceRow {
    id: IdColumn<WorkspaceId>,
    company_id: IdColumn<CompanyId>,
    project_id: IdColumn<ProjectId>,
    name: String,
    cwd: Option<String>,
    repo_url: Option<String>,
    repo_ref: Option<String>,
    default_base_branch: Option<String>,
    is_primary: bool,
    metadata: JsonColumn<Document>,
    created_at: InstantColumn,
    updated_at: InstantColumn,
}

impl Row for WorkspaceRow {
    type Record = Workspace;

    fn weight(&self) -> usize {
        length(self.cwd.as_ref()) + length(self.repo_url.as_ref())
    }

    fn restore(self) -> Result<Workspace, Corrupt> {
        const KIND: &str = "workspace";
        let cwd = admit_some(KIND, self.cwd.as_deref(), Location::new)?;
        let repo_url = admit_some(KIND, self.repo_url.as_deref(), Location::new)?;
        Ok(Workspace {
            id: self.id.0,
            company: self.company_id.0,
            project: self.project_id.0,
            name: admit(KIND, &self.name, Name::new)?,
            source: WorkspaceSource::new(cwd, repo_url)
                .ok_or_else(|| Corrupt::new(KIND, "it has neither directory nor repository"))?,
            repo_ref: admit_some(KIND, self.repo_ref.as_deref(), Label::new)?,
            default_base_branch: admit_some(
                KIND,
                self.default_base_branch.as_deref(),
                Label::new,
            )?,
            is_primary: self.is_primary,
            metadata: self.metadata.0,
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

impl From<&Workspace> for WorkspaceRow {
    fn from(workspace: &Workspace) -> Self {
        Self {
            id: IdColumn(workspace.id),
            company_id: IdColumn(workspace.company),
            project_id: IdColumn(workspace.project),
            name: workspace.name.to_string(),
            cwd: workspace.source.cwd().map(ToString::to_string),
            repo_url: workspace.source.repo_url().map(ToString::to_string),
            repo_ref: workspace.repo_ref.as_ref().map(ToString::to_string),
            default_base_branch: workspace.default_base_branch.as_ref().map(ToString::to_string),
            is_primary: workspace.is_primary,
            metadata: JsonColumn(workspace.metadata.clone()),
            created_at: InstantColumn(workspace.created_at),
            updated_at: InstantColumn(workspace.updated_at),
        }
    }
}

impl ProjectReads for Transaction<'_> {
    fn find(&mut self, scope: Scope, id: ProjectId) -> Result<Option<Project>, StoreError> {
        let query = projects::table.filter(projects::id.eq(IdColumn(id)));
        let row = in_scope!(scope, projects, query, |query| query
            .select(ProjectRow::as_select())
            .first(self.conn)
            .optional());
        one(row.map_err(failed)?)
    }

    fn find_all(
        &mut self,
        company: CompanyScope,
        ids: &[ProjectId],
    ) -> Result<Vec<Project>, StoreError> {
        let ids: Vec<_> = ids.iter().copied().map(IdColumn).collect();
        let rows: Vec<ProjectRow> = projects::table
            .filter(projects::company_id.eq(IdColumn(company.company())))
            .filter(projects::id.eq_any(ids))
            .select(ProjectRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn list(
        &mut self,
        company: CompanyScope,
        page: &PageRequest<ProjectKey>,
    ) -> Result<Page<Project, ProjectKey>, StoreError> {
        let mut query = projects::table
            .filter(projects::company_id.eq(IdColumn(company.company())))
            .select(ProjectRow::as_select())
            .into_boxed();
        if let Some(after) = page.after {
            let at = InstantColumn(Timestamp::from_micros(after.at));
            query = query
                .filter(projects::created_at.ge(at))
                .filter(projects::created_at.gt(at).or(projects::id.gt(IdColumn(after.id))));
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
        let ids: Vec<_> = projects.iter().copied().map(IdColumn).collect();
        let rows: Vec<(IdColumn<ProjectId>, IdColumn<GoalId>, String)> = project_goals::table
            .inner_join(goals::table)
            .filter(project_goals::company_id.eq(IdColumn(company.company())))
            .filter(project_goals::project_id.eq_any(ids))
            .select((project_goals::project_id, project_goals::goal_id, goals::title))
            .order((project_goals::project_id, project_goals::position, project_goals::goal_id))
            .load(self.conn)
            .map_err(failed)?;
        rows.into_iter()
            .map(|(project, id, title)| {
                let title = admit("goal", &title, Title::new)?;
                Ok((project.0, GoalLink { id: id.0, title }))
            })
            .collect()
    }

    fn workspaces(
        &mut self,
        company: CompanyScope,
        projects: &[ProjectId],
    ) -> Result<Vec<Workspace>, StoreError> {
        let ids: Vec<_> = projects.iter().copied().map(IdColumn).collect();
        let rows: Vec<WorkspaceRow> = project_workspaces::table
            .filter(project_workspaces::company_id.eq(IdColumn(company.company())))
            .filter(project_workspaces::project_id.eq_any(ids))
            .select(WorkspaceRow::as_select())
            .order((
                project_workspaces::project_id,
                project_workspaces::is_primary.desc(),
                project_workspaces::created_at,
                project_workspaces::id,
            ))
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }
}

/// Takes the primary place of a project from whichever other workspace has it.
fn clear_primary(
    tx: &mut Transaction<'_>,
    project: &Held<Project>,
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
    fn insert(&mut self, project: &Project) -> Result<(), StoreError> {
        diesel::insert_into(projects::table)
            .values(ProjectRow::from(project))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn lock(&mut self, scope: Scope, id: ProjectId) -> Result<Option<Held<Project>>, StoreError> {
        let query = projects::table.filter(projects::id.eq(IdColumn(id)));
        let row = in_scope!(scope, projects, query, |query| held!(
            query.select(ProjectRow::as_select())
        )
        .first(self.conn)
        .optional());
        Ok(one(row.map_err(failed)?)?.map(Held::locked))
    }

    fn save(&mut self, project: &Held<Project>) -> Result<(), StoreError> {
        diesel::update(projects::table)
            .filter(projects::company_id.eq(IdColumn(project.company)))
            .filter(projects::id.eq(IdColumn(project.id)))
            .set(ProjectRow::from(&**project))
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)
    }

    fn set_goals(&mut self, project: &Held<Project>, goals: &[GoalId]) -> Result<(), StoreError> {
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
        project: &Held<Project>,
        workspace: &Workspace,
    ) -> Result<(), StoreError> {
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
        project: &Held<Project>,
        workspace: &Workspace,
    ) -> Result<(), StoreError> {
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
        project: &Held<Project>,
        workspace: WorkspaceId,
    ) -> Result<(), StoreError> {
        diesel::delete(project_workspaces::table)
            .filter(project_workspaces::company_id.eq(IdColumn(project.company)))
            .filter(project_workspaces::project_id.eq(IdColumn(project.id)))
            .filter(project_workspaces::id.eq(IdColumn(workspace)))
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)
    }
}
