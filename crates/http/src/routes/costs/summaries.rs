use actix_web::HttpResponse;
use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::Codes;
use workforce_app::costs::{self, AgentCost, CostSummary};
use workforce_domain::agent::AgentStatus;
use workforce_domain::budget::Percent;
use workforce_domain::cost::{TokenUse, Window};
use workforce_domain::id::{AgentId, CompanyId, ProjectId};
use workforce_domain::money::{Budget, Cents};
use workforce_domain::number::Count;
use workforce_domain::port::{ModelCost, ProjectCost};
use workforce_domain::text::Name;

use super::TAG;
use super::window::{WindowParams, window};
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::reply::Reply;
use crate::request_context::RequestContext;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_summary, Access::Anyone, Codes::NONE, summary)
        .add(__path_by_agent, Access::Anyone, Codes::NONE, by_agent)
        .add(__path_by_project, Access::Anyone, Codes::NONE, by_project)
        .add(__path_by_model, Access::Anyone, Codes::NONE, by_model)
}

/// Hundredths of a percent as a number.
#[expect(
    clippy::cast_precision_loss,
    reason = "a share of a budget for people to read"
)]
fn percent(percent: Percent) -> f64 {
    percent.hundredths() as f64 / 100.0
}

/// A company's spend against its budget.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CostSummary)]
struct SummaryBody {
    /// The company.
    company_id: CompanyId,
    /// What was spent.
    spend_cents: Cents,
    /// What it was by list, as far as that is known.
    estimated_cost_cents: Cents,
    /// Costs of no known amount: billed by use, of a model without a price.
    unknown_cost_count: Count,
    /// The monthly limit.
    budget_cents: Budget,
    /// The part of the limit that is used, to two decimals; 0 without a limit.
    utilization_percent: f64,
    /// What the sums are over.
    window: Window,
    #[serde(flatten)]
    tokens: TokenUse,
}

impl From<CostSummary> for SummaryBody {
    fn from(summary: CostSummary) -> Self {
        Self {
            company_id: summary.company,
            spend_cents: summary.total.cost,
            estimated_cost_cents: summary.total.estimated,
            unknown_cost_count: Count(summary.total.unknown),
            budget_cents: summary.usage.budget,
            utilization_percent: percent(summary.usage.utilization()),
            window: summary.window,
            tokens: summary.total.tokens,
        }
    }
}

/// Total spend, budget and utilisation. They are of the current month unless
/// another window is named.
#[utoipa::path(get, path = "/api/companies/{companyId}/costs/summary", tag = TAG,
    operation_id = "getCostSummary",
    params(WindowParams),
    responses((status = 200, description = "The summary.", body = SummaryBody)))]
async fn summary(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("companyId")?, window(rq)?)),
            |reads, ctx, (company, window)| costs::summary(reads, ctx, *company, *window),
            |summary| Reply::ok(SummaryBody::from(summary)),
        )
        .await
}

/// What one agent cost.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AgentCost)]
struct AgentCostBody {
    /// The agent.
    agent_id: AgentId,
    /// Its name.
    agent_name: Name,
    /// Where it stands.
    agent_status: AgentStatus,
    /// What it spent.
    cost_cents: Cents,
    /// What it was by list, as far as that is known.
    estimated_cost_cents: Cents,
    /// Costs of no known amount: billed by use, of a model without a price.
    unknown_cost_count: Count,
    /// Its monthly limit.
    budget_cents: Budget,
    /// The part of the limit that is used, to two decimals; 0 without a limit.
    utilization_percent: f64,
    /// Runs billed by use.
    api_run_count: Count,
    /// Runs on a flat plan.
    subscription_run_count: Count,
    /// Tokens read on a flat plan.
    subscription_input_tokens: Count,
    /// Tokens written on a flat plan.
    subscription_output_tokens: Count,
    #[serde(flatten)]
    tokens: TokenUse,
}

