use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use workforce_app::projects::{CreateProject, ProjectView, UpdateProject};
use workforce_domain::change::Change;
use workforce_domain::id::{AgentId, CompanyId, GoalId, ProjectId};
use workforce_domain::project::{ProjectStatus, TargetDate};
use workforce_domain::text::{Description, Label, Name, Title};
use workforce_domain::time::Timestamp;

use super::workspaces::{CreateWorkspaceBody, WorkspaceBody};
use crate::schema;
use crate::wire::{Object, non_null};

/// A project.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Project)]
pub(in crate::routes) struct ProjectBody {
    /// Unique id.
    #[schema(value_type = schema::Id)]
    id: ProjectId,
    /// Its company.
    #[schema(value_type = schema::Id)]
    company_id: CompanyId,
    /// Short name, unique in the company.
    url_key: String,
    /// Its name.
    #[schema(value_type = schema::Name)]
    name: Name,
    /// What it delivers.
    #[schema(value_type = Option<schema::Description>)]
    description: Option<Description>,
    /// Where it stands.
    #[schema(value_type = schema::ProjectStatus)]
    status: ProjectStatus,
    /// The goals it is linked to.
    #[schema(value_type = Vec<schema::Id>)]
    goal_ids: Vec<GoalId>,
    /// The same goals with their titles.
    goals: Vec<GoalLinkBody>,
    /// The first of its goals.
    #[schema(value_type = Option<schema::Id>, deprecated)]
    goal_id: Option<GoalId>,
    /// The agent that leads it.
    #[schema(value_type = Option<schema::Id>)]
    lead_agent_id: Option<AgentId>,
    /// When it is to be finished.
    #[schema(value_type = Option<schema::TargetDate>)]
    target_date: Option<TargetDate>,
    /// Colour of its badge.
    #[schema(value_type = Option<schema::Label>)]
    color: Option<Label>,
    /// Whether every issue must be reviewed before it is done.
    review_required: bool,
    /// When it was archived.
    #[schema(value_type = Option<schema::Timestamp>)]
    archived_at: Option<Timestamp>,
    /// Its workspaces, the primary one first.
    workspaces: Vec<WorkspaceBody>,
    /// The workspace in which its runs start.
    primary_workspace: Option<WorkspaceBody>,
    /// When it was made.
    #[schema(value_type = schema::Timestamp)]
    created_at: Timestamp,
    /// When it last changed.
    #[schema(value_type = schema::Timestamp)]
    updated_at: Timestamp,
}

/// A goal that a project is linked to.
#[derive(Serialize, ToSchema)]
#[schema(as = GoalLink)]
struct GoalLinkBody {
    /// The goal.
    #[schema(value_type = schema::Id)]
    id: GoalId,
    /// Its title.
    #[schema(value_type = schema::Title)]
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

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreateProjectBody {
    /// Its name.
    #[schema(value_type = schema::Name)]
    name: Name,
    /// What it delivers.
    #[schema(value_type = Option<schema::Description>)]
    description: Option<Description>,
    /// Where it stands; `backlog` when left out.
    #[schema(value_type = Option<schema::ProjectStatus>)]
    status: Option<ProjectStatus>,
    /// The goals it is linked to.
    #[schema(value_type = Option<Vec<schema::Id>>, max_items = 100)]
    goal_ids: Option<Vec<GoalId>>,
    /// One goal, where `goalIds` is left out.
    #[schema(value_type = Option<schema::Id>, deprecated)]
    goal_id: Option<GoalId>,
    /// The agent that leads it.
    #[schema(value_type = Option<schema::Id>)]
    lead_agent_id: Option<AgentId>,
    /// When it is to be finished.
    #[schema(value_type = Option<schema::TargetDate>)]
    target_date: Option<TargetDate>,
    /// Colour of its badge.
    #[schema(value_type = Option<schema::Label>)]
    color: Option<Label>,
    /// Whether every issue must be reviewed before it is done.
    review_required: Option<bool>,
    /// Its first workspace; for the board to give.
    #[schema(value_type = Option<CreateWorkspaceBody>)]
    workspace: Option<Object<CreateWorkspaceBody>>,
}

impl CreateProjectBody {
    pub(super) fn command(self) -> CreateProject {
        CreateProject {
            name: self.name,
            description: self.description,
            status: self.status,
            goals: self
                .goal_ids
                .unwrap_or_else(|| self.goal_id.into_iter().collect()),
            lead_agent: self.lead_agent_id,
            target_date: self.target_date,
            color: self.color,
            review_required: self.review_required.unwrap_or(false),
            workspace: self.workspace.map(|Object(body)| body.command()),
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UpdateProjectBody {
    /// Its name.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = schema::Name)]
    name: Option<Name>,
    /// What it delivers.
    #[serde(default)]
    #[schema(value_type = Option<schema::Description>)]
    description: Change<Description>,
    /// Where it stands.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = schema::ProjectStatus)]
    status: Option<ProjectStatus>,
    /// The goals it is linked to, in place of the present ones.
    #[serde(default)]
    #[schema(value_type = Option<Vec<schema::Id>>, max_items = 100)]
    goal_ids: Change<Vec<GoalId>>,
    /// One goal, where `goalIds` is left out.
    #[serde(default)]
    #[schema(value_type = Option<schema::Id>, deprecated)]
    goal_id: Change<GoalId>,
    /// The agent that leads it.
    #[serde(default)]
    #[schema(value_type = Option<schema::Id>)]
    lead_agent_id: Change<AgentId>,
    /// When it is to be finished.
    #[serde(default)]
    #[schema(value_type = Option<schema::TargetDate>)]
    target_date: Change<TargetDate>,
    /// Colour of its badge.
    #[serde(default)]
    #[schema(value_type = Option<schema::Label>)]
    color: Change<Label>,
    /// Whether every issue must be reviewed before it is done; for the board.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = bool)]
    review_required: Option<bool>,
    /// When it was archived.
    #[serde(default)]
    #[schema(value_type = Option<schema::Timestamp>)]
    archived_at: Change<Timestamp>,
}

impl UpdateProjectBody {
    pub(super) fn command(self) -> UpdateProject {
        let goals = match self.goal_ids {
            Change::Keep => self.goal_id.map(|goal| vec![goal]),
            goals => goals,
        };
        UpdateProject {
            name: self.name,
            description: self.description,
            status: self.status,
            goals,
            lead_agent: self.lead_agent_id,
            target_date: self.target_date,
            color: self.color,
            review_required: self.review_required,
            archived_at: self.archived_at,
        }
    }
}
