use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use actix_web::http::header;
use actix_web::{HttpResponse, web};
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use workforce_app::{Failure, runs};
use workforce_domain::actor::CompanyOwned;
use workforce_domain::id::RunId;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::LogSlice;
use workforce_domain::run::{Run, RunErrorCode, RunStatus};

use super::TAG;
use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::problem::Problem;
use crate::request_context::RequestContext;
use crate::streams::{
    self, Channel, EVENT_STREAM, EventSender, Frame, KEEP_ALIVE, ReaderGone, StreamLimits, preamble,
};

/// Output is sent in pieces of so many bytes.
const PIECE: u64 = 64 * 1024;
/// A live run's log is looked at so often.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Said of a log that another server wrote.
pub(super) const ELSEWHERE: &str =
    "the log lies on another server; this is what the run keeps of its end";

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints.add(
        __path_log_stream,
        Access::Anyone,
        streams::ENTER,
        log_stream,
    )
}

/// A run's output as it is written: a stream of server-sent events. Each `log`
/// event holds a piece, and its id is where the next one begins, in bytes, with
/// which a reader that lost the connection comes back. When the run has ended
/// and everything was sent comes one event `end`, and the stream ends.
#[utoipa::path(get, path = "/api/heartbeat-runs/{runId}/log/stream", tag = TAG,
    operation_id = "streamHeartbeatRunLog",
    params(
        ("offset" = Option<u64>, Query, description = "Where to begin, in bytes."),
        ("Last-Event-ID" = Option<u64>, Header,
            description = "The same as `offset`, and wins over it."),
    ),
    responses((status = 200, description = "The output.",
        body = String, content_type = "text/event-stream")))]
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
}

async fn open(rqctx: &Arc<RequestContext>) -> Result<HttpResponse, Problem> {
    let rq = &rqctx.request;
    let wanted = rq.id("runId").and_then(|run| {
        let offset = rq.seen("offset")?.unwrap_or(0);
        Ok(LogParams { run, offset })
    });
    let asked = wanted.clone();
    let looked = rqctx
        .read_for_stream(true, move |reads, ctx| {
            let wanted = asked.clone().map_err(Failure::Refused)?;
            runs::get(reads, ctx, wanted.run).map_err(|failure| failure.map(Problem::refused))
        })
        .await?;
    let wanted = wanted?;
    if rq.method == "HEAD" {
        return Ok(HttpResponse::Ok()
            .content_type(EVENT_STREAM)
            .insert_header((header::CACHE_CONTROL, "no-store, no-transform"))
            .finish());
    }
    let (run, state) = (looked.value, &rqctx.state);
    let permit = state.streams().enter(&looked.caller)?;
    let channel = state.streams().channel(&state.ports.store, run.scope());
    let limits = state.streams().limits();
    let (sender, response) = streams::answer(permit);
    let now = Instant::now();
    let reader = Reader {
        rqctx: Arc::clone(rqctx),
        calls: channel.calls(),
        channel,
        limits,
        run,
        offset: wanted.offset,
        sent_at: now,
        looked_at: now,
    };
    actix_web::rt::spawn(reader.run(sender));
    Ok(response)
}

/// A piece of output on its way.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    run_id: RunId,
    offset: u64,
    next_offset: u64,
    content: &'a str,
}

/// How the run ended.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct End {
    run_id: RunId,
    status: RunStatus,
    error_code: Option<RunErrorCode>,
    total_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

/// One reader of a run's output.
struct Reader {
    rqctx: Arc<RequestContext>,
    /// Kept because it rings `calls`.
    channel: Arc<Channel>,
    calls: watch::Receiver<u64>,
    limits: StreamLimits,
    /// As it was when it was last looked at.
    run: Run,
    offset: u64,
    sent_at: Instant,
    looked_at: Instant,
}

