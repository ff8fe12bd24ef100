//! Why a stream ends.

use actix_ws::{CloseCode, CloseReason};
use workforce_app::Code;

/// The reader is gone, or takes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReaderGone;

/// Why a stream ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CloseCause {
    /// The server stops.
    Stopping,
    /// The reader may read no longer.
    Refused(Code),
    /// The reader is gone, or takes nothing.
    ReaderGone,
    /// The reader said so.
    Asked(Option<CloseReason>),
    /// The reader does not keep to the rules.
    Misbehaved(CloseCode, &'static str),
}

impl From<ReaderGone> for CloseCause {
    fn from(ReaderGone: ReaderGone) -> Self {
        Self::ReaderGone
    }
}
