//! An event stream over a WebSocket.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::error::PayloadError;
use actix_web::web::{Bytes, Payload};
use actix_web::{FromRequest, HttpRequest, HttpResponse, dev};
use actix_ws::{CloseCode, CloseReason, Message, MessageStream, ProtocolError, Session};
use bytestring::ByteString;
use futures_util::StreamExt;
use tokio::time::{Instant, timeout};
use workforce_app::{Code, Codes};

use super::end::{CloseCause, ReaderGone};
use super::frame_size_limiter::FrameSizeLimiter;
use super::stall::StallDetector;
use super::{Permit, Streams};
use crate::problem::Problem;
use crate::streamed_request::StreamedRequest;

/// The most bytes that a frame of a client may have. What it says is ignored.
const FRAME_LIMIT: usize = 4 * 1024;
/// The most frames of a client within [`SPELL`].
const FRAMES: u32 = 128;
const SPELL: Duration = Duration::from_secs(10);
/// How long a reader may take to receive why its stream ends.
const FAREWELL: Duration = Duration::from_secs(1);

/// What a WebSocket is refused with.
pub(crate) const UPGRADE: Codes = Codes::of(&[Code::UpgradeRequired]);

const TOO_LARGE: CloseCause = CloseCause::Misbehaved(CloseCode::Size, "message too large");

/// The sending end of a WebSocket.
pub(crate) struct WebSocketSender {
    session: Session,
    streams: Arc<Streams>,
    stall_detector: StallDetector,
}

impl WebSocketSender {
    /// Sends messages in this order.
    pub(crate) async fn texts(
        &self,
        texts: impl IntoIterator<Item = ByteString>,
    ) -> Result<(), ReaderGone> {
        let mut session = self.session.clone();
        for text in texts {
            self.streams.patiently(session.text(text)).await?;
            self.stall_detector.handed();
        }
        Ok(())
    }

    /// Shows that the stream lives, and looks whether the reader does.
    pub(crate) async fn ping(&self) -> Result<(), ReaderGone> {
        let mut session = self.session.clone();
        self.streams.patiently(session.ping(b"")).await?;
        self.stall_detector.handed();
        Ok(())
    }

    /// Ends the stream.
    pub(crate) async fn close(self, cause: CloseCause) {
        let reason = |code, why: &str| {
            Some(CloseReason {
                code,
                description: Some(why.to_owned()),
            })
        };
        let reason = match cause {
            CloseCause::ReaderGone => return,
            CloseCause::Stopping => reason(CloseCode::Away, "the server stops"),
            CloseCause::Refused(code) => reason(CloseCode::Policy, &code.to_string()),
            CloseCause::Misbehaved(code, why) => reason(code, why),
            CloseCause::Asked(said) => said,
        };
        // One that takes nothing is not waited for.
        let _told_or_gone = timeout(FAREWELL, self.session.close(reason)).await;
    }
}

/// The receiving end of a WebSocket.
pub(crate) struct WebSocketReceiver {
    messages: MessageStream,
    session: Session,
    streams: Arc<Streams>,
    stall_detector: StallDetector,
}

impl WebSocketReceiver {
    /// Listens until the client is gone, takes nothing, or does not keep to the
    /// rules. Pings are answered; the rest is ignored.
    pub(crate) async fn gone(self) -> CloseCause {
        let (streams, stall_detector) = (Arc::clone(&self.streams), self.stall_detector.clone());
        tokio::select! {
            cause = self.listen() => cause,
            () = streams.stalled(&stall_detector) => CloseCause::ReaderGone,
        }
    }

    async fn listen(mut self) -> CloseCause {
        let (mut since, mut heard) = (Instant::now(), 0);
        while let Some(message) = self.messages.recv().await {
            if since.elapsed() > SPELL {
                (since, heard) = (Instant::now(), 0);
            }
            heard += 1;
            if heard > FRAMES {
                return CloseCause::Misbehaved(CloseCode::Policy, "too many messages");
            }
            match message {
                Ok(Message::Ping(payload)) => {
                    let answered = self.streams.patiently(self.session.pong(&payload)).await;
                    if answered.is_err() {
                        return CloseCause::ReaderGone;
                    }
                    self.stall_detector.handed();
                }
                Ok(Message::Close(reason)) => return CloseCause::Asked(reason),
                Ok(_ignored) => {}
                Err(ProtocolError::Overflow) => return TOO_LARGE,
                Err(ProtocolError::Io(error)) => return broken(&error),
                Err(_malformed) => {
                    return CloseCause::Misbehaved(CloseCode::Protocol, "malformed message");
                }
            }
        }
        CloseCause::ReaderGone
    }
}

