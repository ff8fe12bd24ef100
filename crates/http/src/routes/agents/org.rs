use actix_web::HttpResponse;
use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::Codes;
use workforce_app::agents::{self, OrgEntry};
use workforce_domain::agent::{AgentStatus, OrgNode};
use workforce_domain::id::AgentId;
use workforce_domain::text::{Label, Name, Role};

use super::TAG;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::reply::Reply;
use crate::request_context::RequestContext;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints.add(__path_org, Access::Anyone, Codes::NONE, org)
}

/// An agent in the organisation's tree.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OrgNode)]
struct OrgNodeBody {
    /// The agent.
    id: AgentId,
    /// Its name.
    name: Name,
    /// Its role.
    role: Role,
    /// Its job title.
    title: Option<Label>,
    /// Its short name.
    url_key: String,
    /// Where it stands.
    status: AgentStatus,
    /// Those who report to it.
    #[schema(no_recursion)]
    reports: Vec<Self>,
}

impl From<OrgNode<OrgEntry>> for OrgNodeBody {
    fn from(node: OrgNode<OrgEntry>) -> Self {
        let OrgEntry { agent, status } = node.item;
        Self {
            id: agent.id,
            name: agent.name,
            role: agent.role,
            title: agent.title,
            url_key: agent.url_key,
            status,
            reports: node.reports.into_iter().map(Into::into).collect(),
        }
    }
}

/// The organisation of a company. Agents without a living manager are its
/// roots, terminated ones are left out.
#[utoipa::path(get, path = "/api/companies/{companyId}/org", tag = TAG,
    operation_id = "getOrganization",
    responses((status = 200, description = "The roots.", body = Vec<OrgNodeBody>)))]
async fn org(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| rq.id("companyId"),
            |reads, ctx, company| agents::org(reads, ctx, *company),
            Reply::<Vec<OrgNodeBody>>::all,
        )
        .await
}
