//! A request whose body is not read before its handler asks for it.

use actix_web::HttpRequest;
use actix_web::http::header::{CONTENT_LENGTH, HeaderName};
use actix_web::web::Payload;

/// The connection that a streamed request came on.
pub(crate) struct StreamedRequest {
    /// Its head.
    pub(crate) head: HttpRequest,
    /// Its body, of which nothing was read.
    pub(crate) payload: Payload,
}

impl StreamedRequest {
    /// A header as text; `None` when it is missing or no text.
    pub(crate) fn header(&self, name: HeaderName) -> Option<&str> {
        self.head
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    }

    /// How many bytes its body has, as far as it says so itself.
    pub(crate) fn announced_length(&self) -> Option<u64> {
        self.header(CONTENT_LENGTH)?.parse().ok()
    }
}