/// The body of the answer. It holds the permit until the connection is gone.
struct Body {
    frames: BoxBody,
    stall_detector: StallDetector,
    _permit: Permit,
}

impl MessageBody for Body {
    type Error = Box<dyn Error>;

    fn size(&self) -> BodySize {
        self.frames.size()
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let polled = Pin::new(&mut self.frames).poll_next(cx);
        if polled.is_ready() {
            // All that waits is taken at once.
            self.stall_detector.taken(false);
        }
        polled
    }
}

/// What a client sends, up to a frame above the limit. The library gathers a
/// frame before it looks at its length.
fn bounded(request: &HttpRequest, payload: Payload) -> Result<Payload, Problem> {
    let mut inbound = FrameSizeLimiter::new(FRAME_LIMIT as u64);
    let frames = payload.map(move |piece| {
        let piece = piece?;
        if inbound.admits(&piece) {
            Ok(piece)
        } else {
            Err(PayloadError::Overflow)
        }
    });
    let mut frames = dev::Payload::Stream {
        payload: frames.boxed_local(),
    };
    let bounded = Payload::from_request(request, &mut frames).into_inner();
    bounded.map_err(|error| Problem::new(Code::InvalidRequest, error.to_string()))
}

/// Why a connection gave no more: the client sent too much at once, no text
/// where it said so, or is gone.
fn broken(error: &io::Error) -> CloseCause {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
    if let Some(PayloadError::Overflow) = cause {
        TOO_LARGE
    } else if error.kind() == io::ErrorKind::InvalidData {
        CloseCause::Misbehaved(CloseCode::Invalid, "text that is not UTF-8")
    } else {
        CloseCause::ReaderGone
    }
}

/// Accepts a WebSocket; `enter` gives it its place.
///
/// # Errors
/// `upgrade_required`, and what `enter` refuses with.
pub(crate) fn accept(
    StreamedRequest {
        head: request,
        payload,
    }: StreamedRequest,
    enter: impl FnOnce() -> Result<Permit, Problem>,
) -> Result<(WebSocketSender, WebSocketReceiver, HttpResponse), Problem> {
    let payload = bounded(&request, payload)?;
    let (response, session, messages) = actix_ws::handle(&request, payload).map_err(|error| {
        let detail = format!("this path speaks WebSocket only: {error}");
        Problem::new(Code::UpgradeRequired, detail)
    })?;
    let permit = enter()?;
    let streams = Arc::clone(&permit.streams);
    let stall_detector = StallDetector::default();
    let socket = WebSocketSender {
        session: session.clone(),
        streams: Arc::clone(&streams),
        stall_detector: stall_detector.clone(),
    };
    let client = WebSocketReceiver {
        messages: messages.max_frame_size(FRAME_LIMIT),
        session,
        streams,
        stall_detector: stall_detector.clone(),
    };
    let response = response.map_body(|_head, frames| Body {
        frames,
        stall_detector,
        _permit: permit,
    });
    Ok((socket, client, response.map_into_boxed_body()))
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;
    use futures_util::stream;

    use super::super::StreamLimits;
    use super::*;

    #[actix_web::test]
    async fn a_reader_that_takes_nothing_is_dropped_although_there_is_room_for_more() {
        let streams = Arc::new(Streams::new(StreamLimits {
            patience: Duration::from_millis(50),
            ..StreamLimits::default()
        }));
        let headers = [
            ("upgrade", "websocket"),
            ("connection", "upgrade"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        let request = headers
            .into_iter()
            .fold(TestRequest::get(), |request, header| {
                request.insert_header(header)
            })
            .to_http_request();
        // A client that says nothing either.
        let mut silence = dev::Payload::Stream {
            payload: stream::pending().boxed_local(),
        };
        let payload = Payload::from_request(&request, &mut silence)
            .into_inner()
            .unwrap();
        let connection = StreamedRequest {
            head: request,
            payload,
        };
        let accepted = accept(connection, || streams.enter("somebody"));
        let (socket, client, _unread) = accepted.unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(socket.texts(["one message".into()]).await, Ok(()));
        let gone = timeout(Duration::from_secs(30), client.gone()).await;
        assert_eq!(gone, Ok(CloseCause::ReaderGone));
        assert_eq!(streams.dropped(), 1);
    }
}
