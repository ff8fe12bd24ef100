use actix_web::HttpResponse;
use serde::Deserialize;
use utoipa::ToSchema;
use workforce_app::{Codes, agents};
use workforce_domain::change::Replace;

use super::TAG;
use super::bodies::AgentDetailBody;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::reply::Reply;
use crate::request_context::RequestContext;
use crate::routes::Done;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_pause, Access::Board, agents::PAUSE, pause)
        .add(__path_resume, Access::Board, agents::RESUME, resume)
        .add(__path_terminate, Access::Board, Codes::NONE, terminate)
        .add(__path_delete, Access::Board, agents::DELETE, delete)
}

/// Stops an agent's heartbeats and asks its live runs to stop.
#[utoipa::path(post, path = "/api/agents/{agentId}/pause", tag = TAG, operation_id = "pauseAgent",
    responses((status = 200, description = "The agent.", body = AgentDetailBody)))]
async fn pause(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                rq.no_body()?;
                rq.id("agentId")
            },
            |tx, ctx, id| agents::pause(tx, ctx, *id),
            |detail| Reply::ok(AgentDetailBody::from(detail)),
        )
        .await
}

#[derive(Deserialize, ToSchema)]
struct ResumeBody {
    /// Lets the agent work for the rest of the month although its budget is
    /// used up.
    #[serde(default)]
    force: Replace<bool>,
}

/// Lets a paused agent run again. While its budget is used up this is refused,
/// unless it is forced.
#[utoipa::path(post, path = "/api/agents/{agentId}/resume", tag = TAG,
    operation_id = "resumeAgent",
    request_body = Option<ResumeBody>,
    responses((status = 200, description = "The agent.", body = AgentDetailBody)))]
async fn resume(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                let body = rq.json::<ResumeBody>()?;
                Ok((rq.id("agentId")?, body.force.apply(false)))
            },
            |tx, ctx, (id, force)| agents::resume(tx, ctx, *id, *force),
            |detail| Reply::ok(AgentDetailBody::from(detail)),
        )
        .await
}

/// Deactivates an agent for good.
#[utoipa::path(post, path = "/api/agents/{agentId}/terminate", tag = TAG,
    operation_id = "terminateAgent",
    responses((status = 200, description = "The agent.", body = AgentDetailBody)))]
async fn terminate(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                rq.no_body()?;
                rq.id("agentId")
            },
            |tx, ctx, id| agents::terminate(tx, ctx, *id),
            |detail| Reply::ok(AgentDetailBody::from(detail)),
        )
        .await
}

/// Removes an agent that never did or was given anything. Whoever has a
/// history is terminated instead.
#[utoipa::path(delete, path = "/api/agents/{agentId}", tag = TAG, operation_id = "deleteAgent",
    responses((status = 200, description = "It is gone.", body = Done)))]
async fn delete(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| rq.id("agentId"),
            |tx, ctx, id| agents::delete(tx, ctx, *id),
            |()| Reply::ok(Done::OK),
        )
        .await
}
