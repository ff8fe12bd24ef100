mod bodies;
mod events;
mod log;
mod log_stream;
mod of_issue;
mod wakeup;

use actix_web::HttpResponse;
use serde::Deserialize;
use utoipa::ToSchema;
use workforce_app::{Codes, runs};
use workforce_domain::Document;
use workforce_domain::port::{RunFilter, RunKey};
use workforce_domain::run::RunStatus;

use super::issue_filter;
use crate::exchange::Exchange;
use crate::paging::Paging;
use crate::problem::Problem;
use crate::query::Query;
use crate::registry::{Access, Endpoints};
use crate::reply::Reply;
use crate::schema;
use bodies::InvokedBody;
pub(super) use bodies::RunBody;

const TAG: &str = "Heartbeat runs";

/// The statuses of a run that has not ended.
const OPEN: [RunStatus; 2] = [RunStatus::Queued, RunStatus::Running];

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    let endpoints = endpoints
        .add(__path_invoke, Access::Itself, runs::ASK, invoke)
        .add(__path_list, Access::Anyone, Codes::NONE, list)
        .add(__path_live, Access::Anyone, Codes::NONE, live)
        .add(__path_get, Access::Anyone, Codes::NONE, get)
        .add(__path_cancel, Access::Above, runs::CANCEL, cancel);
    [
        log::register,
        log_stream::register,
        of_issue::register,
        events::register,
        wakeup::register,
    ]
    .into_iter()
    .fold(endpoints, |endpoints, register| register(endpoints))
}

#[derive(Deserialize, ToSchema)]
struct InvokeBody {
    /// What the agent is to know.
    #[schema(value_type = Option<schema::Document>)]
    payload: Option<Document>,
}

/// Asks for a heartbeat by hand. Repeated calls lead to one run.
#[utoipa::path(post, path = "/api/agents/{agentId}/heartbeat/invoke", tag = TAG,
    operation_id = "invokeHeartbeat",
    params(("agentId" = schema::Id, Path, description = "The agent.")),
    request_body = Option<InvokeBody>,
    responses((status = 202, description = "The queued run.", body = InvokedBody)))]
async fn invoke(exchange: Exchange) -> HttpResponse {
    exchange
        .write(
            |rq| {
                Ok((
                    rq.id("agentId")?,
                    rq.json::<InvokeBody>()?.payload.unwrap_or_default(),
                ))
            },
            |tx, call, (agent, payload)| runs::invoke(tx, call, *agent, payload.clone()),
            |outcome| Reply::accepted(InvokedBody::from(outcome)),
        )
        .await
}

/// Runs of a company, newest first.
#[utoipa::path(get, path = "/api/companies/{companyId}/heartbeat-runs", tag = TAG,
    operation_id = "listHeartbeatRuns",
    params(
        ("companyId" = schema::Id, Path, description = "The company."),
        ("agentId" = Option<schema::Id>, Query, description = "Of this agent."),
        ("issueId" = Option<String>, Query,
            description = "About this issue, named by id or identifier."),
        ("status" = Option<String>, Query, description = "Statuses, separated by commas."),
        Paging,
    ),
    responses((status = 200, description = "The runs.", body = Vec<RunBody>)))]
async fn list(exchange: Exchange) -> HttpResponse {
    exchange
        .read(
            |rq| {
                let (query, page) = (rq.query()?, rq.page::<RunKey>()?);
                let (issue, filter) = (query.issue("issueId")?, filter(&query)?);
                Ok((rq.id("companyId")?, issue, filter, page))
            },
            |reads, call, (company, issue, filter, page)| {
                let filter = RunFilter {
                    issue: issue_filter(reads, call, issue.as_ref())?,
                    ..filter.clone()
                };
                runs::list(reads, call, *company, &filter, page)
            },
            Reply::<Vec<RunBody>>::page,
        )
        .await
}

/// The filter, apart from the issue, which has to be looked up.
fn filter(query: &Query) -> Result<RunFilter, Problem> {
    Ok(RunFilter {
        agent: query.id("agentId")?,
        issue: None,
        statuses: query.words("status")?,
    })
}

/// Runs of a company that have not ended, newest first.
#[utoipa::path(get, path = "/api/companies/{companyId}/live-runs", tag = TAG,
    operation_id = "listLiveRuns",
    params(("companyId" = schema::Id, Path, description = "The company."), Paging),
    responses((status = 200, description = "The runs.", body = Vec<RunBody>)))]
async fn live(exchange: Exchange) -> HttpResponse {
    exchange
        .read(
            |rq| Ok((rq.id("companyId")?, rq.page::<RunKey>()?)),
            |reads, call, (company, page)| {
                let filter = RunFilter {
                    statuses: OPEN.to_vec(),
                    ..RunFilter::default()
                };
                runs::list(reads, call, *company, &filter, page)
            },
            Reply::<Vec<RunBody>>::page,
        )
        .await
}

/// One run.
#[utoipa::path(get, path = "/api/heartbeat-runs/{runId}", tag = TAG,
    operation_id = "getHeartbeatRun",
    params(("runId" = schema::Id, Path, description = "The run.")),
    responses((status = 200, description = "The run.", body = RunBody)))]
async fn get(exchange: Exchange) -> HttpResponse {
    exchange
        .read(
            |rq| rq.id("runId"),
            |reads, call, id| runs::get(reads, call, *id),
            |run| Reply::ok(RunBody::from(run)),
        )
        .await
}

/// Stops a run. One that waits is cancelled at once, a live one is asked to
/// stop and is cancelled when its processes are gone.
#[utoipa::path(post, path = "/api/heartbeat-runs/{runId}/cancel", tag = TAG,
    operation_id = "cancelHeartbeatRun",
    params(("runId" = schema::Id, Path, description = "The run.")),
    responses((status = 200, description = "The run.", body = RunBody)))]
async fn cancel(exchange: Exchange) -> HttpResponse {
    exchange
        .write(
            |rq| {
                rq.no_body()?;
                rq.id("runId")
            },
            |tx, call, id| runs::cancel(tx, call, *id),
            |run| Reply::ok(RunBody::from(run)),
        )
        .await
}
