use actix_web::HttpResponse;
use workforce_app::access::Denied;
use workforce_app::runs::{self, RunError};
use workforce_app::{Codes, Failure};
use workforce_domain::page::PageRequest;
use workforce_domain::port::RunCursor;
use workforce_domain::run::Run;

use super::super::issue_ref;
use super::{OPEN, TAG};
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::reply::Reply;
use crate::request_context::RequestContext;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_list, Access::Anyone, Codes::NONE, list)
        .add(__path_live, Access::Anyone, Codes::NONE, live)
        .add(__path_active, Access::Anyone, Codes::NONE, active)
}

/// Runs about an issue, newest first.
#[utoipa::path(get, path = "/api/issues/{issueId}/runs", tag = TAG,
    operation_id = "listIssueRuns",
    params(Paging),
    responses((status = 200, description = "The runs.", body = Vec<Run>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((issue_ref(rq)?, rq.page::<RunCursor>()?)),
            |reads, ctx, (issue, page)| runs::of_issue(reads, ctx, issue, &[], page),
            Reply::<Vec<Run>>::page,
        )
        .await
}

/// Runs about an issue that have not ended, newest first.
#[utoipa::path(get, path = "/api/issues/{issueId}/live-runs", tag = TAG,
    operation_id = "listLiveIssueRuns",
    params(Paging),
    responses((status = 200, description = "The runs.", body = Vec<Run>)))]
async fn live(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((issue_ref(rq)?, rq.page::<RunCursor>()?)),
            |reads, ctx, (issue, page)| runs::of_issue(reads, ctx, issue, &OPEN, page),
            Reply::<Vec<Run>>::page,
        )
        .await
}

/// The run that works on an issue: one whose program runs before one that
/// waits.
#[utoipa::path(get, path = "/api/issues/{issueId}/active-run", tag = TAG,
    operation_id = "getActiveIssueRun",
    responses((status = 200, description = "The run.", body = Run)))]
async fn active(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            issue_ref,
            |reads, ctx, issue| {
                let page = runs::of_issue(reads, ctx, issue, &OPEN, &PageRequest::first())?;
                page.items
                    .into_iter()
                    .max_by_key(|run| (run.status.is_live(), run.created_at))
                    .ok_or_else(|| Failure::<RunError>::from(Denied::NotFound("active run")))
            },
            Reply::ok,
        )
        .await
}
