use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web::{self, Bytes};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use workforce_app::runs;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::LogSlice;
use workforce_domain::run::Run;
use workforce_domain::time::Timestamp;

use super::log_encoding::LogFormat;
use super::log_end::LogEnd;
use crate::problem::Problem;
use crate::request_context::RequestContext;
use crate::streams::{Channel, EventSender, ReaderGone, StreamLimits};

/// Output is sent in pieces of so many bytes.
const PIECE: u64 = 64 * 1024;
/// A live run's log is looked at so often.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// One reader of a run's output, from its first piece to its end.
pub(super) struct LogPump {
    rqctx: Arc<RequestContext>,
    /// Kept because it rings `calls`.
    channel: Arc<Channel>,
    calls: watch::Receiver<u64>,
    limits: StreamLimits,
    /// As it was when it was last looked at.
    run: Run,
    offset: u64,
    format: LogFormat,
    sent_at: Instant,
    looked_at: Instant,
}

impl LogPump {
    pub(super) fn new(
        rqctx: Arc<RequestContext>,
        channel: Arc<Channel>,
        run: Run,
        offset: u64,
        format: LogFormat,
    ) -> Self {
        let now = Instant::now();
        Self {
            limits: rqctx.state.streams().limits(),
            calls: channel.calls(),
            rqctx,
            channel,
            run,
            offset,
            format,
            sent_at: now,
            looked_at: now,
        }
    }

    /// Sends until everything is sent, the reader is gone or may read no longer,
    /// or the server stops.
    pub(super) async fn run(mut self, sender: EventSender) {
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
        if let Some(begin) = self.format.begin(self.offset) {
            sender.send(begin).await?;
        }
        loop {
            // The output of a run is complete before it is told to have ended,
            // so that it is looked at in this order.
            let has_ended = self.run.status.is_terminal();
            let slice = self.slice(sender).await?;
            if slice.next_offset > self.offset {
                let piece = self.format.piece(&self.run, self.offset, &slice);
                self.emit(sender, piece).await?;
                self.offset = slice.next_offset;
            } else if has_ended {
                return self.end(sender, slice).await;
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

    async fn end(
        &mut self,
        sender: &EventSender,
        mut slice: LogSlice,
    ) -> Result<Infallible, ReaderGone> {
        let end = LogEnd::of(&mut self.run, self.offset, &mut slice);
        // What is left may be the beginning of a character, which nothing follows.
        let end = LogEnd {
            complete: end.note.is_none(),
            ..end
        };
        if !slice.parts.is_empty() {
            let piece = self.format.piece(&self.run, self.offset, &slice);
            self.emit(sender, piece).await?;
        }
        let last = self.format.end(&self.run, end, slice.total, self.now());
        self.emit(sender, last).await?;
        Err(ReaderGone)
    }

    async fn emit(
        &mut self,
        sender: &EventSender,
        text: Result<Bytes, Problem>,
    ) -> Result<(), ReaderGone> {
        self.sent_at = Instant::now();
        match text {
            Ok(text) => sender.send(text).await,
            Err(problem) => self.refuse(sender, &problem).await,
        }
    }

    fn now(&self) -> Timestamp {
        self.rqctx.state.ports.clock.now()
    }

    /// Waits until there may be more output or the run may have ended.
    async fn wait(&mut self, sender: &EventSender) -> Result<(), ReaderGone> {
        sleep(LOOK_EVERY).await;
        if self.calls.has_changed().unwrap_or(false) {
            self.calls.mark_unchanged();
            self.check_status(sender).await?;
        }
        if self.sent_at.elapsed() >= self.limits.keep_alive {
            let keep_alive = self.format.keep_alive(self.offset, self.now());
            self.emit(sender, keep_alive).await?;
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
        if let Some(refusal) = self.format.refusal(problem) {
            sender.send(refusal).await?;
        }
        Err(ReaderGone)
    }
}
