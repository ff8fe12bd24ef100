//! One reader of a company's events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};
use workforce_app::events::{self, Opening};
use workforce_domain::port::EventSpan;

use super::params::EventParams;
use super::transport::{Notice, Transport};
use crate::problem::Problem;
use crate::request_context::RequestContext;
use crate::streams::{Batch, Channel, CloseCause, EncodedEvent, ReaderGone};

/// The pause after a failure of the store.
const STORE_PAUSE: Duration = Duration::from_secs(1);
/// A pump that was woken without a new event checks whether its reader may still
/// read, but not more often than this.
const CALLED_FOR_NOTHING: Duration = Duration::from_millis(500);

/// One reader, from its first event to its end.
pub(super) struct EventPump {
    rqctx: Arc<RequestContext>,
    params: EventParams,
    channel: Arc<Channel>,
    calls: watch::Receiver<u64>,
    keep_alive: Duration,
    recheck: Duration,
    /// Everything up to this number was sent or left out.
    after: i64,
    /// The number that the reader knows to come back with.
    announced: i64,
    /// The number that it named, when what followed is not kept any more.
    lost: Option<(i64, EventSpan)>,
    sent_at: Instant,
    checked_at: Instant,
}

impl EventPump {
    pub(super) fn new(
        rqctx: Arc<RequestContext>,
        params: EventParams,
        opening: Opening,
        channel: Arc<Channel>,
        keep_alive: Duration,
    ) -> Self {
        let now = Instant::now();
        Self {
            keep_alive,
            recheck: rqctx.state.streams().limits().recheck,
            calls: channel.calls(),
            after: opening.after,
            announced: opening.after,
            lost: opening.lost.map(|after| (after, opening.span)),
            rqctx,
            params,
            channel,
            sent_at: now,
            checked_at: now,
        }
    }

    /// Sends until the reader is gone, may read no longer, or the server
    /// stops.
    pub(super) async fn run(mut self, line: Transport, gone: impl Future<Output = CloseCause>) {
        let mut closing = self.rqctx.state.streams().closing();
        let cause = tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing) => CloseCause::Stopping,
            cause = gone => cause,
            cause = self.read(&line) => cause,
        };
        line.end(cause).await;
    }

    async fn read(&mut self, line: &Transport) -> CloseCause {
        match self.read_on(line).await {
            Ok(never) => match never {},
            Err(cause) => cause,
        }
    }

    async fn read_on(&mut self, line: &Transport) -> Result<Infallible, CloseCause> {
        line.begin(&self.position()).await?;
        if let Some((after, span)) = self.lost.take() {
            let reset = self.reset(after, span);
            line.notice(&reset).await?;
        }
        let mut called = false;
        loop {
            if self.checked_at.elapsed() >= self.recheck {
                self.check().await?;
            }
            match self.channel.after(self.after).await {
                Ok(Batch::Events(events)) if events.is_empty() => {
                    if called && self.checked_at.elapsed() >= CALLED_FOR_NOTHING {
                        self.check().await?;
                    }
                    called = self.wait(line).await?;
                }
                Ok(Batch::Events(events)) => {
                    called = false;
                    self.send(line, &events).await?;
                    if events.iter().any(|event| event.ends_credentials) {
                        self.check().await?;
                    }
                }
                Ok(Batch::Lost) => {
                    let after = self.after;
                    if let Some(span) = self.check().await? {
                        let reset = self.reset(after, span);
                        line.notice(&reset).await?;
                    }
                }
                Err(problem) => self.pause(&problem).await,
            }
        }
    }

    /// Tells the reader that it lost something, and goes on with the oldest
    /// event that is kept.
    fn reset(&mut self, lost_after: i64, span: EventSpan) -> Notice {
        self.after = span.oldest - 1;
        self.announced = self.after;
        self.notice(
            "reset",
            &json!({
                "after": lost_after,
                "oldestId": span.oldest,
                "latestId": span.latest,
            }),
        )
    }

    /// Tells the reader how far it is.
    fn position(&self) -> Notice {
        self.notice("position", &json!({}))
    }

    fn notice(&self, kind: &'static str, payload: &Value) -> Notice {
        Notice {
            position: self.after,
            kind,
            body: json!({
                "id": self.after,
                "companyId": self.params.company,
                "type": kind,
                "createdAt": self.rqctx.state.ports.clock.now(),
                "payload": payload,
            }),
        }
    }

    async fn send(
        &mut self,
        line: &Transport,
        events: &[Arc<EncodedEvent>],
    ) -> Result<(), ReaderGone> {
        let params: Vec<_> = events
            .iter()
            .filter(|event| self.params.has(event.kind))
            .collect();
        self.after = events.last().map_or(self.after, |last| last.number);
        let Some(last) = params.last() else {
            return Ok(());
        };
        self.announced = last.number;
        self.sent_at = Instant::now();
        line.events(&params).await
    }

    /// Waits until there may be something new or something is due; whether
    /// somebody called.
    async fn wait(&mut self, line: &Transport) -> Result<bool, ReaderGone> {
        let silent_until = self.sent_at + self.keep_alive;
        let until = silent_until.min(self.checked_at + self.recheck);
        let called = tokio::select! {
            // The channel that rings is held here, so that it never ends.
            _ = self.calls.changed() => true,
            () = sleep_until(until) => false,
        };
        if Instant::now() >= silent_until {
            // What was left out need not be looked at again either.
            let moved = (self.announced < self.after).then(|| self.position());
            self.announced = self.after;
            self.sent_at = Instant::now();
            line.keep_alive(moved.as_ref()).await?;
        }
        Ok(called)
    }

    /// Looks whether the reader may still read, and whether something came
    /// that nobody told of; what is kept, unless the store does not answer.
    async fn check(&mut self) -> Result<Option<EventSpan>, CloseCause> {
        let company = self.params.company;
        let looked = self
            .rqctx
            .read_for_stream(false, move |reads, call| events::span(reads, call, company))
            .await;
        match looked {
            Ok(looked) => {
                self.checked_at = Instant::now();
                if looked.value.latest > self.after {
                    self.channel.call();
                }
                Ok(Some(looked.value))
            }
            Err(problem) if problem.status().is_server_error() => {
                self.pause(&problem).await;
                Ok(None)
            }
            Err(problem) => Err(CloseCause::Refused(problem.code())),
        }
    }

    async fn pause(&self, problem: &Problem) {
        tracing::warn!(%problem, "a stream waits for the store");
        sleep(STORE_PAUSE).await;
    }
}
