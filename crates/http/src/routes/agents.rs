mod adapter_check;
mod bodies;
pub(crate) mod instructions;
mod keys;
mod lifecycle;
mod org;
mod permissions;
mod requests;
mod revisions;
mod runtime_state;

use actix_web::HttpResponse;
use workforce_app::Codes;
use workforce_app::agents::{self, AgentDetail, AgentRef, ListAgents, UpdateAgent};
use workforce_domain::id::CompanyId;
use workforce_domain::port::AgentCursor;

use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::precondition;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};
pub(crate) use adapter_check::{CheckAdapterBody, found as check_adapter};
use bodies::AgentBody;
pub(super) use bodies::AgentDetailBody;
pub(crate) use instructions::PutFileBody;
pub(crate) use requests::{CreateAgentBody, UpdateAgentBody};

const TAG: &str = "Agents";

/// The fields of an agent that only the system sets.
const NOT_WRITABLE: [&str; 3] = ["status", "spentMonthlyCents", "companyId"];

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    let endpoints = endpoints
        .add(__path_list, Access::Anyone, Codes::NONE, list)
        .add(__path_create, Access::Hirer, agents::CREATE, create)
        .add(__path_me, Access::Agent, Codes::NONE, me)
        .add(__path_get, Access::Anyone, Codes::NONE, get)
        .add(__path_update, Access::ItselfOrAbove, agents::UPDATE, update);
    [
        lifecycle::register,
        keys::register,
        org::register,
        revisions::register,
        permissions::register,
        runtime_state::register,
        instructions::register,
        adapter_check::register,
    ]
    .into_iter()
    .fold(endpoints, |endpoints, register| register(endpoints))
}

/// Agents of a company, oldest first.
#[utoipa::path(get, path = "/api/companies/{companyId}/agents", tag = TAG,
    operation_id = "listAgents",
    params(
        ("includeTerminated" = Option<bool>, Query,
            description = "Shows terminated agents too; true when left out."),
        ("status" = Option<String>, Query,
            description = "Agents with one of these statuses, separated by commas."),
        Paging,
    ),
    responses((status = 200, description = "The agents.", body = Vec<AgentBody>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| {
                let query = rq.query()?;
                let wanted = ListAgents {
                    statuses: query.words("status")?,
                    include_terminated: query.flag("includeTerminated", true)?,
                };
                Ok((rq.id("companyId")?, wanted, rq.page::<AgentCursor>()?))
            },
            |reads, ctx, (company, wanted, page)| agents::list(reads, ctx, *company, wanted, page),
            Reply::<Vec<AgentBody>>::page,
        )
        .await
}

/// Hires an agent.
#[utoipa::path(post, path = "/api/companies/{companyId}/agents", tag = TAG,
    operation_id = "createAgent",
    request_body = CreateAgentBody,
    responses((status = 201, description = "The agent.", body = AgentDetailBody)))]
async fn create(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                Ok((
                    rq.id("companyId")?,
                    rq.json::<CreateAgentBody>()?.command()?,
                ))
            },
            |tx, ctx, (company, command)| agents::create(tx, ctx, *company, command.clone()),
            |detail| {
                let tag = precondition::tag(detail.revision);
                let reply = Reply::created(AgentDetailBody::from(detail)).tagged(tag);
                // A configuration may carry credentials.
                reply.sealed()
            },
        )
        .await
}

/// The agent that asks.
#[utoipa::path(get, path = "/api/agents/me", tag = TAG, operation_id = "getCurrentAgent",
    responses((status = 200, description = "The agent.", body = AgentDetailBody)))]
async fn me(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |_rq| Ok(()),
            |reads, ctx, ()| agents::me(reads, ctx),
            answer,
        )
        .await
}

/// One agent with its chain of command.
#[utoipa::path(get, path = "/api/agents/{agentId}", tag = TAG, operation_id = "getAgent",
    params(("agentId" = String, Path, description = "The agent, by id or short name."),
        ("companyId" = Option<CompanyId>, Query,
            description = "The company in which a short name is looked up."),
    ),
    responses((status = 200, description = "The agent.", body = AgentDetailBody)))]
async fn get(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            named,
            |reads, ctx, agent| agents::get(reads, ctx, agent),
            answer,
        )
        .await
}

fn answer(detail: AgentDetail) -> Reply<AgentDetailBody> {
    let tag = precondition::tag(detail.revision);
    Reply::ok(AgentDetailBody::from(detail)).tagged(tag)
}

fn named(rq: &Request) -> Result<AgentRef, Problem> {
    let text = rq.param("agentId", "agent")?;
    if let Ok(id) = text.parse() {
        return Ok(AgentRef::Id(id));
    }
    let company = rq.query()?.id("companyId")?;
    Ok(AgentRef::UrlKey {
        key: text.to_owned(),
        company,
    })
}

/// Changes an agent. The board changes everything, the agent itself and those
/// above it what describes it.
#[utoipa::path(patch, path = "/api/agents/{agentId}", tag = TAG, operation_id = "updateAgent",
    params(
        ("If-Match" = Option<String>, Header,
            description = "The ETag of the agent as the caller has seen it."),
    ),
    request_body = UpdateAgentBody,
    responses((status = 200, description = "The agent.", body = AgentDetailBody)))]
async fn update(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                let command = UpdateAgent {
                    not_writable: rq.first_field(&NOT_WRITABLE)?,
                    if_match: rq.if_match()?,
                    ..rq.json::<UpdateAgentBody>()?.command()?
                };
                Ok((rq.id("agentId")?, command))
            },
            |tx, ctx, (id, command)| agents::update(tx, ctx, *id, command.clone()),
            answer,
        )
        .await
}
