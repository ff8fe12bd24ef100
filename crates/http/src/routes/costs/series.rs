use actix_web::HttpResponse;
use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::Codes;
use workforce_app::costs;
use workforce_domain::cost::{CostTotal, TokenUse};
use workforce_domain::id::{AgentId, ProjectId};
use workforce_domain::money::Cents;
use workforce_domain::number::Count;
use workforce_domain::string_enum;
use workforce_domain::time::Day;

use super::TAG;
use super::forecast::spender;
use super::window::{WindowParams, window};
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints.add(__path_series, Access::Anyone, Codes::NONE, series)
}

string_enum! {
    /// What a row of a series is about.
    enum Bucket {
        /// A day in UTC.
        Day = "day",
    }
}

/// What one day cost.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DayCost)]
struct DayCostBody {
    /// The day, in UTC.
    date: Day,
    /// What it cost.
    cost_cents: Cents,
    /// What it was by list, as far as that is known.
    estimated_cost_cents: Cents,
    /// Costs of no known amount: billed by use, of a model without a price.
    unknown_cost_count: Count,
    #[serde(flatten)]
    tokens: TokenUse,
}

impl From<(Day, CostTotal)> for DayCostBody {
    fn from((date, total): (Day, CostTotal)) -> Self {
        Self {
            date,
            cost_cents: total.cost,
            estimated_cost_cents: total.estimated,
            unknown_cost_count: Count(total.unknown),
            tokens: total.tokens,
        }
    }
}

/// What each day cost, in order; days without a cost are missing.
///
/// It is the spend of the company, or that of the agent (`agentId`) or the project
/// (`projectId`) which is named.
#[utoipa::path(get, path = "/api/companies/{companyId}/costs/series", tag = TAG,
    operation_id = "listCostsByDay",
    params(
        ("bucket" = inline(Option<Bucket>), Query, nullable = false,
            description = "What a row is about; a day when left out."),
        ("agentId" = Option<AgentId>, Query, nullable = false,
            description = "The agent that spent. The company when neither an agent nor a project \
                is named."),
        ("projectId" = Option<ProjectId>, Query, nullable = false,
            description = "The project that was worked for. Not beside `agentId`."),
        WindowParams,
    ),
    responses((status = 200, description = "One row per day.", body = Vec<DayCostBody>)))]
async fn series(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq: &Request| {
                let _: Option<Bucket> = rq.query()?.word("bucket")?;
                Ok((rq.id("companyId")?, spender(rq)?, window(rq)?))
            },
            |reads, ctx, (company, spender, window)| {
                costs::by_day(reads, ctx, *company, *spender, *window)
            },
            Reply::<Vec<DayCostBody>>::all,
        )
        .await
}
