use actix_web::HttpResponse;
use workforce_app::Codes;
use workforce_app::costs::{self, CostForecast};
use workforce_domain::id::{AgentId, ProjectId};
use workforce_domain::money::Budget;
use workforce_domain::port::Spender;

use super::TAG;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::problem::Problem;
use crate::query::fault;
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints.add(__path_forecast, Access::Anyone, Codes::NONE, forecast)
}

/// Whose budget a query names.
///
/// # Errors
/// `invalid_request`
pub(super) fn spender(rq: &Request) -> Result<Spender, Problem> {
    let query = rq.query()?;
    match (query.id("agentId")?, query.id("projectId")?) {
        (None, None) => Ok(Spender::Company),
        (Some(agent), None) => Ok(Spender::Agent(agent)),
        (None, Some(project)) => Ok(Spender::Project(project)),
        (Some(_), Some(_)) => Err(fault("projectId", "must not be sent beside `agentId`")),
    }
}

/// The limit that a query asks about.
///
/// # Errors
/// `invalid_request`
fn what_if(rq: &Request) -> Result<Option<Budget>, Problem> {
    rq.query()?
        .text("limitCents")?
        .map(|text| Budget::parse(text).map_err(|error| fault("limitCents", &error.to_string())))
        .transpose()
}

/// When a budget runs out at the rate of the last days.
///
/// The rate is told from the last 14 full days in UTC, fewer where the first cost is
/// younger. The budget is that of the company, or that of the agent (`agentId`) or the
/// project (`projectId`) which is named. A project may have two limits: the one with the
/// least left counts, as `limitPeriod` says. With `limitCents` that is the monthly
/// limit instead, and `whatIf` tells what it would have done this month.
#[utoipa::path(get, path = "/api/companies/{companyId}/costs/forecast", tag = TAG,
    operation_id = "getCostForecast",
    params(
        ("agentId" = Option<AgentId>, Query, nullable = false,
            description = "The agent whose budget it is. That of the company when neither an \
                agent nor a project is named."),
        ("projectId" = Option<ProjectId>, Query, nullable = false,
            description = "The project whose budget it is. Not beside `agentId`."),
        ("limitCents" = Option<i64>, Query, minimum = 0, maximum = 9_223_372_036_854_i64,
            nullable = false,
            description = "A monthly limit in whole cents to try, 0 for none. That which is set \
                when left out."),
    ),
    responses((status = 200, description = "The forecast.", body = CostForecast)))]
async fn forecast(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("companyId")?, spender(rq)?, what_if(rq)?)),
            |reads, ctx, (company, spender, what_if)| {
                costs::forecast(reads, ctx, *company, *spender, *what_if)
            },
            Reply::ok,
        )
        .await
}
