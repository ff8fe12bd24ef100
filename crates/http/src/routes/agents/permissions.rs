use actix_web::HttpResponse;
use serde::Deserialize;
use utoipa::ToSchema;
use workforce_app::agents::{self, UpdateAgent};
use workforce_app::approvals;

use super::TAG;
use super::bodies::AgentDetailBody;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::reply::Reply;
use crate::request_context::RequestContext;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints.add(
        __path_update,
        Access::Board,
        approvals::DRAFT_EDITED,
        update,
    )
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PermissionsBody {
    /// Whether it may hire.
    can_create_agents: bool,
}

/// Says what an agent may do beyond its work.
#[utoipa::path(patch, path = "/api/agents/{agentId}/permissions", tag = TAG,
    operation_id = "updateAgentPermissions",
    request_body = PermissionsBody,
    responses((status = 200, description = "The agent.", body = AgentDetailBody)))]
async fn update(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                let body = rq.json::<PermissionsBody>()?;
                Ok((rq.id("agentId")?, body.can_create_agents))
            },
            |tx, ctx, (id, can_create_agents)| {
                let command = UpdateAgent {
                    can_create_agents: Some(*can_create_agents),
                    ..UpdateAgent::default()
                };
                agents::update(tx, ctx, *id, command)
            },
            |detail| Reply::ok(AgentDetailBody::from(detail)),
        )
        .await
}
