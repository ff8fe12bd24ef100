use actix_web::HttpResponse;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use workforce_app::Codes;
use workforce_app::goals::{self, CreateGoal, UpdateGoal};
use workforce_domain::change::Change;
use workforce_domain::goal::{Goal, GoalLevel, GoalStatus};
use workforce_domain::id::{AgentId, CompanyId, GoalId};
use workforce_domain::port::GoalCursor;
use workforce_domain::text::{Description, Title};
use workforce_domain::time::Timestamp;

use super::Done;
use crate::paging::Paging;
use crate::registry::{Access, Endpoints};
use crate::reply::Reply;
use crate::request_context::RequestContext;
use crate::schema;
use crate::wire::non_null;

const TAG: &str = "Goals";

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_list, Access::Anyone, Codes::NONE, list)
        .add(__path_create, Access::Anyone, goals::CREATE, create)
        .add(__path_get, Access::Anyone, Codes::NONE, get)
        .add(__path_update, Access::Anyone, goals::UPDATE, update)
        .add(__path_delete, Access::Board, Codes::NONE, delete)
}

/// A goal.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Goal)]
pub(super) struct GoalBody {
    /// Unique id.
    #[schema(value_type = schema::Id)]
    id: GoalId,
    /// Its company.
    #[schema(value_type = schema::Id)]
    company_id: CompanyId,
    /// What is to be reached.
    #[schema(value_type = schema::Title)]
    title: Title,
    /// More about it.
    #[schema(value_type = Option<schema::Description>)]
    description: Option<Description>,
    /// Its level in the hierarchy.
    #[schema(value_type = schema::GoalLevel)]
    level: GoalLevel,
    /// Where it stands.
    #[schema(value_type = schema::GoalStatus)]
    status: GoalStatus,
    /// The goal it serves.
    #[schema(value_type = Option<schema::Id>)]
    parent_id: Option<GoalId>,
    /// The agent that answers for it.
    #[schema(value_type = Option<schema::Id>)]
    owner_agent_id: Option<AgentId>,
    /// When it was made.
    #[schema(value_type = schema::Timestamp)]
    created_at: Timestamp,
    /// When it last changed.
    #[schema(value_type = schema::Timestamp)]
    updated_at: Timestamp,
}

impl From<Goal> for GoalBody {
    fn from(goal: Goal) -> Self {
        Self {
            id: goal.id,
            company_id: goal.company,
            title: goal.title,
            description: goal.description,
            level: goal.level,
            status: goal.status,
            parent_id: goal.parent,
            owner_agent_id: goal.owner_agent,
            created_at: goal.created_at,
            updated_at: goal.updated_at,
        }
    }
}

/// Goals of a company, oldest first.
#[utoipa::path(get, path = "/api/companies/{companyId}/goals", tag = TAG,
    operation_id = "listGoals",
    params(("companyId" = schema::Id, Path, description = "The company."), Paging),
    responses((status = 200, description = "The goals.", body = Vec<GoalBody>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("companyId")?, rq.page::<GoalCursor>()?)),
            |reads, ctx, (company, page)| goals::list(reads, ctx, *company, page),
            Reply::<Vec<GoalBody>>::page,
        )
        .await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CreateGoalBody {
    /// What is to be reached.
    #[schema(value_type = schema::Title)]
    title: Title,
    /// More about it.
    #[schema(value_type = Option<schema::Description>)]
    description: Option<Description>,
    /// Its level; `task` when left out.
    #[schema(value_type = Option<schema::GoalLevel>)]
    level: Option<GoalLevel>,
    /// Where it stands; `planned` when left out.
    #[schema(value_type = Option<schema::GoalStatus>)]
    status: Option<GoalStatus>,
    /// The goal it serves.
    #[schema(value_type = Option<schema::Id>)]
    parent_id: Option<GoalId>,
    /// The agent that answers for it.
    #[schema(value_type = Option<schema::Id>)]
    owner_agent_id: Option<AgentId>,
}

impl CreateGoalBody {
    fn command(self) -> CreateGoal {
        CreateGoal {
            title: self.title,
            description: self.description,
            level: self.level,
            status: self.status,
            parent: self.parent_id,
            owner_agent: self.owner_agent_id,
        }
    }
}

/// Makes a goal.
#[utoipa::path(post, path = "/api/companies/{companyId}/goals", tag = TAG,
    operation_id = "createGoal",
    params(("companyId" = schema::Id, Path, description = "The company.")),
    request_body = CreateGoalBody,
    responses((status = 201, description = "The goal.", body = GoalBody)))]
async fn create(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("companyId")?, rq.json::<CreateGoalBody>()?.command())),
            |tx, ctx, (company, command)| goals::create(tx, ctx, *company, command.clone()),
            |goal| Reply::created(GoalBody::from(goal)),
        )
        .await
}

/// One goal.
#[utoipa::path(get, path = "/api/goals/{goalId}", tag = TAG, operation_id = "getGoal",
    params(("goalId" = schema::Id, Path, description = "The goal.")),
    responses((status = 200, description = "The goal.", body = GoalBody)))]
async fn get(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| rq.id("goalId"),
            |reads, ctx, id| goals::get(reads, ctx, *id),
            |goal| Reply::ok(GoalBody::from(goal)),
        )
        .await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct UpdateGoalBody {
    /// What is to be reached.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = schema::Title)]
    title: Option<Title>,
    /// More about it.
    #[serde(default)]
    #[schema(value_type = Option<schema::Description>)]
    description: Change<Description>,
    /// Its level.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = schema::GoalLevel)]
    level: Option<GoalLevel>,
    /// Where it stands.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = schema::GoalStatus)]
    status: Option<GoalStatus>,
    /// The goal it serves.
    #[serde(default)]
    #[schema(value_type = Option<schema::Id>)]
    parent_id: Change<GoalId>,
    /// The agent that answers for it.
    #[serde(default)]
    #[schema(value_type = Option<schema::Id>)]
    owner_agent_id: Change<AgentId>,
}

impl UpdateGoalBody {
    fn command(self) -> UpdateGoal {
        UpdateGoal {
            title: self.title,
            description: self.description,
            level: self.level,
            status: self.status,
            parent: self.parent_id,
            owner_agent: self.owner_agent_id,
        }
    }
}

/// Changes a goal.
#[utoipa::path(patch, path = "/api/goals/{goalId}", tag = TAG, operation_id = "updateGoal",
    params(("goalId" = schema::Id, Path, description = "The goal.")),
    request_body = UpdateGoalBody,
    responses((status = 200, description = "The goal.", body = GoalBody)))]
async fn update(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("goalId")?, rq.json::<UpdateGoalBody>()?.command())),
            |tx, ctx, (id, command)| goals::update(tx, ctx, *id, command.clone()),
            |goal| Reply::ok(GoalBody::from(goal)),
        )
        .await
}

/// Deletes a goal. Goals below it become top-level goals, its issues and
/// projects stay without it.
#[utoipa::path(delete, path = "/api/goals/{goalId}", tag = TAG, operation_id = "deleteGoal",
    params(("goalId" = schema::Id, Path, description = "The goal.")),
    responses((status = 200, description = "It is gone.", body = Done)))]
async fn delete(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| rq.id("goalId"),
            |tx, ctx, id| goals::delete(tx, ctx, *id),
            |()| Reply::ok(Done::OK),
        )
        .await
}
