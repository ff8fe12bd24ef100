use serde::Deserialize;
use serde_json::json;
use workforce_domain::ObjectOnly;
use workforce_domain::activity::Action;
use workforce_domain::agent::{first_free, url_key_stem};
use workforce_domain::id::{AgentId, CompanyId, GoalId};
use workforce_domain::money::Budget;
use workforce_domain::port::{Failure, Tx};
use workforce_domain::project::{Project, ProjectGovernance, ProjectStatus, TargetDate};
use workforce_domain::text::{Description, Label, Name};

use super::workspaces::{CreateWorkspace, WORKSPACE, insert_workspace};
use super::{PLACES, ProjectError, ProjectView, check_goals, check_lead, read};
use crate::access::{self};
use crate::activity_log::log_activity;
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// Makes a project.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateProject {
    /// Its name.
    pub name: Name,
    /// What it delivers.
    pub description: Option<Description>,
    /// Where it stands; `backlog` when left out.
    pub status: Option<ProjectStatus>,
    /// The goals it is linked to.
    #[cfg_attr(feature = "openapi", schema(max_items = 100))]
    pub goal_ids: Option<Vec<GoalId>>,
    /// One goal, where `goalIds` is left out.
    #[cfg_attr(feature = "openapi", schema(deprecated))]
    pub goal_id: Option<GoalId>,
    /// The agent that leads it.
    pub lead_agent_id: Option<AgentId>,
    /// When it is to be finished.
    pub target_date: Option<TargetDate>,
    /// Colour of its badge.
    pub color: Option<Label>,
    /// Whether every issue must be reviewed before it is done.
    pub review_required: Option<bool>,
    /// Whether agents need an approved plan for its issues; `none` when left out.
    pub governance: Option<ProjectGovernance>,
    /// Whether its tickets need a repository with a remote; `false` when left out.
    pub remote_required: Option<bool>,
    /// Monthly limit on what is spent on its issues; none when left out. For the board
    /// to give.
    pub budget_monthly_cents: Option<Budget>,
    /// Limit on what is spent on its issues in all; none when left out. For the board
    /// to give.
    pub budget_total_cents: Option<Budget>,
    /// Its first workspace; for the board to give.
    pub workspace: Option<ObjectOnly<CreateWorkspace>>,
}

/// What [`create`] refuses with.
pub const CREATE: Codes = Codes::with(&[Code::BoardRequired], &[PLACES, WORKSPACE]);

/// Makes a project, seeded with a workspace if one is given. Anyone of the
/// company; the workspace is for the board, since runs start in it.
pub fn create(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyId,
    command: CreateProject,
) -> Result<ProjectView, Failure<ProjectError>> {
    let scope = access::company_scope(tx.reads(), ctx, company)?;
    ctx.require_working_company()?;
    if command.budget_monthly_cents.is_some() || command.budget_total_cents.is_some() {
        ctx.require_board()?;
    }
    let goals = check_goals(
        tx.reads(),
        scope,
        command
            .goal_ids
            .unwrap_or_else(|| command.goal_id.into_iter().collect()),
    )?;
    check_lead(tx.reads(), scope, command.lead_agent_id)?;
    let stem = url_key_stem(&command.name);
    let taken = tx.projects_mut().lock_url_keys(scope, &stem)?;
    let project = Project {
        id: ctx.id(),
        company,
        name: command.name,
        url_key: first_free(&stem, "-", &taken),
        description: command.description,
        status: command.status.unwrap_or(ProjectStatus::Backlog),
        lead_agent: command.lead_agent_id,
        target_date: command.target_date,
        color: command.color,
        review_required: command.review_required.unwrap_or(false),
        governance: command.governance.unwrap_or(ProjectGovernance::None),
        remote_required: command.remote_required.unwrap_or(false),
        budget: command.budget_monthly_cents.unwrap_or_default(),
        total_budget: command.budget_total_cents.unwrap_or_default(),
        archived_at: None,
        created_at: ctx.now,
        updated_at: ctx.now,
    };
    let project = tx.projects_mut().insert(project)?;
    if !goals.is_empty() {
        tx.projects_mut().set_goals(&project, &goals)?;
    }
    if let Some(ObjectOnly(workspace)) = command.workspace {
        insert_workspace(tx, ctx, &project, workspace, &[], "/workspace")?;
    }
    let details = json!({ "name": project.name });
    log_activity(tx, ctx, Action::ProjectCreated, &project, details);
    Ok(read::view(tx.reads(), project.into_inner())?)
}
