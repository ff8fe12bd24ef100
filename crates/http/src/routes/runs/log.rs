use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::{self, Bytes};
use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::runs;
use workforce_domain::id::RunId;
use workforce_domain::port::LogSlice;
use workforce_domain::run::Run;

use super::log_encoding::LogFormat;
use super::log_end::LogEnd;
use super::log_lines::{LogLines, NDJSON};
use super::{TAG, log_stream};
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::problem::Problem;
use crate::query::fault;
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};
use crate::state::State;
use crate::streams;

/// A piece of a log has at most so many bytes.
const MAX_BYTES: u64 = 1024 * 1024;
/// And so many when the caller names no limit.
const DEFAULT_BYTES: u64 = 64 * 1024;

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints.add(__path_log, Access::ItselfOrAbove, streams::ENTER, log)
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
/// stream as under `/log/stream`. With `format=ndjson` it is a line of JSON for
/// each part: `ts`, an instant not later than its first byte, `stream`, which is
/// `stdout`, `stderr` or `system`, its text as `chunk`, and as `seq` where it
/// begins, in bytes. The last line has no text: its `seq` is where the next piece
/// begins, and it has `complete` and perhaps `note`.
#[utoipa::path(get, path = "/api/heartbeat-runs/{runId}/log", tag = TAG,
    operation_id = "getHeartbeatRunLog",
    params(
        ("offset" = Option<u64>, Query, description = "Where to begin, in bytes."),
        ("limitBytes" = Option<u64>, Query, minimum = 1, maximum = 1048576,
            description = "At most so many bytes; 65536 when left out."),
        ("format" = inline(Option<LogFormat>), Query,
            description = "`plain` or `ndjson`; `plain` when left out."),
    ),
    responses((status = 200, description = "The piece.",
        content((LogBody = "application/json"), (String = "text/event-stream"),
            (String = "application/x-ndjson")))))]
async fn log(rqctx: RequestContext) -> HttpResponse {
    if LogFormat::of(&rqctx.request).is_ok_and(|format| format == LogFormat::Ndjson) {
        return lines(rqctx).await;
    }
    if rqctx.request.wants_stream(false) {
        return log_stream::stream(rqctx).await;
    }
    rqctx
        .read_and(
            |rq| {
                LogFormat::of(rq)?;
                Ok((rq.id("runId")?, span(rq)?))
            },
            |reads, ctx, (id, span)| Ok((runs::get_with_log(reads, ctx, *id)?, *span)),
            |state, (mut run, span)| {
                let (slice, end) = piece(state, &mut run, span)?;
                Ok(Reply::ok(LogBody {
                    run_id: run.id,
                    content: slice.content(),
                    offset: span.0,
                    next_offset: end.next_offset,
                    total_bytes: slice.total,
                    complete: end.complete,
                    note: end.note,
                }))
            },
        )
        .await
}

/// Answers with a piece as lines of JSON.
async fn lines(rqctx: RequestContext) -> HttpResponse {
    let found = rqctx
        .preflight(
            |rq| Ok((rq.id("runId")?, span(rq)?)),
            |reads, ctx, (id, span)| Ok((runs::get_with_log(reads, ctx, *id)?, *span)),
        )
        .await;
    let (rqctx, (run, span)) = match found {
        Ok(found) => found,
        Err(answer) => return answer,
    };
    let state = Arc::clone(&rqctx.state);
    let written = web::block(move || write_lines(&state, run, span)).await;
    match written {
        Ok(Ok(lines)) => HttpResponse::Ok()
            .content_type(NDJSON)
            .insert_header((header::CACHE_CONTROL, "no-store"))
            .body(lines),
        Ok(Err(problem)) => rqctx.refuse(problem),
        Err(panicked) => rqctx.refuse(Problem::internal(&panicked)),
    }
}

fn write_lines(state: &State, mut run: Run, span: (u64, u64)) -> Result<Bytes, Problem> {
    let (slice, end) = piece(state, &mut run, span)?;
    let mut lines = LogLines::default();
    lines.piece(&run, &slice)?;
    lines.end(state.ports.clock.now(), end)?;
    Ok(lines.into_bytes())
}

/// The piece of so many bytes from an offset on, and what is said after it.
pub(crate) fn piece(
    state: &State,
    run: &mut Run,
    (offset, limit): (u64, u64),
) -> Result<(LogSlice, LogEnd), Problem> {
    let logs = &state.ports.logs;
    let mut slice = logs
        .read(run.company, run.id, offset, limit)
        .map_err(|error| Problem::internal(&error))?;
    let end = LogEnd::of(run, offset, &mut slice);
    Ok((slice, end))
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
