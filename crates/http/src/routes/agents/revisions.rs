use actix_web::HttpResponse;
use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::Codes;
use workforce_app::agents::{self, RevisionView, RolledBack};
use workforce_app::masking::masked;
use workforce_domain::Document;
use workforce_domain::agent::AdapterType;
use workforce_domain::id::AgentId;
use workforce_domain::instructions::BundlePointer;
use workforce_domain::port::RevisionCursor;
use workforce_domain::revision::{AgentConfig, Revision};
use workforce_domain::text::{Description, Label, Name, Role};

use super::TAG;
use super::bodies::AgentDetailBody;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::precondition;
use crate::reply::Reply;
use crate::request_context::RequestContext;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_list, Access::ItselfOrAbove, Codes::NONE, list)
        .add(__path_get, Access::ItselfOrAbove, Codes::NONE, get)
        .add(__path_rollback, Access::Board, agents::ROLLBACK, rollback)
}

/// A change of an agent's configuration.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConfigRevision)]
struct RevisionBody {
    #[serde(flatten)]
    revision: Revision,
    /// The configuration before; null when the agent was made.
    before_config: Option<ConfigBody>,
    /// The configuration after.
    after_config: ConfigBody,
}

/// The configuration of an agent; secret values that stand in it in plain are
/// hidden.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AgentConfiguration)]
struct ConfigBody {
    /// Its name.
    name: Name,
    /// Its role.
    role: Role,
    /// Its job title.
    title: Option<Label>,
    /// Its manager.
    reports_to: Option<AgentId>,
    /// What it can do.
    capabilities: Option<Description>,
    /// How it is run.
    adapter_type: AdapterType,
    /// Configuration of the adapter.
    adapter_config: Document,
    /// Configuration of its heartbeats.
    runtime_config: Document,
    /// Monthly limit in whole cents; 0 for none.
    budget_monthly_cents: i64,
    /// Anything kept with it.
    metadata: Document,
    /// Where its instructions are.
    instructions_bundle: BundlePointer,
}

impl From<AgentConfig> for ConfigBody {
    fn from(config: AgentConfig) -> Self {
        Self {
            name: config.name,
            role: config.role,
            title: config.title,
            reports_to: config.reports_to,
            capabilities: config.capabilities,
            adapter_type: config.adapter_type,
            adapter_config: masked(config.adapter_config),
            runtime_config: config.runtime_config,
            budget_monthly_cents: config.budget_monthly_cents,
            metadata: config.metadata,
            instructions_bundle: config.instructions,
        }
    }
}

impl From<RevisionView> for RevisionBody {
    fn from(view: RevisionView) -> Self {
        Self {
            revision: view.revision,
            before_config: view.before.map(Into::into),
            after_config: view.after.into(),
        }
    }
}

/// An agent that was rolled back.
#[derive(Serialize, ToSchema)]
#[schema(as = RolledBackAgent)]
struct RolledBackBody {
    #[serde(flatten)]
    agent: AgentDetailBody,
    /// The revision that the rollback made.
    revision: RevisionBody,
}

impl From<RolledBack> for RolledBackBody {
    fn from(done: RolledBack) -> Self {
        Self {
            agent: done.agent.into(),
            revision: done.revision.into(),
        }
    }
}

/// Revisions of an agent's configuration, newest first. For the board, the
/// agent itself and those above it.
#[utoipa::path(get, path = "/api/agents/{agentId}/config-revisions", tag = TAG,
    operation_id = "listConfigRevisions",
    params(Paging),
    responses((status = 200, description = "The revisions.", body = Vec<RevisionBody>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("agentId")?, rq.page::<RevisionCursor>()?)),
            |reads, ctx, (id, page)| agents::revisions(reads, ctx, *id, page),
            Reply::<Vec<RevisionBody>>::page,
        )
        .await
}

/// One revision of an agent's configuration. For the board, the agent itself
/// and those above it.
#[utoipa::path(get, path = "/api/agents/{agentId}/config-revisions/{revisionId}", tag = TAG,
    operation_id = "getConfigRevision",
    responses((status = 200, description = "The revision.", body = RevisionBody)))]
async fn get(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("agentId")?, rq.id("revisionId")?)),
            |reads, ctx, (id, revision)| agents::revision(reads, ctx, *id, *revision),
            |view| Reply::ok(RevisionBody::from(view)),
        )
        .await
}

/// Gives an agent the configuration it had after a revision. This makes a new
/// revision. Whether it is paused and what it spent stays.
#[utoipa::path(post, path = "/api/agents/{agentId}/config-revisions/{revisionId}/rollback",
    tag = TAG, operation_id = "rollBackConfig",
    params(
        ("If-Match" = Option<String>, Header,
            description = "The ETag of the agent as the caller has seen it."),
    ),
    responses((status = 200, description = "The agent.", body = RolledBackBody)))]
async fn rollback(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                rq.no_body()?;
                Ok((rq.id("agentId")?, rq.id("revisionId")?, rq.if_match()?))
            },
            |tx, ctx, (id, revision, seen)| {
                agents::rollback(tx, ctx, *id, *revision, seen.as_deref())
            },
            |done| {
                let tag = precondition::tag(done.agent.revision);
                Reply::ok(RolledBackBody::from(done)).tagged(tag)
            },
        )
        .await
}
