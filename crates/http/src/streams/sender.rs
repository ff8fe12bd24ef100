use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::Bytes;
use futures_util::Stream;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::end::{CloseCause, ReaderGone};
use super::stall::StallDetector;
use super::{Permit, Streams};

/// So many pieces wait for a reader at most.
const QUEUE: usize = 4;

/// The sending end of a stream.
pub(crate) struct EventSender {
    sender: mpsc::Sender<Bytes>,
    streams: Arc<Streams>,
    stall_detector: StallDetector,
}

impl EventSender {
    /// Hands a piece to the reader. One that takes nothing for long is given
    /// up: it comes back and goes on where it was.
    pub(crate) async fn send(&self, piece: impl Into<Bytes>) -> Result<(), ReaderGone> {
        let sending = self.sender.send(piece.into());
        self.streams.patiently(sending).await?;
        self.stall_detector.handed();
        Ok(())
    }

    /// Resolves when the reader is gone, or takes nothing.
    pub(crate) fn gone(&self) -> impl Future<Output = CloseCause> + use<> {
        let sender = self.sender.clone();
        let (streams, stall_detector) = (Arc::clone(&self.streams), self.stall_detector.clone());
        async move {
            tokio::select! {
                () = sender.closed() => {}
                () = streams.stalled(&stall_detector) => {}
            }
            CloseCause::ReaderGone
        }
    }
}

impl Streams {
    /// Waits until a reader takes what is being sent, but not for ever.
    pub(super) async fn patiently<E>(
        &self,
        sending: impl Future<Output = Result<(), E>>,
    ) -> Result<(), ReaderGone> {
        match timeout(self.limits.patience, sending).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_closed)) => Err(ReaderGone),
            Err(_elapsed) => {
                self.drop_one();
                Err(ReaderGone)
            }
        }
    }

    /// Resolves when a reader has taken nothing of what was handed to it for too
    /// long. That its buffers had room for a little more does not count.
    pub(super) async fn stalled(&self, stall_detector: &StallDetector) {
        stall_detector.lost(self.limits.patience).await;
        self.drop_one();
    }

    fn drop_one(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
        tracing::debug!("a stream is dropped: its reader takes nothing");
    }
}

/// The body of a stream. It holds the permit, so that a connection which its
/// reader does not let go of counts until it is gone.
struct Body {
    receiver: mpsc::Receiver<Bytes>,
    stall_detector: StallDetector,
    _permit: Permit,
}

impl Stream for Body {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.receiver.poll_recv(cx);
        if polled.is_ready() {
            self.stall_detector.taken(!self.receiver.is_empty());
        }
        polled.map(|piece| piece.map(Ok))
    }
}

/// A response that stays open for as long as its [`EventSender`] lives.
pub(crate) fn answer(permit: Permit, content_type: &'static str) -> (EventSender, HttpResponse) {
    let streams = Arc::clone(&permit.streams);
    let (sender, receiver) = mpsc::channel(QUEUE);
    let mut response = HttpResponse::Ok();
    response.content_type(content_type);
    response.insert_header((header::CACHE_CONTROL, "no-store, no-transform"));
    // Not compressed here, and not gathered by a proxy.
    response.insert_header((header::CONTENT_ENCODING, "identity"));
    response.insert_header(("X-Accel-Buffering", "no"));
    let stall_detector = StallDetector::default();
    let response = response.streaming(Body {
        receiver,
        stall_detector: stall_detector.clone(),
        _permit: permit,
    });
    let sender = EventSender {
        sender,
        streams,
        stall_detector,
    };
    (sender, response)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::StreamLimits;
    use super::super::frame::EVENT_STREAM;
    use super::*;

    #[actix_web::test]
    async fn a_reader_that_takes_nothing_is_dropped_although_there_is_room_for_more() {
        let streams = Arc::new(Streams::new(StreamLimits {
            patience: Duration::from_millis(50),
            ..StreamLimits::default()
        }));
        let (sender, _unread) = answer(streams.enter("somebody").unwrap(), EVENT_STREAM);
        assert_eq!(sender.send("one piece").await, Ok(()));
        let gone = timeout(Duration::from_secs(30), sender.gone()).await;
        assert_eq!(gone, Ok(CloseCause::ReaderGone));
        assert_eq!(streams.dropped(), 1);
    }
}
