use actix_web::HttpResponse;
use workforce_app::Codes;
use workforce_app::goals::{self, CreateGoal, UpdateGoal};
use workforce_domain::goal::Goal;
use workforce_domain::port::GoalCursor;

use super::Done;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::reply::Reply;
use crate::request_context::RequestContext;

const TAG: &str = "Goals";

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_list, Access::Anyone, Codes::NONE, list)
        .add(__path_create, Access::Anyone, goals::CREATE, create)
        .add(__path_get, Access::Anyone, Codes::NONE, get)
        .add(__path_update, Access::Anyone, goals::UPDATE, update)
        .add(__path_delete, Access::Board, Codes::NONE, delete)
}

/// Goals of a company, oldest first.
#[utoipa::path(get, path = "/api/companies/{companyId}/goals", tag = TAG,
    operation_id = "listGoals",
    params(Paging),
    responses((status = 200, description = "The goals.", body = Vec<Goal>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("companyId")?, rq.page::<GoalCursor>()?)),
            |reads, ctx, (company, page)| goals::list(reads, ctx, *company, page),
            Reply::<Vec<Goal>>::page,
        )
        .await
}

/// Makes a goal.
#[utoipa::path(post, path = "/api/companies/{companyId}/goals", tag = TAG,
    operation_id = "createGoal",
    request_body = CreateGoal,
    responses((status = 201, description = "The goal.", body = Goal)))]
async fn create(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("companyId")?, rq.json::<CreateGoal>()?)),
            |tx, ctx, (company, command)| goals::create(tx, ctx, *company, command.clone()),
            Reply::created,
        )
        .await
}

/// One goal.
#[utoipa::path(get, path = "/api/goals/{goalId}", tag = TAG, operation_id = "getGoal",
    responses((status = 200, description = "The goal.", body = Goal)))]
async fn get(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| rq.id("goalId"),
            |reads, ctx, id| goals::get(reads, ctx, *id),
            Reply::ok,
        )
        .await
}

/// Changes a goal.
#[utoipa::path(patch, path = "/api/goals/{goalId}", tag = TAG, operation_id = "updateGoal",
    request_body = UpdateGoal,
    responses((status = 200, description = "The goal.", body = Goal)))]
async fn update(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("goalId")?, rq.json::<UpdateGoal>()?)),
            |tx, ctx, (id, command)| goals::update(tx, ctx, *id, command.clone()),
            Reply::ok,
        )
        .await
}

/// Deletes a goal. Goals below it become top-level goals, its issues and
/// projects stay without it.
#[utoipa::path(delete, path = "/api/goals/{goalId}", tag = TAG, operation_id = "deleteGoal",
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
