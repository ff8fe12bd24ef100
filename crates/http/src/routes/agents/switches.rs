use actix_web::HttpResponse;
use workforce_app::agents;

use super::TAG;
use super::bodies::AgentDetailBody;
use crate::exchange::Exchange;
use crate::registry::{Access, Endpoints};
use crate::reply::Reply;
use crate::schema;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_pause, Access::Board, pause)
        .add(__path_resume, Access::Board, resume)
        .add(__path_terminate, Access::Board, terminate)
}

/// Stops an agent's heartbeats and asks its live runs to stop.
#[utoipa::path(post, path = "/api/agents/{agentId}/pause", tag = TAG, operation_id = "pauseAgent",
    params(("agentId" = schema::Id, Path, description = "The agent.")),
    responses((status = 200, description = "The agent.", body = AgentDetailBody)))]
async fn pause(exchange: Exchange) -> HttpResponse {
    exchange
        .write(
            |rq| {
                rq.no_body()?;
                rq.id("agentId")
            },
            |tx, call, id| agents::pause(tx, call, *id),
            |detail| Reply::ok(AgentDetailBody::from(detail)),
        )
        .await
}

/// Lets a paused agent run again.
#[utoipa::path(post, path = "/api/agents/{agentId}/resume", tag = TAG,
    operation_id = "resumeAgent",
    params(("agentId" = schema::Id, Path, description = "The agent.")),
    responses((status = 200, description = "The agent.", body = AgentDetailBody)))]
async fn resume(exchange: Exchange) -> HttpResponse {
    exchange
        .write(
            |rq| {
                rq.no_body()?;
                rq.id("agentId")
            },
            |tx, call, id| agents::resume(tx, call, *id),
            |detail| Reply::ok(AgentDetailBody::from(detail)),
        )
        .await
}

/// Deactivates an agent for good.
#[utoipa::path(post, path = "/api/agents/{agentId}/terminate", tag = TAG,
    operation_id = "terminateAgent",
    params(("agentId" = schema::Id, Path, description = "The agent.")),
    responses((status = 200, description = "The agent.", body = AgentDetailBody)))]
async fn terminate(exchange: Exchange) -> HttpResponse {
    exchange
        .write(
            |rq| {
                rq.no_body()?;
                rq.id("agentId")
            },
            |tx, call, id| agents::terminate(tx, call, *id),
            |detail| Reply::ok(AgentDetailBody::from(detail)),
        )
        .await
}
