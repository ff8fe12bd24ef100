use actix_web::HttpResponse;
use workforce_app::{Codes, runs};
use workforce_domain::activity::Activity;
use workforce_domain::port::ActivityCursor;

use super::TAG;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::reply::Reply;
use crate::request_context::RequestContext;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints.add(__path_list, Access::Anyone, Codes::NONE, list)
}

/// What happened to a run and what was done within it, oldest first.
#[utoipa::path(get, path = "/api/heartbeat-runs/{runId}/events", tag = TAG,
    operation_id = "listHeartbeatRunEvents",
    params(Paging),
    responses((status = 200, description = "What happened.", body = Vec<Activity>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((rq.id("runId")?, rq.page::<ActivityCursor>()?)),
            |reads, ctx, (run, page)| runs::events(reads, ctx, *run, page),
            Reply::<Vec<Activity>>::page,
        )
        .await
}
