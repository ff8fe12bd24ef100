use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::projects::ProjectView;
use workforce_domain::id::{AgentId, CompanyId, GoalId, ProjectId};
use workforce_domain::project::{ProjectStatus, TargetDate};
use workforce_domain::text::{Description, Label, Name, Title};
use workforce_domain::time::Timestamp;

use super::workspaces::WorkspaceBody;

/// A project.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Project)]
pub(in crate::routes) struct ProjectBody {
    /// Unique id.
    id: ProjectId,
    /// Its company.
    company_id: CompanyId,
    /// Short name, unique in the company.
    url_key: String,
    /// Its name.
    name: Name,
    /// What it delivers.
    description: Option<Description>,
    /// Where it stands.
    status: ProjectStatus,
    /// The goals it is linked to.
    goal_ids: Vec<GoalId>,
    /// The same goals with their titles.
    goals: Vec<GoalLinkBody>,
    /// The first of its goals.
    #[schema(deprecated)]
    goal_id: Option<GoalId>,
    /// The agent that leads it.
    lead_agent_id: Option<AgentId>,
    /// When it is to be finished.
    target_date: Option<TargetDate>,
    /// Colour of its badge.
    color: Option<Label>,
    /// Whether every issue must be reviewed before it is done.
    review_required: bool,
    /// When it was archived.
    archived_at: Option<Timestamp>,
    /// Its workspaces, the primary one first.
    workspaces: Vec<WorkspaceBody>,
    /// The workspace in which its runs start.
    primary_workspace: Option<WorkspaceBody>,
    /// When it was made.
    created_at: Timestamp,
    /// When it last changed.
    updated_at: Timestamp,
}

/// A goal that a project is linked to.
#[derive(Serialize, ToSchema)]
#[schema(as = GoalLink)]
struct GoalLinkBody {
    /// The goal.
    id: GoalId,
    /// Its title.
    title: Title,
}

impl From<ProjectView> for ProjectBody {
    fn from(
        ProjectView {
            project,
            goals,
            workspaces,
        }: ProjectView,
    ) -> Self {
        let workspaces: Vec<_> = workspaces.into_iter().map(WorkspaceBody::from).collect();
        Self {
            id: project.id,
            company_id: project.company,
            url_key: project.url_key,
            name: project.name,
            description: project.description,
            status: project.status,
            goal_ids: goals.iter().map(|goal| goal.id).collect(),
            goal_id: goals.first().map(|goal| goal.id),
            goals: goals
                .into_iter()
                .map(|goal| GoalLinkBody {
                    id: goal.id,
                    title: goal.title,
                })
                .collect(),
            lead_agent_id: project.lead_agent,
            target_date: project.target_date,
            color: project.color,
            review_required: project.review_required,
            archived_at: project.archived_at,
            primary_workspace: workspaces
                .iter()
                .find(|workspace| workspace.is_primary)
                .cloned(),
            workspaces,
            created_at: project.created_at,
            updated_at: project.updated_at,
        }
    }
}