impl From<AgentCost> for AgentCostBody {
    fn from(row: AgentCost) -> Self {
        Self {
            agent_id: row.agent.id,
            agent_name: row.agent.name,
            agent_status: row.status,
            cost_cents: row.total.cost,
            estimated_cost_cents: row.total.estimated,
            unknown_cost_count: Count(row.total.unknown),
            budget_cents: row.usage.budget,
            utilization_percent: percent(row.usage.utilization()),
            api_run_count: Count(row.total.api_runs),
            subscription_run_count: Count(row.total.subscription_runs),
            subscription_input_tokens: Count(row.total.subscription_input),
            subscription_output_tokens: Count(row.total.subscription_output),
            tokens: row.total.tokens,
        }
    }
}

/// What each agent cost, the dearest first, those without any cost too.
#[utoipa::path(get, path = "/api/companies/{companyId}/costs/by-agent", tag = TAG,
    operation_id = "listCostsByAgent",
    params(WindowParams),
    responses((status = 200, description = "One row per agent.", body = Vec<AgentCostBody>)))]
async fn by_agent(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("companyId")?, window(rq)?)),
            |reads, ctx, (company, window)| costs::by_agent(reads, ctx, *company, *window),
            Reply::<Vec<AgentCostBody>>::all,
        )
        .await
}

/// What one project cost.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProjectCost)]
struct ProjectCostBody {
    /// The project; `null` gathers what belongs to none.
    project_id: Option<ProjectId>,
    /// Its name.
    project_name: Option<Name>,
    /// What it cost.
    cost_cents: Cents,
    /// What it was by list, as far as that is known.
    estimated_cost_cents: Cents,
    /// Costs of no known amount: billed by use, of a model without a price.
    unknown_cost_count: Count,
    #[serde(flatten)]
    tokens: TokenUse,
}

impl From<ProjectCost> for ProjectCostBody {
    fn from(row: ProjectCost) -> Self {
        let (project_id, project_name) = row.project.unzip();
        Self {
            project_id,
            project_name,
            cost_cents: row.total.cost,
            estimated_cost_cents: row.total.estimated,
            unknown_cost_count: Count(row.total.unknown),
            tokens: row.total.tokens,
        }
    }
}

/// What each project cost, the dearest first; the rows add up to the total.
#[utoipa::path(get, path = "/api/companies/{companyId}/costs/by-project", tag = TAG,
    operation_id = "listCostsByProject",
    params(WindowParams),
    responses((status = 200, description = "One row per project.", body = Vec<ProjectCostBody>)))]
async fn by_project(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("companyId")?, window(rq)?)),
            |reads, ctx, (company, window)| costs::by_project(reads, ctx, *company, *window),
            Reply::<Vec<ProjectCostBody>>::all,
        )
        .await
}

/// What one model cost.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ModelCost)]
struct ModelCostBody {
    /// The model provider.
    provider: Name,
    /// The model.
    model: Name,
    /// What it cost.
    cost_cents: Cents,
    /// What it was by list, as far as that is known.
    estimated_cost_cents: Cents,
    /// Costs of no known amount: billed by use, of a model without a price.
    unknown_cost_count: Count,
    #[serde(flatten)]
    tokens: TokenUse,
}

impl From<ModelCost> for ModelCostBody {
    fn from(row: ModelCost) -> Self {
        Self {
            provider: row.provider,
            model: row.model,
            cost_cents: row.total.cost,
            estimated_cost_cents: row.total.estimated,
            unknown_cost_count: Count(row.total.unknown),
            tokens: row.total.tokens,
        }
    }
}

/// What each model cost, the dearest first; the rows add up to the total.
#[utoipa::path(get, path = "/api/companies/{companyId}/costs/by-model", tag = TAG,
    operation_id = "listCostsByModel",
    params(WindowParams),
    responses((status = 200, description = "One row per model.", body = Vec<ModelCostBody>)))]
async fn by_model(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("companyId")?, window(rq)?)),
            |reads, ctx, (company, window)| costs::by_model(reads, ctx, *company, *window),
            Reply::<Vec<ModelCostBody>>::all,
        )
        .await
}
