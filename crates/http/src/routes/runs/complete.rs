use actix_web::HttpResponse;
use workforce_app::runs;
use workforce_domain::run::{CompletionReport, Run};

use super::TAG;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::reply::Reply;
use crate::request_context::RequestContext;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints.add(__path_complete, Access::OwnRun, runs::COMPLETE, complete)
}

/// Says how a run ended whose agent answered 202. The run ends at once; its token is
/// good until then. The same said again is answered alike.
#[utoipa::path(post, path = "/api/heartbeat-runs/{runId}/complete", tag = TAG,
    operation_id = "completeHeartbeatRun",
    request_body = CompletionReport,
    responses((status = 200, description = "The run.", body = Run)))]
async fn complete(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .write(
            |rq| Ok((rq.id("runId")?, rq.json::<CompletionReport>()?)),
            |tx, ctx, (run, report)| runs::complete(tx, ctx, *run, report.clone()),
            Reply::ok,
        )
        .await
}
