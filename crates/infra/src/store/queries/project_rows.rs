//! Projects and workspaces as rows.

use diesel::prelude::*;
use workforce_domain::Document;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{AgentId, CompanyId, ProjectId, WorkspaceId};
use workforce_domain::money::Budget;
use workforce_domain::project::{
    Project, ProjectGovernance, ProjectStatus, TargetDate, Workspace, WorkspaceSource,
};

use super::row::{Row, admit, admit_some, length};
use crate::store::columns::{IdColumn, InstantColumn, JsonColumn, StringEnumColumn};
use crate::store::schema::{project_workspaces, projects};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = projects, treat_none_as_null = true, treat_none_as_default_value = false)]
pub(super) struct ProjectRow {
    id: IdColumn<ProjectId>,
    /// Found by it, never changed: to set it has SQLite write each index of the row anew and
    /// look through all that refers to it.
    #[diesel(skip_update)]
    company_id: IdColumn<CompanyId>,
    name: String,
    url_key: String,
    description: Option<String>,
    status: StringEnumColumn<ProjectStatus>,
    lead_agent_id: Option<IdColumn<AgentId>>,
    target_date: Option<InstantColumn>,
    target_is_day: bool,
    color: Option<String>,
    review_required: bool,
    budget_monthly_cents: i64,
    budget_total_cents: i64,
    archived_at: Option<InstantColumn>,
    created_at: InstantColumn,
    updated_at: InstantColumn,
    governance: StringEnumColumn<ProjectGovernance>,
    remote_required: bool,
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
            name: admit(KIND, self.name)?,
            url_key: self.url_key,
            description: admit_some(KIND, self.description)?,
            status: self.status.0,
            lead_agent: self.lead_agent_id.map(|id| id.0),
            target_date: self.target_date.map(|at| {
                if self.target_is_day {
                    TargetDate::day(at.0)
                } else {
                    TargetDate::instant(at.0)
                }
            }),
            color: admit_some(KIND, self.color)?,
            review_required: self.review_required,
            governance: self.governance.0,
            remote_required: self.remote_required,
            budget: budget(self.budget_monthly_cents)?,
            total_budget: budget(self.budget_total_cents)?,
            archived_at: self.archived_at.map(|at| at.0),
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

fn budget(cents: i64) -> Result<Budget, Corrupt> {
    Budget::from_cents(cents).map_err(|error| Corrupt::new("project", error.to_string()))
}

impl From<&Project> for ProjectRow {
    fn from(project: &Project) -> Self {
        Self {
            id: IdColumn(project.id),
            company_id: IdColumn(project.company),
            name: project.name.to_string(),
            url_key: project.url_key.clone(),
            description: project.description.as_ref().map(ToString::to_string),
            status: StringEnumColumn(project.status),
            lead_agent_id: project.lead_agent.map(IdColumn),
            target_date: project.target_date.map(|target| InstantColumn(target.at())),
            target_is_day: project.target_date.is_some_and(TargetDate::is_day),
            color: project.color.as_ref().map(ToString::to_string),
            review_required: project.review_required,
            budget_monthly_cents: project.budget.cents(),
            budget_total_cents: project.total_budget.cents(),
            archived_at: project.archived_at.map(InstantColumn),
            created_at: InstantColumn(project.created_at),
            updated_at: InstantColumn(project.updated_at),
            governance: StringEnumColumn(project.governance),
            remote_required: project.remote_required,
        }
    }
}

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(
    table_name = project_workspaces,
    treat_none_as_null = true,
    treat_none_as_default_value = false
)]
pub(super) struct WorkspaceRow {
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
        let cwd = admit_some(KIND, self.cwd)?;
        let repo_url = admit_some(KIND, self.repo_url)?;
        Ok(Workspace {
            id: self.id.0,
            company: self.company_id.0,
            project: self.project_id.0,
            name: admit(KIND, self.name)?,
            source: WorkspaceSource::from_parts(cwd, repo_url)
                .ok_or_else(|| Corrupt::new(KIND, "it has neither directory nor repository"))?,
            repo_ref: admit_some(KIND, self.repo_ref)?,
            default_base_branch: admit_some(KIND, self.default_base_branch)?,
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
            default_base_branch: workspace
                .default_base_branch
                .as_ref()
                .map(ToString::to_string),
            is_primary: workspace.is_primary,
            metadata: JsonColumn(workspace.metadata.clone()),
            created_at: InstantColumn(workspace.created_at),
            updated_at: InstantColumn(workspace.updated_at),
        }
    }
}
