use actix_web::HttpResponse;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use workforce_app::approvals::{self, HireAgent, Hired};

use super::super::agents::{AgentDetailBody, CreateAgentBody};
use super::TAG;
use super::bodies::ApprovalBody;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints.add(__path_create, Access::Hirer, approvals::HIRE, create)
}

/// The fields of a new agent and the issues that it is thought for.
#[derive(Deserialize, ToSchema)]
#[expect(dead_code, reason = "describes a body that is read in two parts")]
struct HireAgentBody {
    #[serde(flatten)]
    agent: CreateAgentBody,
    #[serde(flatten)]
    sources: SourcesBody,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SourcesBody {
    /// The issue that it is thought for, by id or identifier.
    source_issue_id: Option<String>,
    /// The issues that it is thought for, by id or identifier.
    source_issue_ids: Option<Vec<String>>,
}

impl SourcesBody {
    /// The names of the issues with their places in the body.
    fn named(self) -> Vec<(String, String)> {
        let one = self
            .source_issue_id
            .map(|name| (name, "/sourceIssueId".to_owned()));
        let several = self.source_issue_ids.unwrap_or_default();
        let several = several
            .into_iter()
            .enumerate()
            .map(|(n, name)| (name, format!("/sourceIssueIds/{n}")));
        one.into_iter().chain(several).collect()
    }
}

/// Reads the two parts of the body. What is read as one loses the places of
/// its faults and the digits of its numbers.
fn command(rq: &Request) -> Result<HireAgent, Problem> {
    let (agent, sources) = rq.json_in_two::<CreateAgentBody, SourcesBody>()?;
    Ok(HireAgent {
        agent: agent.command()?,
        source_issues: sources.named(),
    })
}

/// What asking for a hire led to.
#[derive(Serialize, ToSchema)]
#[schema(as = Hire)]
struct HireBody {
    /// The draft, or the agent itself where the company wants no approval.
    agent: AgentDetailBody,
    /// The approval that decides on the draft.
    approval: Option<ApprovalBody>,
}

impl From<Hired> for HireBody {
    fn from(hired: Hired) -> Self {
        Self {
            agent: hired.agent.into(),
            approval: hired.approval.map(Into::into),
        }
    }
}

/// Proposes an agent: makes a draft and the approval that decides on it. The
/// board, the ceo, and agents that may hire.
#[utoipa::path(post, path = "/api/companies/{companyId}/agent-hires", tag = TAG,
    operation_id = "hireAgent",
    request_body = HireAgentBody,
    responses((status = 201, description = "The draft and its approval.", body = HireBody)))]
async fn create(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("companyId")?, command(rq)?)),
            |tx, ctx, (company, command)| approvals::hire(tx, ctx, *company, command.clone()),
            |hired| Reply::created(HireBody::from(hired)),
        )
        .await
}
