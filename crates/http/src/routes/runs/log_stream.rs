use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use actix_web::http::header;
use actix_web::{HttpResponse, web};
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use workforce_app::{Failure, runs};
use workforce_domain::actor::Owned;
use workforce_domain::id::RunId;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::LogSlice;
use workforce_domain::run::{Run, RunErrorCode, RunStatus};

use super::TAG;
use super::log::ELSEWHERE;
use crate::exchange::Exchange;
use crate::problem::Problem;
use crate::registry::{Access, Endpoints};
use crate::schema;
use crate::streams::{
    self, Channel, EVENT_STREAM, Frame, Gone, KEEP_ALIVE, Outlet, StreamLimits, preamble,
};

/// Output is sent in pieces of so many bytes.
const PIECE: u64 = 64 * 1024;
/// A live run's log is looked at so often.
const LOOK_EVERY: Duration = Duration::from_millis(500);

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
        ("runId" = schema::Id, Path, description = "The run."),
        ("offset" = Option<u64>, Query, description = "Where to begin, in bytes."),
        ("Last-Event-ID" = Option<u64>, Header,
            description = "The same as `offset`, and wins over it."),
    ),
    responses((status = 200, description = "The output.",
        body = schema::ServerSentEvent, content_type = "text/event-stream")))]
async fn log_stream(exchange: Exchange) -> HttpResponse {
    stream(exchange).await
}

/// Answers with the output as a stream.
pub(super) async fn stream(exchange: Exchange) -> HttpResponse {
    let exchange = Arc::new(exchange);
    let opened = open(&exchange).await;
    opened.unwrap_or_else(|problem| problem.answer(&exchange.incoming.request_id))
}

#[derive(Clone, Copy)]
struct Wanted {
    run: RunId,
    offset: u64,
}

async fn open(exchange: &Arc<Exchange>) -> Result<HttpResponse, Problem> {
    let rq = &exchange.incoming;
    let wanted = rq.id("runId").and_then(|run| {
        let offset = rq.seen("offset")?.unwrap_or(0);
        Ok(Wanted { run, offset })
    });
    let asked = wanted.clone();
    let looked = exchange
        .look(true, move |reads, call| {
            let wanted = asked.clone().map_err(Failure::Refused)?;
            runs::get(reads, call, wanted.run).map_err(|failure| failure.map(Problem::refused))
        })
        .await?;
    let wanted = wanted?;
    if rq.method == "HEAD" {
        return Ok(HttpResponse::Ok()
            .content_type(EVENT_STREAM)
            .insert_header((header::CACHE_CONTROL, "no-store, no-transform"))
            .finish());
    }
    let (run, state) = (looked.value, &exchange.state);
    let permit = state.streams().enter(&looked.caller)?;
    let channel = state.streams().channel(&state.ports.store, run.scope());
    let limits = state.streams().limits();
    let (outlet, response) = streams::answer(permit);
    let now = Instant::now();
    let reader = Reader {
        exchange: Arc::clone(exchange),
        calls: channel.calls(),
        channel,
        limits,
        run,
        offset: wanted.offset,
        sent_at: now,
        looked_at: now,
    };
    actix_web::rt::spawn(reader.run(outlet));
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
    exchange: Arc<Exchange>,
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
    async fn run(mut self, outlet: Outlet) {
        let mut closing = self.exchange.state.streams().closing();
        tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing) => {}
            _gone = outlet.gone() => {}
            ended = self.read(&outlet) => {
                let Err(Gone) = ended;
            }
        }
        drop(self.channel);
    }

    async fn read(&mut self, outlet: &Outlet) -> Result<Infallible, Gone> {
        outlet.send(preamble(self.offset)).await?;
        loop {
            // The output of a run is complete before it is told to have ended,
            // so that it is looked at in this order.
            let has_ended = self.run.status.is_terminal();
            let slice = self.slice(outlet).await?;
            if slice.next_offset > self.offset {
                let next_offset = slice.next_offset;
                self.send(outlet, self.offset, next_offset, &slice.content)
                    .await?;
                self.offset = next_offset;
            } else if has_ended {
                return self.end(outlet, slice.total).await;
            } else {
                self.wait(outlet).await?;
            }
            if self.looked_at.elapsed() >= self.limits.recheck {
                self.look(outlet).await?;
            }
        }
    }

    async fn slice(&self, outlet: &Outlet) -> Result<LogSlice, Gone> {
        let logs = Arc::clone(&self.exchange.state.ports.logs);
        let (company, run, offset) = (self.run.company, self.run.id, self.offset);
        let read = web::block(move || logs.read(company, run, offset, PIECE)).await;
        let problem = match read {
            Ok(Ok(slice)) => return Ok(slice),
            Ok(Err(error)) => Problem::internal(&error),
            Err(panicked) => Problem::internal(&panicked),
        };
        tracing::warn!(%problem, %run, "the log of a run cannot be streamed");
        self.refuse(outlet, &problem).await
    }

    async fn send(
        &mut self,
        outlet: &Outlet,
        offset: u64,
        next_offset: u64,
        content: &str,
    ) -> Result<(), Gone> {
        let chunk = Chunk {
            run_id: self.run.id,
            offset,
            next_offset,
            content,
        };
        self.emit(outlet, next_offset, "log", &chunk).await
    }

    async fn end(&mut self, outlet: &Outlet, total: u64) -> Result<Infallible, Gone> {
        let elsewhere = total == 0 && self.run.log_bytes > 0;
        if elsewhere && self.offset == 0 {
            let tail = self.run.log_tail.take().unwrap_or_default();
            self.send(outlet, 0, 0, &tail).await?;
        }
        let end = End {
            run_id: self.run.id,
            status: self.run.status,
            error_code: self.run.error_code,
            total_bytes: total,
            note: elsewhere.then_some(ELSEWHERE),
        };
        self.emit(outlet, self.offset, "end", &end).await?;
        Err(Gone)
    }

    async fn emit(
        &mut self,
        outlet: &Outlet,
        id: u64,
        kind: &str,
        data: &impl Serialize,
    ) -> Result<(), Gone> {
        self.sent_at = Instant::now();
        match Frame::new(id, kind, data) {
            Ok(frame) => outlet.send(frame.text().clone()).await,
            Err(error) => self.refuse(outlet, &Problem::internal(&error)).await,
        }
    }

    /// Waits until there may be more output or the run may have ended.
    async fn wait(&mut self, outlet: &Outlet) -> Result<(), Gone> {
        sleep(LOOK_EVERY).await;
        if self.calls.has_changed().unwrap_or(false) {
            self.calls.mark_unchanged();
            self.look(outlet).await?;
        }
        if self.sent_at.elapsed() >= self.limits.keep_alive {
            self.sent_at = Instant::now();
            outlet.send(KEEP_ALIVE).await?;
        }
        Ok(())
    }

    /// Looks at the run, and whether the reader may still read it.
    async fn look(&mut self, outlet: &Outlet) -> Result<(), Gone> {
        let id = self.run.id;
        let looked = self
            .exchange
            .look(false, move |reads, call| runs::get(reads, call, id))
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
            Err(problem) => self.refuse(outlet, &problem).await,
        }
    }

    /// Ends the stream, saying why.
    async fn refuse<T>(&self, outlet: &Outlet, problem: &Problem) -> Result<T, Gone> {
        outlet.send(format!(": {}\n\n", problem.code())).await?;
        Err(Gone)
    }
}
