//! The id under which a request is answered and logged.

use actix_web::dev::Extensions;
use actix_web::http::header::HeaderMap;

use crate::headers::REQUEST_ID;

/// The id of a request, as one of its extensions.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(pub(crate) String);

impl RequestId {
    /// The id of the request with these extensions.
    pub(crate) fn of(extensions: &Extensions) -> String {
        extensions
            .get::<Self>()
            .map_or_else(String::new, |id| id.0.clone())
    }

    /// The id that the request brings, if it is fit to be written to a log and
    /// a header; a `new` one otherwise.
    pub(crate) fn choose(headers: &HeaderMap, new: impl FnOnce() -> String) -> Self {
        let sane = |id: &&str| {
            (1..=128).contains(&id.len())
                && id
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b))
        };
        let brought = headers
            .get(REQUEST_ID)
            .and_then(|id| id.to_str().ok())
            .filter(sane);
        Self(brought.map_or_else(new, str::to_owned))
    }
}
