//! The two ways to a reader.

use std::sync::Arc;

use actix_web::web::BytesMut;
use bytestring::ByteString;
use serde_json::Value;

use crate::streams::{
    CloseCause, EncodedEvent, EventSender, Frame, KEEP_ALIVE, ReaderGone, WebSocketSender, preamble,
};

/// Events are gathered up to so many bytes before they are handed on: what
/// waits for a reader that takes nothing must not grow with them.
const PIECE_BYTES: usize = 64 * 1024;

/// What events are sent through.
pub(super) enum Transport {
    /// Server-sent events.
    Sse(EventSender),
    /// Each event is a message of its own.
    Socket(WebSocketSender),
}

impl Transport {
    /// Sends events, at least one.
    pub(super) async fn events(&self, events: &[&Arc<EncodedEvent>]) -> Result<(), ReaderGone> {
        match self {
            Self::Sse(sender) => {
                let mut text = BytesMut::new();
                for event in events {
                    text.extend_from_slice(event.frame.text());
                    if text.len() >= PIECE_BYTES {
                        sender.send(text.split().freeze()).await?;
                    }
                }
                if text.is_empty() {
                    return Ok(());
                }
                sender.send(text.freeze()).await
            }
            Self::Socket(socket) => socket.texts(events.iter().map(|it| it.frame.data())).await,
        }
    }

    /// Tells from where the reader would go on, before it has received
    /// anything else.
    pub(super) async fn begin(&self, notice: &Notice) -> Result<(), ReaderGone> {
        match self {
            Self::Sse(sender) => sender.send(preamble(notice.position)).await,
            Self::Socket(socket) => socket.texts([notice.message()]).await,
        }
    }

    /// Tells something that is no event.
    pub(super) async fn notice(&self, notice: &Notice) -> Result<(), ReaderGone> {
        match self {
            Self::Sse(sender) => {
                let Notice {
                    position,
                    kind,
                    body,
                } = notice;
                let text = format!("id: {position}\nevent: {kind}\ndata: {body}\n\n");
                sender.send(text).await
            }
            Self::Socket(socket) => socket.texts([notice.message()]).await,
        }
    }

    /// Shows that the stream lives; `moved` tells that the reader need not look
    /// again at what was left out.
    pub(super) async fn keep_alive(&self, moved: Option<&Notice>) -> Result<(), ReaderGone> {
        match (self, moved) {
            (Self::Sse(sender), Some(notice)) => {
                sender.send(Frame::position(notice.position)).await
            }
            (Self::Sse(sender), None) => sender.send(KEEP_ALIVE).await,
            (Self::Socket(socket), moved) => {
                socket.texts(moved.map(Notice::message)).await?;
                socket.ping().await
            }
        }
    }

    /// Ends the stream.
    pub(super) async fn end(self, cause: CloseCause) {
        match (self, cause) {
            (Self::Sse(sender), CloseCause::Refused(code)) => {
                let _told_or_gone = sender.send(format!(": {code}\n\n")).await;
            }
            (Self::Sse(_), _) => {}
            (Self::Socket(socket), cause) => socket.close(cause).await,
        }
    }
}

/// What is told in the form of an event and is none.
pub(super) struct Notice {
    /// What the reader comes back with afterwards.
    pub(super) position: i64,
    pub(super) kind: &'static str,
    pub(super) body: Value,
}

impl Notice {
    fn message(&self) -> ByteString {
        self.body.to_string().into()
    }
}