impl Reader {
    async fn run(mut self, sender: EventSender) {
        let mut closing = self.rqctx.state.streams().closing();
        tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing) => {}
            _gone = sender.gone() => {}
            ended = self.read(&sender) => {
                let Err(ReaderGone) = ended;
            }
        }
        drop(self.channel);
    }

    async fn read(&mut self, sender: &EventSender) -> Result<Infallible, ReaderGone> {
        sender.send(preamble(self.offset)).await?;
        loop {
            // The output of a run is complete before it is told to have ended,
            // so that it is looked at in this order.
            let has_ended = self.run.status.is_terminal();
            let slice = self.slice(sender).await?;
            if slice.next_offset > self.offset {
                let next_offset = slice.next_offset;
                self.send(sender, self.offset, next_offset, &slice.content)
                    .await?;
                self.offset = next_offset;
            } else if has_ended {
                return self.end(sender, slice.total).await;
            } else {
                self.wait(sender).await?;
            }
            if self.looked_at.elapsed() >= self.limits.recheck {
                self.check_status(sender).await?;
            }
        }
    }

    async fn slice(&self, sender: &EventSender) -> Result<LogSlice, ReaderGone> {
        let logs = Arc::clone(&self.rqctx.state.ports.logs);
        let (company, run, offset) = (self.run.company, self.run.id, self.offset);
        let read = web::block(move || logs.read(company, run, offset, PIECE)).await;
        let problem = match read {
            Ok(Ok(slice)) => return Ok(slice),
            Ok(Err(error)) => Problem::internal(&error),
            Err(panicked) => Problem::internal(&panicked),
        };
        tracing::warn!(%problem, %run, "the log of a run cannot be streamed");
        self.refuse(sender, &problem).await
    }

    async fn send(
        &mut self,
        sender: &EventSender,
        offset: u64,
        next_offset: u64,
        content: &str,
    ) -> Result<(), ReaderGone> {
        let chunk = Chunk {
            run_id: self.run.id,
            offset,
            next_offset,
            content,
        };
        self.emit(sender, next_offset, "log", &chunk).await
    }

    async fn end(&mut self, sender: &EventSender, total: u64) -> Result<Infallible, ReaderGone> {
        let elsewhere = total == 0 && self.run.log_bytes > 0;
        if elsewhere && self.offset == 0 {
            let tail = self.run.log_tail.take().unwrap_or_default();
            self.send(sender, 0, 0, &tail).await?;
        }
        let end = End {
            run_id: self.run.id,
            status: self.run.status,
            error_code: self.run.error_code,
            total_bytes: total,
            note: elsewhere.then_some(ELSEWHERE),
        };
        self.emit(sender, self.offset, "end", &end).await?;
        Err(ReaderGone)
    }

    async fn emit(
        &mut self,
        sender: &EventSender,
        id: u64,
        kind: &str,
        data: &impl Serialize,
    ) -> Result<(), ReaderGone> {
        self.sent_at = Instant::now();
        match Frame::new(id, kind, data) {
            Ok(frame) => sender.send(frame.text().clone()).await,
            Err(error) => self.refuse(sender, &Problem::internal(&error)).await,
        }
    }

    /// Waits until there may be more output or the run may have ended.
    async fn wait(&mut self, sender: &EventSender) -> Result<(), ReaderGone> {
        sleep(LOOK_EVERY).await;
        if self.calls.has_changed().unwrap_or(false) {
            self.calls.mark_unchanged();
            self.check_status(sender).await?;
        }
        if self.sent_at.elapsed() >= self.limits.keep_alive {
            self.sent_at = Instant::now();
            sender.send(KEEP_ALIVE).await?;
        }
        Ok(())
    }

    /// Looks at the run, and whether the reader may still read it.
    async fn check_status(&mut self, sender: &EventSender) -> Result<(), ReaderGone> {
        let id = self.run.id;
        let looked = self
            .rqctx
            .read_for_stream(false, move |reads, ctx| runs::get(reads, ctx, id))
            .await;
        match looked {
            Ok(looked) => {
                self.run = looked.value;
                self.looked_at = Instant::now();
                Ok(())
            }
            Err(problem) if problem.status().is_server_error() => {
                tracing::warn!(%problem, "a stream waits for the store");
                Ok(())
            }
            Err(problem) => self.refuse(sender, &problem).await,
        }
    }

    /// Ends the stream, saying why.
    async fn refuse<T>(&self, sender: &EventSender, problem: &Problem) -> Result<T, ReaderGone> {
        sender.send(format!(": {}\n\n", problem.code())).await?;
        Err(ReaderGone)
    }
}
