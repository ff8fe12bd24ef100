use actix_web::HttpResponse;
use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::runs;
use workforce_domain::id::RunId;
use workforce_domain::lifecycle::Lifecycle;

use super::{TAG, log_stream};
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::problem::Problem;
use crate::query::fault;
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};
use crate::streams;

/// A piece of a log has at most so many bytes.
const MAX_BYTES: u64 = 1024 * 1024;
/// And so many when the caller names no limit.
const DEFAULT_BYTES: u64 = 64 * 1024;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints.add(__path_log, Access::Anyone, streams::ENTER, log)
}

/// A piece of a run's log.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RunLog)]
struct LogBody {
    /// The run.
    run_id: RunId,
    /// The text.
    content: String,
    /// Where it begins, in bytes.
    offset: u64,
    /// Where the next piece begins, in bytes.
    next_offset: u64,
    /// How long the log is on this server now, in bytes.
    total_bytes: u64,
    /// True when the run has ended and nothing it wrote follows this piece, here
    /// or on another server.
    complete: bool,
    /// Why the log cannot be read here, when the run wrote one and this server
    /// has none of it. The piece at offset 0 is the run's `logTail` then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    note: Option<&'static str>,
}

/// A piece of a run's output. Asked for as `text/event-stream`, it is the same
/// stream as under `/log/stream`.
#[utoipa::path(get, path = "/api/heartbeat-runs/{runId}/log", tag = TAG,
    operation_id = "getHeartbeatRunLog",
    params(
        ("offset" = Option<u64>, Query, description = "Where to begin, in bytes."),
        ("limitBytes" = Option<u64>, Query, minimum = 1, maximum = 1048576,
            description = "At most so many bytes; 65536 when left out."),
    ),
    responses((status = 200, description = "The piece.",
        content((LogBody = "application/json"), (String = "text/event-stream")))))]
async fn log(rqctx: RequestContext) -> HttpResponse {
    if rqctx.request.wants_stream(false) {
        return log_stream::stream(rqctx).await;
    }
    rqctx
        .read_and(
            |rq| Ok((rq.id("runId")?, span(rq)?)),
            |reads, ctx, (id, span)| Ok((runs::get(reads, ctx, *id)?, *span)),
            |state, (run, (offset, limit))| {
                let slice = state
                    .ports
                    .logs
                    .read(run.company, run.id, offset, limit)
                    .map_err(|error| Problem::internal(&error))?;
                let ended = run.status.is_terminal();
                let elsewhere = ended && slice.total == 0 && run.log_bytes > 0;
                let content = if elsewhere && offset == 0 {
                    run.log_tail.unwrap_or_default()
                } else {
                    slice.content
                };
                Ok(Reply::ok(LogBody {
                    run_id: run.id,
                    complete: ended && !elsewhere && slice.next_offset >= slice.total,
                    content,
                    note: elsewhere.then_some(log_stream::ELSEWHERE),
                    offset,
                    next_offset: slice.next_offset,
                    total_bytes: slice.total,
                }))
            },
        )
        .await
}

fn span(rq: &Request) -> Result<(u64, u64), Problem> {
    let query = rq.query()?;
    let offset = query.value("offset", "a number of bytes")?.unwrap_or(0);
    let limit = query
        .value("limitBytes", "a number of bytes")?
        .unwrap_or(DEFAULT_BYTES);
    if !(1..=MAX_BYTES).contains(&limit) {
        return Err(fault(
            "limitBytes",
            &format!("must be from 1 to {MAX_BYTES}"),
        ));
    }
    Ok((offset, limit))
}
