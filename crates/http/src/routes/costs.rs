mod forecast;
mod series;
mod summaries;
mod window;

use actix_web::HttpResponse;
use serde::Deserialize;
use utoipa::ToSchema;
use workforce_app::costs::{self, ReportCost};
use workforce_app::{Code, Codes};
use workforce_domain::cost::{BillingType, CostEvent, TokenUse};
use workforce_domain::id::{AgentId, GoalId, ProjectId, RunId};
use workforce_domain::issue::IssueRef;
use workforce_domain::port::CostEventCursor;
use workforce_domain::text::{Label, Name};
use workforce_domain::time::Timestamp;

use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_context::RequestContext;
use workforce_domain::money::Cents;
use workforce_domain::number::Count;

const TAG: &str = "Costs";

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    let endpoints = endpoints
        .add(__path_report, Access::Itself, costs::REPORT, report)
        .add(__path_list, Access::Anyone, Codes::NONE, list);
    series::register(forecast::register(summaries::register(endpoints)))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReportCostBody {
    /// The agent that spent.
    agent_id: AgentId,
    /// The model provider.
    provider: Name,
    /// The model.
    model: Name,
    /// Tokens read by the model.
    input_tokens: Option<Count>,
    /// Tokens written by the model.
    output_tokens: Option<Count>,
    /// Tokens read from the provider's cache.
    cached_input_tokens: Option<Count>,
    /// Tokens written to the provider's cache.
    cache_write_tokens: Option<Count>,
    /// What it cost.
    cost_cents: Cents,
    /// What its tokens cost by list; what they cost when left out. The server's prices count
    /// where they say more.
    estimated_cost_cents: Option<Cents>,
    /// How the provider bills; `api` when left out.
    billing_type: Option<BillingType>,
    /// The issue worked on, by id or identifier; the run's when left out.
    issue_id: Option<IssueRef>,
    /// The project; when left out, that which the run was claimed in, or else the issue's. Agents
    /// name one in which they have an issue.
    project_id: Option<ProjectId>,
    /// The goal; the issue's when left out.
    goal_id: Option<GoalId>,
    /// The run that spent; the caller's own when left out.
    run_id: Option<RunId>,
    /// What it is booked on; the issue's code when left out.
    billing_code: Option<Label>,
    /// When the cost arose; now when left out. Agents tell of this month, and of the last 5
    /// minutes or their live run.
    occurred_at: Option<Timestamp>,
    /// The caller's own key against double counting.
    #[schema(min_length = 1, max_length = 200)]
    idempotency_key: Option<String>,
}

impl ReportCostBody {
    fn command(self) -> Result<ReportCost, Problem> {
        let count = |tokens: Option<Count>| tokens.unwrap_or_default().0;
        let key_fits =
            |key: &String| (1..=200).contains(&key.chars().count()) && !key.contains('\0');
        if !self.idempotency_key.as_ref().is_none_or(key_fits) {
            let message = "must be 1 to 200 characters";
            return Err(Problem::at(Code::InvalidJson, "/idempotencyKey", message));
        }
        Ok(ReportCost {
            agent: self.agent_id,
            provider: self.provider,
            model: self.model,
            billing_type: self.billing_type,
            tokens: TokenUse {
                input: count(self.input_tokens),
                output: count(self.output_tokens),
                cached_input: count(self.cached_input_tokens),
                cache_write: count(self.cache_write_tokens),
            },
            cost: self.cost_cents,
            estimated: self.estimated_cost_cents,
            issue: self.issue_id,
            project: self.project_id,
            goal: self.goal_id,
            run: self.run_id,
            billing_code: self.billing_code,
            occurred_at: self.occurred_at,
            idempotency_key: self.idempotency_key,
        })
    }
}

/// Records a cost and applies the budgets.
#[utoipa::path(post, path = "/api/companies/{companyId}/cost-events", tag = TAG,
    operation_id = "reportCost",
    request_body = ReportCostBody,
    responses(
        (status = 201, description = "The cost event.", body = CostEvent),
        (status = 200, description = "The event recorded before under the same key.",
            body = CostEvent),
    ))]
async fn report(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("companyId")?, rq.json::<ReportCostBody>()?.command()?)),
            |tx, ctx, (company, command)| costs::report(tx, ctx, *company, command.clone()),
            |reported| {
                let body = reported.event;
                if reported.created {
                    Reply::created(body)
                } else {
                    Reply::ok(body)
                }
            },
        )
        .await
}

/// Cost events of a company, newest first.
#[utoipa::path(get, path = "/api/companies/{companyId}/cost-events", tag = TAG,
    operation_id = "listCostEvents",
    params(Paging),
    responses((status = 200, description = "The events.", body = Vec<CostEvent>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("companyId")?, rq.page::<CostEventCursor>()?)),
            |reads, ctx, (company, page)| costs::list(reads, ctx, *company, page),
            Reply::<Vec<CostEvent>>::page,
        )
        .await
}
