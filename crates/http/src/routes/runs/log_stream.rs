use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::header;
use workforce_app::{Failure, runs};
use workforce_domain::actor::CompanyOwned;
use workforce_domain::id::RunId;

use super::TAG;
use super::log_encoding::LogFormat;
use super::log_pump::LogPump;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::problem::Problem;
use crate::request_context::RequestContext;
use crate::streams;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints.add(
        __path_log_stream,
        Access::ItselfOrAbove,
        streams::ENTER,
        log_stream,
    )
}

/// A run's output as it is written: a stream of server-sent events. Each `log`
/// event holds a piece, and its id is where the next one begins, in bytes, with
/// which a reader that lost the connection comes back. When the run has ended
/// and everything was sent comes one event `end`, and the stream ends. With
/// `format=ndjson` it is a stream of lines of JSON as under `/log`, of which the
/// last one alone has `complete`.
#[utoipa::path(get, path = "/api/heartbeat-runs/{runId}/log/stream", tag = TAG,
    operation_id = "streamHeartbeatRunLog",
    params(
        ("offset" = Option<u64>, Query, description = "Where to begin, in bytes."),
        ("Last-Event-ID" = Option<u64>, Header,
            description = "The same as `offset`, and wins over it."),
        ("format" = inline(Option<LogFormat>), Query,
            description = "`plain`, which are server-sent events, or `ndjson`; \
                `plain` when left out."),
    ),
    responses((status = 200, description = "The output.",
        content((String = "text/event-stream"), (String = "application/x-ndjson")))))]
async fn log_stream(rqctx: RequestContext) -> HttpResponse {
    stream(rqctx).await
}

/// Answers with the output as a stream.
pub(super) async fn stream(rqctx: RequestContext) -> HttpResponse {
    let rqctx = Arc::new(rqctx);
    let opened = open(&rqctx).await;
    opened.unwrap_or_else(|problem| problem.answer(&rqctx.request.request_id))
}

#[derive(Clone, Copy)]
struct LogParams {
    run: RunId,
    offset: u64,
    format: LogFormat,
}

async fn open(rqctx: &Arc<RequestContext>) -> Result<HttpResponse, Problem> {
    let rq = &rqctx.request;
    let wanted = rq.id("runId").and_then(|run| {
        let offset = rq.seen("offset")?.unwrap_or(0);
        let format = LogFormat::of(rq)?;
        Ok(LogParams {
            run,
            offset,
            format,
        })
    });
    let asked = wanted.clone();
    let looked = rqctx
        .read_for_stream(true, move |reads, ctx| {
            let wanted = asked.clone().map_err(Failure::Refused)?;
            runs::get_with_log(reads, ctx, wanted.run)
                .map_err(|failure| failure.map(Problem::refused))
        })
        .await?;
    let wanted = wanted?;
    if rq.method == "HEAD" {
        return Ok(HttpResponse::Ok()
            .content_type(wanted.format.stream_type())
            .insert_header((header::CACHE_CONTROL, "no-store, no-transform"))
            .finish());
    }
    let (run, state) = (looked.value, &rqctx.state);
    let permit = state.streams().enter(&looked.caller)?;
    let channel = state.streams().channel(&state.ports.store, run.scope());
    let (sender, response) = streams::answer(permit, wanted.format.stream_type());
    let pump = LogPump::new(
        Arc::clone(rqctx),
        channel,
        run,
        wanted.offset,
        wanted.format,
    );
    actix_web::rt::spawn(pump.run(sender));
    Ok(response)
}
