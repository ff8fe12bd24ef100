//! A body that has to arrive at a certain pace and within a certain length.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use actix_web::error::PayloadError;
use actix_web::rt::time::timeout;
use actix_web::web::{Bytes, Payload};
use futures_util::{Stream, StreamExt, stream};

/// After its first seconds a body brings at least so many bytes a second: whoever
/// sends slower does not keep a slot from others.
const MIN_RATE: u64 = 16 * 1024;

/// Why a body was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// It brought too little in its time.
    TooSlow,
    /// It is longer than it may be.
    TooLong,
    /// Its connection ended.
    Ended,
}

/// Tells why a body was cut, if it was.
#[derive(Clone, Debug, Default)]
pub(super) struct AbortReason(Rc<Cell<Option<Cut>>>);

impl AbortReason {
    pub(super) fn cut(&self) -> Option<Cut> {
        self.0.get()
    }
}

/// The body, ended with an error as soon as it is slower or longer than it may
/// be. It gets `first_time` to begin with.
pub(super) fn paced(
    payload: Payload,
    first_time: Duration,
    max_length: u64,
) -> (
    impl Stream<Item = Result<Bytes, PayloadError>> + 'static,
    AbortReason,
) {
    let abort_reason = AbortReason::default();
    let body = Paced {
        payload,
        began: Instant::now(),
        first_time,
        received: 0,
        max_length,
        abort_reason: abort_reason.clone(),
    };
    let stream = stream::unfold(Some(body), async |body| {
        let mut body = body?;
        match body.next().await {
            Ok(Some(chunk)) => Some((Ok(chunk), Some(body))),
            Ok(None) => None,
            Err(cut) => {
                body.abort_reason.0.set(Some(cut));
                Some((Err(PayloadError::Incomplete(None)), None))
            }
        }
    });
    // The parser asks on after the end.
    (stream.fuse(), abort_reason)
}

struct Paced {
    payload: Payload,
    began: Instant,
    first_time: Duration,
    received: u64,
    max_length: u64,
    abort_reason: AbortReason,
}

impl Paced {
    async fn next(&mut self) -> Result<Option<Bytes>, Cut> {
        let earned = Duration::from_secs(self.received / MIN_RATE);
        let left = (self.first_time + earned).saturating_sub(self.began.elapsed());
        let Ok(chunk) = timeout(left, self.payload.next()).await else {
            return Err(Cut::TooSlow);
        };
        let chunk = chunk.transpose().map_err(|error| {
            tracing::debug!(%error, "an upload ended early");
            Cut::Ended
        })?;
        self.received += chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
        if self.received > self.max_length {
            return Err(Cut::TooLong);
        }
        Ok(chunk)
    }
}
