//! Server-sent events as text.

use std::fmt::{Display, Write};
use std::time::Duration;

use actix_web::web::Bytes;
use bytestring::ByteString;
use serde::Serialize;

/// The content type.
pub(crate) const EVENT_STREAM: &str = "text/event-stream";

/// What is sent when nothing happens.
pub(crate) const KEEP_ALIVE: &str = ": keep-alive\n\n";

/// Readers that lost the connection come back after so long.
const RETRY: Duration = Duration::from_secs(2);

/// What every stream begins with; `position` is what the reader comes back
/// with before it has received anything else.
pub(crate) fn preamble(position: impl Display) -> String {
    format!(
        "retry: {}\nid: {position}\n: connected\n\n",
        RETRY.as_millis()
    )
}

/// One event on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    text: Bytes,
    /// Its data alone, which shares the bytes of the text.
    data: ByteString,
}

impl Frame {
    /// An event with an id that the reader brings back as `Last-Event-ID`.
    ///
    /// # Errors
    /// When the data cannot be written as JSON, which all of ours can.
    pub(crate) fn new(
        id: impl Display,
        kind: &str,
        data: &impl Serialize,
    ) -> Result<Self, serde_json::Error> {
        // JSON has no line breaks of its own.
        let data = serde_json::to_string(data)?;
        let mut text = String::with_capacity(data.len() + kind.len() + 40);
        let _infallible = write!(text, "id: {id}\nevent: {kind}\ndata: ");
        let begin = text.len();
        text.push_str(&data);
        text.push_str("\n\n");
        let text = ByteString::from(text);
        let whole: &str = &text;
        let data = whole.get(begin..begin + data.len()).unwrap_or_default();
        let data = text.slice_ref(data);
        Ok(Self {
            text: text.into_bytes(),
            data,
        })
    }

    /// The whole event as text.
    pub(crate) const fn text(&self) -> &Bytes {
        &self.text
    }

    /// The data alone.
    pub(crate) fn data(&self) -> ByteString {
        self.data.clone()
    }

    /// Nothing but a new id: what was left out need not be looked at again.
    pub(crate) fn position(id: impl Display) -> String {
        format!("id: {id}\n{KEEP_ALIVE}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_event_is_one_line_of_data() {
        let frame = Frame::new(7, "issue.updated", &json!({ "a": "b\nc" })).unwrap();
        let text = std::str::from_utf8(frame.text()).unwrap();
        assert_eq!(
            text,
            "id: 7\nevent: issue.updated\ndata: {\"a\":\"b\\nc\"}\n\n"
        );
        assert_eq!(&*frame.data(), "{\"a\":\"b\\nc\"}");
    }
}
