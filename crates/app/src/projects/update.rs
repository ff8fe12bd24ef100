use serde::Deserialize;
use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::change::{Change, Replace};
use workforce_domain::id::{AgentId, GoalId, ProjectId};
use workforce_domain::money::Budget;
use workforce_domain::port::{Failure, Tx};
use workforce_domain::project::{ProjectGovernance, ProjectStatus, TargetDate};
use workforce_domain::text::{Description, Label, Name};
use workforce_domain::time::{Month, Timestamp};

use super::{PLACES, ProjectError, ProjectView, check_goals, check_lead, lock, read};
use crate::access::Denied;
use crate::activity_log::log_activity_with;
use crate::budgets;
use crate::changes::{Changes, Shown};
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// Changes a project's fields.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateProject {
    /// Its name.
    #[serde(default)]
    pub name: Replace<Name>,
    /// What it delivers.
    #[serde(default)]
    pub description: Change<Description>,
    /// Where it stands.
    #[serde(default)]
    pub status: Replace<ProjectStatus>,
    /// The goals it is linked to, in place of the present ones.
    #[cfg_attr(feature = "openapi", schema(max_items = 100))]
    #[serde(default)]
    pub goal_ids: Change<Vec<GoalId>>,
    /// One goal, where `goalIds` is left out.
    #[cfg_attr(feature = "openapi", schema(deprecated))]
    #[serde(default)]
    pub goal_id: Change<GoalId>,
    /// The agent that leads it.
    #[serde(default)]
    pub lead_agent_id: Change<AgentId>,
    /// When it is to be finished.
    #[serde(default)]
    pub target_date: Change<TargetDate>,
    /// Colour of its badge.
    #[serde(default)]
    pub color: Change<Label>,
    /// Whether every issue must be reviewed before it is done; for the board.
    #[serde(default)]
    pub review_required: Replace<bool>,
    /// Whether agents need an approved plan for its issues; for the board.
    #[serde(default)]
    pub governance: Replace<ProjectGovernance>,
    /// Whether its tickets need a repository with a remote; for the board.
    #[serde(default)]
    pub remote_required: Replace<bool>,
    /// Monthly limit on what is spent on its issues; for the board.
    #[serde(default)]
    pub budget_monthly_cents: Replace<Budget>,
    /// Limit on what is spent on its issues in all; for the board.
    #[serde(default)]
    pub budget_total_cents: Replace<Budget>,
    /// When it was archived.
    #[serde(default)]
    pub archived_at: Change<Timestamp>,
}

/// What [`update`] refuses with.
pub const UPDATE: Codes = Codes::with(&[Code::BoardRequired, Code::Forbidden], &[PLACES]);

/// Changes a project. Anyone of the company; its lead is named by the board, a
/// ceo or the present lead, and reviews are demanded by the board.
pub fn update(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ProjectId,
    command: UpdateProject,
) -> Result<ProjectView, Failure<ProjectError>> {
    let budgets_stay =
        command.budget_monthly_cents.is_keep() && command.budget_total_cents.is_keep();
    let company = match tx.projects().find(ctx.actor().scope(), id)? {
        Some(project) if !budgets_stay => tx
            .companies_mut()
            .lock(project.scope().into(), project.company)?,
        _ => None,
    };
    let mut project = lock(tx, ctx, id)?;
    let scope = project.scope();
    let rules_stay = command.review_required.is_keep()
        && command.governance.is_keep()
        && command.remote_required.is_keep();
    if !rules_stay || !budgets_stay {
        ctx.require_board()?;
    }
    check_lead(tx.reads(), scope, command.lead_agent_id.value().copied())?;
    if let Some(caller) = ctx.agent()
        && !command.lead_agent_id.is_keep()
        && !caller.is_ceo()
        && project.lead_agent != Some(caller.agent)
    {
        // The lead writes what every agent of the project is told.
        let message = "only the board, a ceo or the present lead names another lead";
        return Err(Denied::Forbidden(message).into());
    }
    let goal_ids = match command.goal_ids {
        Change::Keep => command.goal_id.map(|goal| vec![goal]),
        goals => goals,
    };
    let goals = match goal_ids {
        Change::Keep => None,
        Change::Clear => Some(Vec::new()),
        Change::Set(goals) => Some(check_goals(tx.reads(), scope, goals)?),
    };
    if let Replace::Set(name) = command.name {
        project.name = name;
    }
    project.description = command.description.apply(project.description.take());
    project.status = command.status.apply(project.status);
    project.lead_agent = command.lead_agent_id.apply(project.lead_agent);
    project.target_date = command.target_date.apply(project.target_date);
    project.color = command.color.apply(project.color.take());
    project.review_required = command.review_required.apply(project.review_required);
    project.governance = command.governance.apply(project.governance);
    project.remote_required = command.remote_required.apply(project.remote_required);
    project.budget = command.budget_monthly_cents.apply(project.budget);
    project.total_budget = command.budget_total_cents.apply(project.total_budget);
    project.archived_at = command.archived_at.apply(project.archived_at);
    let mut linked = Changes::none();
    if let Some(goals) = &goals {
        let present = tx.projects().goals(scope, &[id])?;
        let present: Vec<GoalId> = present.into_iter().map(|(_, goal)| goal.id).collect();
        linked = linked.and_field("goalIds", &Shown::plain(present), &Shown::plain(goals));
        tx.projects_mut().set_goals(&project, goals)?;
    }
    let changes = Changes::of(&mut project).then(linked);
    if !changes.is_empty() {
        project.updated_at = ctx.now;
        tx.projects_mut().save(&project)?;
        let (action, details) = (Action::ProjectUpdated, json!({ "status": project.status }));
        log_activity_with(tx, ctx, action, &project, details, changes);
    }
    if let Some(company) = company {
        budgets::enforce_project(tx, ctx, &company, id, Month::of(ctx.now))?;
        // What waited for its budget may start.
        ctx.signal.raise();
    }
    Ok(read::view(tx.reads(), project.into_inner())?)
}
