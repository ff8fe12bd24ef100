use actix_web::HttpResponse;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use workforce_app::Codes;
use workforce_app::agents::{self, CreatedKey};
use workforce_domain::agent::AgentKey;
use workforce_domain::id::{AgentId, AgentKeyId};
use workforce_domain::page::CreationKey;
use workforce_domain::text::Name;
use workforce_domain::time::Timestamp;

use super::TAG;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_create, Access::Board, agents::CREATE_KEY, create)
        .add(__path_list, Access::Itself, Codes::NONE, list)
        .add(__path_revoke, Access::Board, Codes::NONE, revoke)
}

/// A key just made. The value is shown this once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CreatedAgentKey)]
struct CreatedKeyBody {
    /// Unique id.
    id: AgentKeyId,
    /// The agent it authenticates.
    agent_id: AgentId,
    /// What it is for.
    name: Name,
    /// The full value.
    key: String,
    /// The same value.
    token: String,
    /// How the value begins.
    prefix: String,
    /// When it was made.
    created_at: Timestamp,
}

impl From<CreatedKey> for CreatedKeyBody {
    fn from(CreatedKey { key, token }: CreatedKey) -> Self {
        Self {
            id: key.id,
            agent_id: key.agent,
            name: key.name,
            key: token.clone(),
            token,
            prefix: key.prefix,
            created_at: key.created_at,
        }
    }
}

#[derive(Deserialize, ToSchema)]
struct CreateKeyBody {
    /// What it is for; `default` when left out.
    name: Option<Name>,
}

fn name(rq: &Request) -> Result<Name, Problem> {
    match rq.json::<CreateKeyBody>()?.name {
        Some(name) => Ok(name),
        None => Name::parse("default").map_err(|error| Problem::internal(&error)),
    }
}

/// Makes a key for an agent.
#[utoipa::path(post, path = "/api/agents/{agentId}/keys", tag = TAG,
    operation_id = "createAgentKey",
    request_body = Option<CreateKeyBody>,
    responses((status = 201, description = "The key with its value.", body = CreatedKeyBody)))]
async fn create(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("agentId")?, name(rq)?)),
            |tx, ctx, (id, name)| agents::create_key(tx, ctx, *id, name.clone()),
            |created| Reply::credential(CreatedKeyBody::from(created)),
        )
        .await
}

/// The keys of an agent, oldest first, revoked ones too.
#[utoipa::path(get, path = "/api/agents/{agentId}/keys", tag = TAG,
    operation_id = "listAgentKeys",
    params(Paging),
    responses((status = 200, description = "The keys.", body = Vec<AgentKey>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("agentId")?, rq.page::<CreationKey<AgentKeyId>>()?)),
            |reads, ctx, (id, page)| agents::keys(reads, ctx, *id, page),
            Reply::<Vec<AgentKey>>::page,
        )
        .await
}

/// Revokes a key.
#[utoipa::path(delete, path = "/api/agents/{agentId}/keys/{keyId}", tag = TAG,
    operation_id = "revokeAgentKey",
    responses((status = 200, description = "The revoked key.", body = AgentKey)))]
async fn revoke(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("agentId")?, rq.id("keyId")?)),
            |tx, ctx, (id, key)| agents::revoke_key(tx, ctx, *id, *key),
            Reply::ok,
        )
        .await
}
