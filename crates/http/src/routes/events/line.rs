//! The two ways to a reader.

use std::sync::Arc;

use actix_web::web::BytesMut;
use bytestring::ByteString;
use serde_json::Value;

use crate::streams::{Farewell, Frame, Gone, KEEP_ALIVE, Outlet, Sent, Socket, preamble};

/// Events are gathered up to so many bytes before they are handed on: what
/// waits for a reader that takes nothing must not grow with them.
const PIECE_BYTES: usize = 64 * 1024;

/// What events are sent through.
pub(super) enum Line {
    /// Server-sent events.
    Sse(Outlet),
    /// Each event is a message of its own.
    Socket(Socket),
}

impl Line {
    /// Sends events, at least one.
    ///
    /// # Errors
    /// [`Gone`]
    pub(super) async fn events(&self, events: &[&Arc<Sent>]) -> Result<(), Gone> {
        match self {
            Self::Sse(outlet) => {
                let mut text = BytesMut::new();
                for event in events {
                    text.extend_from_slice(event.frame.text());
                    if text.len() >= PIECE_BYTES {
                        outlet.send(text.split().freeze()).await?;
                    }
                }
                if text.is_empty() {
                    return Ok(());
                }
                outlet.send(text.freeze()).await
            }
            Self::Socket(socket) => socket.texts(events.iter().map(|it| it.frame.data())).await,
        }
    }

    /// Tells from where the reader would go on, before it has received
    /// anything else.
    ///
    /// # Errors
    /// [`Gone`]
    pub(super) async fn begin(&self, notice: &Notice) -> Result<(), Gone> {
        match self {
            Self::Sse(outlet) => outlet.send(preamble(notice.position)).await,
            Self::Socket(socket) => socket.texts([notice.message()]).await,
        }
    }

    /// Tells something that is no event.
    ///
    /// # Errors
    /// [`Gone`]
    pub(super) async fn notice(&self, notice: &Notice) -> Result<(), Gone> {
        match self {
            Self::Sse(outlet) => {
                let Notice {
                    position,
                    kind,
                    body,
                } = notice;
                let text = format!("id: {position}\nevent: {kind}\ndata: {body}\n\n");
                outlet.send(text).await
            }
            Self::Socket(socket) => socket.texts([notice.message()]).await,
        }
    }

    /// Shows that the stream lives; `moved` tells that the reader need not look
    /// again at what was left out.
    ///
    /// # Errors
    /// [`Gone`]
    pub(super) async fn keep_alive(&self, moved: Option<&Notice>) -> Result<(), Gone> {
        match (self, moved) {
            (Self::Sse(outlet), Some(notice)) => {
                outlet.send(Frame::position(notice.position)).await
            }
            (Self::Sse(outlet), None) => outlet.send(KEEP_ALIVE).await,
            (Self::Socket(socket), moved) => {
                socket.texts(moved.map(Notice::message)).await?;
                socket.ping().await
            }
        }
    }

    /// Ends the stream.
    pub(super) async fn end(self, farewell: Farewell) {
        match (self, farewell) {
            (Self::Sse(outlet), Farewell::Refused(code)) => {
                let _told_or_gone = outlet.send(format!(": {code}\n\n")).await;
            }
            (Self::Sse(_), _) => {}
            (Self::Socket(socket), farewell) => socket.close(farewell).await,
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
