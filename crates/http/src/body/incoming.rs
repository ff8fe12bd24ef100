//! Takes the body of a request off its connection (docs/access.md#requests).
//!
//! Whoever sends a small one may be anybody. A large one is held in memory until
//! it is whole, so it is taken further only when its caller is known and has a
//! place for it: what all of them hold together is bounded, and whoever lacks a
//! credential where one is needed never holds more than a small one.

use std::time::Duration;

use actix_web::dev;
use actix_web::http::header::CONTENT_ENCODING;
use actix_web::rt::time::timeout;
use actix_web::web::{Bytes, BytesMut};
use futures_util::StreamExt;
use tokio::time::Instant;
use workforce_app::Code;
use workforce_app::authenticate::AuthError;

use super::MAX_BODY;
use super::coding::Coding;
use crate::access_rules::Access;
use crate::problem::Problem;
use crate::request_context::{RequestContext, caller_name, in_pool};
use crate::slots::{ANYBODY, Slot, SlotLimits};
use crate::streamed_request::StreamedRequest;

/// A larger body is a large one.
const SMALL: usize = 64 * 1024;
/// So much of a body that is refused is still taken, and for so long, so that its
/// caller sees the answer.
const DRAINED: usize = 8 * MAX_BODY;
const DRAINED_FOR: Duration = Duration::from_secs(2);

/// Large bodies that there may be at once: 64 MiB in all, a quarter of them of
/// one caller.
pub(crate) const LARGE_BODIES: SlotLimits = SlotLimits {
    at_once: 32,
    per_caller: 8,
    patience: Duration::from_secs(10),
};

/// Gives a request its body, and the place of a large one until it is served.
///
/// # Errors
/// `invalid_request` for a body that does not come whole and in time,
/// `body_too_large`, and of a large one what its caller is refused with, or
/// `busy`.
pub(crate) async fn receive(
    rqctx: RequestContext,
    connection: StreamedRequest,
    what: &'static str,
) -> Result<(RequestContext, Option<Slot>), Problem> {
    let deadline = rqctx.state.body_deadline;
    let coding = Coding::of(connection.header(CONTENT_ENCODING))?;
    let mut body = IncomingBody::of(connection, what, MAX_BODY, deadline)?;
    let (rqctx, slot) = match body.take_small().await? {
        true if coding.is_none() => (rqctx, None),
        // What is small may become large.
        _ => match admitted(rqctx).await {
            Ok((rqctx, slot)) => (rqctx, Some(slot)),
            Err(problem) => {
                body.drain().await;
                return Err(problem);
            }
        },
    };
    let body = body.take_rest().await?;
    let body = match coding {
        Some(coding) => in_pool(Duration::ZERO, move || coding.decode(&body)).await?,
        None => body,
    };
    Ok((rqctx.with_body(body), slot))
}

/// Finds out who sends a large body, and takes a place for it.
async fn admitted(rqctx: RequestContext) -> Result<(RequestContext, Slot), Problem> {
    let (rqctx, caller) = match rqctx.access {
        Access::Public => (rqctx, ANYBODY.to_owned()),
        _ => {
            let admitted = rqctx.look::<_, _, AuthError>(
                |_| Ok(()),
                |_reads, ctx, ()| Ok(caller_name(ctx.actor())),
            );
            admitted.await?
        }
    };
    let slot = rqctx.state.large_bodies.take(&caller).await?;
    Ok((rqctx, slot))
}

/// A body of which more may come.
pub(crate) struct IncomingBody {
    payload: dev::Payload,
    what: &'static str,
    max: usize,
    taken: BytesMut,
    is_whole: bool,
    /// For how long it may still be waited for.
    left: Duration,
}

impl IncomingBody {
    /// The body of this connection, of which nothing is taken yet: `what` has at
    /// most `max` bytes and `deadline` to arrive.
    ///
    /// # Errors
    /// `body_too_large` for one that says itself that it is above its limit.
    pub(crate) fn of(
        connection: StreamedRequest,
        what: &'static str,
        max: usize,
        deadline: Duration,
    ) -> Result<Self, Problem> {
        let announced = connection.announced_length();
        if announced.is_some_and(|length| length > max as u64) {
            return Err(Problem::too_large(what, max as u64));
        }
        let payload = connection.payload.into_inner();
        Ok(Self {
            is_whole: matches!(payload, dev::Payload::None),
            payload,
            what,
            max,
            taken: BytesMut::new(),
            left: deadline,
        })
    }

    /// Takes as much as anybody may send. Returns whether that is all of it.
    ///
    /// # Errors
    /// `invalid_request` for what does not come whole and in time.
    pub(crate) async fn take_small(&mut self) -> Result<bool, Problem> {
        self.take(SMALL.min(self.max)).await
    }

    /// Takes what is left of it, and returns all of it.
    ///
    /// # Errors
    /// As [`take_small`](Self::take_small), and `body_too_large`.
    pub(crate) async fn take_rest(mut self) -> Result<Bytes, Problem> {
        if self.take(self.max).await? {
            return Ok(self.taken.freeze());
        }
        let too_large = Problem::too_large(self.what, self.max as u64);
        self.drain().await;
        Err(too_large)
    }

    /// Takes more, until it is whole or more than `most` bytes are there. Returns
    /// whether it is whole.
    async fn take(&mut self, most: usize) -> Result<bool, Problem> {
        if self.is_whole {
            return Ok(true);
        }
        let began = Instant::now();
        let taken = timeout(self.left, async {
            while !self.is_whole && self.taken.len() <= most {
                match self.payload.next().await {
                    None => self.is_whole = true,
                    Some(Ok(piece)) => self.taken.extend_from_slice(&piece),
                    Some(Err(error)) => {
                        tracing::debug!(%error, "a body ended early");
                        return Err(Problem::new(Code::InvalidRequest, "the body ended early"));
                    }
                }
            }
            Ok(self.is_whole)
        });
        let taken = taken.await;
        self.left = self.left.saturating_sub(began.elapsed());
        taken.unwrap_or_else(|_elapsed| {
            let detail = "the body did not arrive in time";
            Err(Problem::new(Code::InvalidRequest, detail))
        })
    }

    /// Takes what still comes, within reason, and keeps nothing of it.
    async fn drain(mut self) {
        let mut length = self.taken.len();
        drop(self.taken);
        let rest = async {
            while length <= DRAINED
                && let Some(Ok(piece)) = self.payload.next().await
            {
                length = length.saturating_add(piece.len());
            }
        };
        // In time or not, the answer is the same.
        let _ = timeout(self.left.min(DRAINED_FOR), rest).await;
    }
}
