use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::change::Change;
use workforce_domain::id::{AgentId, GoalId, ProjectId};
use workforce_domain::port::{Failure, Tx};
use workforce_domain::project::{Project, ProjectStatus, TargetDate};
use workforce_domain::text::{Description, Label, Name};
use workforce_domain::time::Timestamp;

use super::{PLACES, ProjectError, ProjectView, check_goals, check_lead, lock, read};
use crate::access::{Denied, denied};
use crate::activity_log::log_activity_with;
use crate::changes::{Changes, Shown};
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// Changes a project's fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateProject {
    /// Its name.
    pub name: Option<Name>,
    /// What it delivers.
    pub description: Change<Description>,
    /// Where it stands.
    pub status: Option<ProjectStatus>,
    /// The goals it is linked to, in place of the present ones.
    pub goals: Change<Vec<GoalId>>,
    /// The agent that leads it.
    pub lead_agent: Change<AgentId>,
    /// When it is to be finished.
    pub target_date: Change<TargetDate>,
    /// Colour of its badge.
    pub color: Change<Label>,
    /// Whether every issue must be reviewed; for the board.
    pub review_required: Option<bool>,
    /// When it was archived.
    pub archived_at: Change<Timestamp>,
}

/// What [`update`] refuses with.
pub const UPDATE: Codes = Codes::with(&[Code::BoardRequired, Code::Forbidden], &[PLACES]);

/// Changes a project. Anyone of the company; its lead is named by the board, a
/// ceo or the present lead, and reviews are demanded by the board.
///
/// # Errors
/// [`ProjectError`]
pub fn update(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ProjectId,
    command: UpdateProject,
) -> Result<ProjectView, Failure<ProjectError>> {
    let mut project = lock(tx, ctx, id)?;
    let scope = project.scope();
    let _before = Project::clone(&project);
    if command.review_required.is_some() {
        ctx.require_board().map_err(denied)?;
    }
    check_lead(tx.reads(), scope, command.lead_agent.value().copied())?;
    if let Some(caller) = ctx.agent()
        && !command.lead_agent.is_keep()
        && !caller.is_ceo()
        && project.lead_agent != Some(caller.agent)
    {
        // The lead writes what every agent of the project is told.
        let message = "only the board, a ceo or the present lead names another lead";
        return Err(denied(Denied::Forbidden(message)));
    }
    let goals = match command.goals {
        Change::Keep => None,
        Change::Clear => Some(Vec::new()),
        Change::Set(goals) => Some(check_goals(tx.reads(), scope, goals)?),
    };
    if let Some(name) = command.name {
        project.name = name;
    }
    project.description = command.description.apply(project.description.take());
    project.status = command.status.unwrap_or(project.status);
    project.lead_agent = command.lead_agent.apply(project.lead_agent);
    project.target_date = command.target_date.apply(project.target_date);
    project.color = command.color.apply(project.color.take());
    project.review_required = command.review_required.unwrap_or(project.review_required);
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
    Ok(read::view(tx.reads(), project.into_inner())?)
}
