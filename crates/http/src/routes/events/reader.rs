//! One reader of a company's events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web::{Bytes, BytesMut};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};
use workforce_app::events::{self, Opening};
use workforce_domain::port::EventSpan;

use super::Wanted;
use crate::exchange::Exchange;
use crate::problem::Problem;
use crate::streams::{
    Channel, Frame, Gone, KEEP_ALIVE, Outlet, Piece, Sent, StreamLimits, preamble,
};

/// After a failure of the store it is left alone for this long.
const STORE_PAUSE: Duration = Duration::from_secs(1);
/// Whoever is called for nothing looks whether it may still read, but no more
/// often than this.
const CALLED_FOR_NOTHING: Duration = Duration::from_millis(500);

/// One reader, from its first event to its end.
pub(super) struct Reader {
    exchange: Arc<Exchange>,
    wanted: Wanted,
    channel: Arc<Channel>,
    calls: watch::Receiver<u64>,
    limits: StreamLimits,
    /// Everything up to this number was sent or left out.
    after: i64,
    /// The number that the reader knows to come back with.
    told: i64,
    /// The number that it named, when what followed is not kept any more.
    lost: Option<(i64, EventSpan)>,
    sent_at: Instant,
    checked_at: Instant,
}

impl Reader {
    pub(super) fn new(
        exchange: Arc<Exchange>,
        wanted: Wanted,
        opening: Opening,
        channel: Arc<Channel>,
    ) -> Self {
        let now = Instant::now();
        Self {
            limits: exchange.state.streams().limits(),
            calls: channel.calls(),
            after: opening.after,
            told: opening.after,
            lost: opening.lost.map(|after| (after, opening.span)),
            exchange,
            wanted,
            channel,
            sent_at: now,
            checked_at: now,
        }
    }

    /// Sends until the reader is gone, may read no longer, or the server
    /// stops.
    pub(super) async fn run(mut self, outlet: Outlet) {
        let mut closing = self.exchange.state.streams().closing();
        tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing) => {}
            () = outlet.closed() => {}
            ended = self.read(&outlet) => {
                let Err(Gone) = ended;
            }
        }
    }

    async fn read(&mut self, outlet: &Outlet) -> Result<Infallible, Gone> {
        let mut beginning = preamble(self.after);
        if let Some((after, span)) = self.lost.take() {
            beginning.push_str(&self.reset(after, span));
        }
        outlet.send(beginning).await?;
        let mut called = false;
        loop {
            if self.checked_at.elapsed() >= self.limits.recheck {
                self.check(outlet).await?;
            }
            match self.channel.after(self.after).await {
                Ok(Piece::Events(events)) if events.is_empty() => {
                    if called && self.checked_at.elapsed() >= CALLED_FOR_NOTHING {
                        self.check(outlet).await?;
                    }
                    called = self.wait(outlet).await?;
                }
                Ok(Piece::Events(events)) => {
                    called = false;
                    self.send(outlet, &events).await?;
                    if events.iter().any(|event| event.ends_credentials) {
                        self.check(outlet).await?;
                    }
                }
                Ok(Piece::Lost) => {
                    let after = self.after;
                    if let Some(span) = self.check(outlet).await? {
                        let reset = self.reset(after, span);
                        outlet.send(reset).await?;
                    }
                }
                Err(problem) => self.pause(&problem).await,
            }
        }
    }

    /// Tells the reader that it lost something, and goes on with the oldest
    /// event that is kept.
    fn reset(&mut self, lost_after: i64, span: EventSpan) -> String {
        self.after = span.oldest - 1;
        self.told = self.after;
        let event = json!({
            "id": self.after,
            "companyId": self.wanted.company,
            "type": "reset",
            "createdAt": self.exchange.state.ports.clock.now(),
            "payload": {
                "after": lost_after,
                "oldestId": span.oldest,
                "latestId": span.latest,
            },
        });
        format!("id: {}\nevent: reset\ndata: {event}\n\n", self.after)
    }

    async fn send(&mut self, outlet: &Outlet, events: &[Arc<Sent>]) -> Result<(), Gone> {
        let mut text = BytesMut::new();
        for event in events {
            self.after = event.number;
            if self.wanted.has(event.kind) {
                text.extend_from_slice(&event.frame.0);
                self.told = event.number;
            }
        }
        if text.is_empty() {
            return Ok(());
        }
        self.sent_at = Instant::now();
        outlet.send(text.freeze()).await
    }

    /// Waits until there may be something new or something is due; whether
    /// somebody called.
    async fn wait(&mut self, outlet: &Outlet) -> Result<bool, Gone> {
        let silent_until = self.sent_at + self.limits.keep_alive;
        let until = silent_until.min(self.checked_at + self.limits.recheck);
        let called = tokio::select! {
            // The channel that rings is held here, so that it never ends.
            _ = self.calls.changed() => true,
            () = sleep_until(until) => false,
        };
        if Instant::now() >= silent_until {
            // What was left out need not be looked at again either.
            let sign = if self.told < self.after {
                self.told = self.after;
                Frame::position(self.after).0
            } else {
                Bytes::from_static(KEEP_ALIVE.as_bytes())
            };
            self.sent_at = Instant::now();
            outlet.send(sign).await?;
        }
        Ok(called)
    }

    /// Looks whether the reader may still read, and whether something came
    /// that nobody told of; what is kept, unless the store does not answer.
    async fn check(&mut self, outlet: &Outlet) -> Result<Option<EventSpan>, Gone> {
        let company = self.wanted.company;
        let looked = self
            .exchange
            .look(false, move |reads, call| events::span(reads, call, company))
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
            Err(problem) => {
                outlet.send(format!(": {}\n\n", problem.code())).await?;
                Err(Gone)
            }
        }
    }

    async fn pause(&self, problem: &Problem) {
        tracing::warn!(%problem, "a stream waits for the store");
        sleep(STORE_PAUSE).await;
    }
}
