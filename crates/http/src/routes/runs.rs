mod complete;
mod events;
mod log;
mod log_encoding;
mod log_end;
mod log_lines;
mod log_pump;
mod log_stream;
mod of_issue;
mod wakeup;

pub(crate) use log::piece as log_piece;

use actix_web::HttpResponse;
use serde::Deserialize;
use utoipa::ToSchema;
use workforce_app::runs::InvokeOutcome;
use workforce_app::{Codes, runs};
use workforce_domain::Document;
use workforce_domain::id::AgentId;
use workforce_domain::port::{RunCursor, RunFilter};
use workforce_domain::run::{Run, RunStatus};

use super::issue_filter;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::problem::Problem;
use crate::query::Query;
use crate::reply::Reply;
use crate::request_context::RequestContext;

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
        complete::register,
        wakeup::register,
    ]
    .into_iter()
    .fold(endpoints, |endpoints, register| register(endpoints))
}

#[derive(Deserialize, ToSchema)]
struct InvokeBody {
    /// What the agent is to know.
    payload: Option<Document>,
}

/// Asks for a heartbeat by hand. Repeated calls lead to one run.
#[utoipa::path(post, path = "/api/agents/{agentId}/heartbeat/invoke", tag = TAG,
    operation_id = "invokeHeartbeat",
    request_body = Option<InvokeBody>,
    responses((status = 202, description = "The queued run.", body = InvokeOutcome)))]
async fn invoke(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                Ok((
                    rq.id("agentId")?,
                    rq.json::<InvokeBody>()?.payload.unwrap_or_default(),
                ))
            },
            |tx, ctx, (agent, payload)| runs::invoke(tx, ctx, *agent, payload.clone()),
            Reply::accepted,
        )
        .await
}

/// Runs of a company, newest first.
#[utoipa::path(get, path = "/api/companies/{companyId}/heartbeat-runs", tag = TAG,
    operation_id = "listHeartbeatRuns",
    params(
        ("agentId" = Option<AgentId>, Query, description = "Of this agent."),
        ("issueId" = Option<String>, Query,
            description = "About this issue, named by id or identifier."),
        ("status" = Option<String>, Query, description = "Statuses, separated by commas."),
        Paging,
    ),
    responses((status = 200, description = "The runs.", body = Vec<Run>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| {
                let (query, page) = (rq.query()?, rq.page::<RunCursor>()?);
                let (issue, filter) = (query.issue("issueId")?, filter(&query)?);
                Ok((rq.id("companyId")?, issue, filter, page))
            },
            |reads, ctx, (company, issue, filter, page)| {
                let filter = RunFilter {
                    issue: issue_filter(reads, ctx, issue.as_ref())?,
                    ..filter.clone()
                };
                runs::list(reads, ctx, *company, &filter, page)
            },
            Reply::<Vec<Run>>::page,
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
    params(Paging),
    responses((status = 200, description = "The runs.", body = Vec<Run>)))]
async fn live(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("companyId")?, rq.page::<RunCursor>()?)),
            |reads, ctx, (company, page)| {
                let filter = RunFilter {
                    statuses: OPEN.to_vec(),
                    ..RunFilter::default()
                };
                runs::list(reads, ctx, *company, &filter, page)
            },
            Reply::<Vec<Run>>::page,
        )
        .await
}

/// One run.
#[utoipa::path(get, path = "/api/heartbeat-runs/{runId}", tag = TAG,
    operation_id = "getHeartbeatRun",
    responses((status = 200, description = "The run.", body = Run)))]
async fn get(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| rq.id("runId"),
            |reads, ctx, id| runs::get(reads, ctx, *id),
            Reply::ok,
        )
        .await
}

/// Stops a run. One that waits is cancelled at once, a live one is asked to
/// stop and is cancelled when its processes are gone.
#[utoipa::path(post, path = "/api/heartbeat-runs/{runId}/cancel", tag = TAG,
    operation_id = "cancelHeartbeatRun",
    responses((status = 200, description = "The run.", body = Run)))]
async fn cancel(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| {
                rq.no_body()?;
                rq.id("runId")
            },
            |tx, ctx, id| runs::cancel(tx, ctx, *id),
            Reply::ok,
        )
        .await
}
