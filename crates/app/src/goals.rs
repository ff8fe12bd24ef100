//! Goals: make, read, change (docs/workspaces.md#goals).

use serde::Deserialize;
use serde_json::{Value, json};
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::change::{Change, Replace};
use workforce_domain::goal::{Goal, GoalLevel, GoalStatus};
use workforce_domain::id::{AgentId, CompanyId, GoalId};
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{Failure, GoalCursor, Reads, Tx};
use workforce_domain::text::{Description, Title};

use crate::access::{self, Denied, FieldFault};
use crate::activity_log::{log_activity, log_change};
use crate::context::Context;
use crate::refusal::{Code, Codes, Refusal};

/// Why a call about goals is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GoalError {
    /// The caller may not, or there is no such goal.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// A field's value breaks a rule.
    #[error(transparent)]
    Field(#[from] FieldFault),
    /// The goal would lie below itself.
    #[error("a goal cannot lie below itself")]
    Cycle,
}

impl Refusal for GoalError {
    fn code(&self) -> Code {
        match self {
            Self::Denied(denied) => denied.code(),
            Self::Field(fault) => fault.code(),
            Self::Cycle => Code::Cycle,
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Denied(denied) => denied.details(),
            Self::Field(fault) => Some(fault.details()),
            Self::Cycle => Some(json!([{ "pointer": "/parentId", "message": self.to_string() }])),
        }
    }
}

/// Makes a goal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateGoal {
    /// What is to be reached.
    pub title: Title,
    /// More about it.
    pub description: Option<Description>,
    /// Its level; `task` when left out.
    pub level: Option<GoalLevel>,
    /// Where it stands; `planned` when left out.
    pub status: Option<GoalStatus>,
    /// The goal it serves.
    pub parent_id: Option<GoalId>,
    /// The agent that answers for it.
    pub owner_agent_id: Option<AgentId>,
}

/// What [`create`] refuses with.
pub const CREATE: Codes = Codes::of(&[Code::ReferenceNotFound]);

/// Makes a goal. Anyone of the company.
pub fn create(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyId,
    command: CreateGoal,
) -> Result<Goal, Failure<GoalError>> {
    let scope = access::company_scope(tx.reads(), ctx, company)?;
    ctx.require_working_company()?;
    if let Some(parent) = command.parent_id {
        goal_exists(tx.reads(), scope, parent)?;
    }
    if let Some(owner) = command.owner_agent_id {
        owner_exists(tx.reads(), scope, owner)?;
    }
    let goal = Goal {
        id: ctx.id(),
        company,
        title: command.title,
        description: command.description,
        level: command.level.unwrap_or(GoalLevel::Task),
        status: command.status.unwrap_or(GoalStatus::Planned),
        parent: command.parent_id,
        owner_agent: command.owner_agent_id,
        created_at: ctx.now,
        updated_at: ctx.now,
    };
    let goal = tx.goals_mut().insert(goal)?;
    let details = json!({ "title": goal.title });
    log_activity(tx, ctx, Action::GoalCreated, &goal, details);
    Ok(goal.into_inner())
}

/// Goals of a company, oldest first.
pub fn list(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    page: &PageRequest<GoalCursor>,
) -> Result<Page<Goal, GoalCursor>, Failure<GoalError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    Ok(reads.goals().list(scope, page)?)
}

/// The titles of those of `ids` that are goals of the company. Anyone of the company.
pub fn titles(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    ids: &[GoalId],
) -> Result<Vec<(GoalId, Title)>, Failure<GoalError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    let found = reads.goals().find_all(scope, ids)?.into_iter();
    Ok(found.map(|goal| (goal.id, goal.title)).collect())
}

/// One goal.
pub fn get(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: GoalId,
) -> Result<Goal, Failure<GoalError>> {
    reads
        .goals()
        .find(ctx.actor().scope(), id)?
        .ok_or_else(|| Denied::NotFound("goal").into())
}

/// Changes a goal's fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateGoal {
    /// What is to be reached.
    #[serde(default)]
    pub title: Replace<Title>,
    /// More about it.
    #[serde(default)]
    pub description: Change<Description>,
    /// Its level.
    #[serde(default)]
    pub level: Replace<GoalLevel>,
    /// Where it stands.
    #[serde(default)]
    pub status: Replace<GoalStatus>,
    /// The goal it serves.
    #[serde(default)]
    pub parent_id: Change<GoalId>,
    /// The agent that answers for it.
    #[serde(default)]
    pub owner_agent_id: Change<AgentId>,
}

/// What [`update`] refuses with.
pub const UPDATE: Codes = Codes::of(&[Code::Cycle, Code::ReferenceNotFound]);

/// Changes a goal. Anyone of the company.
pub fn update(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: GoalId,
    command: UpdateGoal,
) -> Result<Goal, Failure<GoalError>> {
    let scope = ctx.actor().scope();
    let Some(mut goal) = tx.goals_mut().lock(scope, id)? else {
        return Err(Denied::NotFound("goal").into());
    };
    ctx.require_working_company()?;
    let company = goal.scope();
    if let Some(parent) = command.parent_id.value() {
        goal_exists(tx.reads(), company, *parent)?;
        tx.goals_mut().lock_hierarchy(company)?;
        if tx.goals().is_within(company, *parent, id)? {
            return Err(Failure::Refused(GoalError::Cycle));
        }
    }
    if let Some(owner) = command.owner_agent_id.value() {
        owner_exists(tx.reads(), company, *owner)?;
    }
    if let Replace::Set(title) = command.title {
        goal.title = title;
    }
    goal.description = command.description.apply(goal.description.take());
    goal.level = command.level.apply(goal.level);
    goal.status = command.status.apply(goal.status);
    goal.parent = command.parent_id.apply(goal.parent);
    goal.owner_agent = command.owner_agent_id.apply(goal.owner_agent);
    if goal.is_changed() {
        goal.updated_at = ctx.now;
        tx.goals_mut().save(&goal)?;
        let details = json!({ "status": goal.status });
        log_change(tx, ctx, Action::GoalUpdated, &mut goal, details);
    }
    Ok(goal.into_inner())
}

/// Deletes a goal. For the board. Goals below it become top-level goals, its
/// issues and projects stay without it.
pub fn delete(tx: &mut dyn Tx, ctx: &Context<'_>, id: GoalId) -> Result<(), Failure<GoalError>> {
    ctx.require_board()?;
    let Some(goal) = tx.goals_mut().lock(ctx.actor().scope(), id)? else {
        return Err(Denied::NotFound("goal").into());
    };
    let details = json!({ "title": goal.title });
    log_activity(tx, ctx, Action::GoalDeleted, &goal, details);
    tx.goals_mut().delete(goal)?;
    Ok(())
}

fn goal_exists(
    reads: &mut dyn Reads,
    company: CompanyScope,
    goal: GoalId,
) -> Result<(), Failure<GoalError>> {
    match reads.goals().find(company.into(), goal)? {
        Some(_) => Ok(()),
        None => Err(FieldFault::missing("/parentId", "goal").into()),
    }
}

fn owner_exists(
    reads: &mut dyn Reads,
    company: CompanyScope,
    agent: AgentId,
) -> Result<(), Failure<GoalError>> {
    match reads.agents().find(company.into(), agent)? {
        Some(_) => Ok(()),
        None => Err(FieldFault::missing("/ownerAgentId", "agent").into()),
    }
}
