//! A request as it came by HTTP.

use std::collections::BTreeMap;
use std::io::{self, Read as _};

use flate2::read::GzDecoder;
use hyper::body::Bytes;
use hyper::http::request::Parts;

/// What of a header's name tells that its value is a credential.
const CREDENTIALS: [&str; 6] = [
    "authorization",
    "api-key",
    "apikey",
    "cookie",
    "token",
    "secret",
];

/// A request with its whole body.
#[derive(Debug)]
pub(crate) struct Incoming {
    parts: Parts,
    pub(crate) body: Vec<u8>,
}

impl Incoming {
    /// # Errors
    ///
    /// When a compressed body is broken.
    pub(crate) fn new(parts: Parts, body: Bytes) -> io::Result<Self> {
        let is_gzip = parts
            .headers
            .get("content-encoding")
            .is_some_and(|it| it == "gzip");
        let body = if is_gzip {
            let mut plain = Vec::new();
            GzDecoder::new(&body[..]).read_to_end(&mut plain)?;
            plain
        } else {
            body.into()
        };
        Ok(Self { parts, body })
    }

    pub(crate) fn method(&self) -> &str {
        self.parts.method.as_str()
    }

    pub(crate) fn path(&self) -> &str {
        self.parts.uri.path()
    }

    pub(crate) fn is_upgrade(&self) -> bool {
        self.parts.headers.contains_key("upgrade")
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.parts.headers.get(name)?.to_str().ok()
    }

    /// The API key, wherever an API has it; empty when there is none.
    pub(crate) fn key(&self) -> &str {
        let query = self.parts.uri.query().unwrap_or("");
        let in_query = || query.split('&').find_map(|it| it.strip_prefix("key="));
        let bearer = || {
            let value = self.header("authorization")?;
            Some(value.strip_prefix("Bearer").unwrap_or(value).trim())
        };
        self.header("x-api-key")
            .or_else(|| self.header("x-goog-api-key"))
            .or_else(in_query)
            .or_else(bearer)
            .unwrap_or("")
    }

    /// Every header, without the values of credentials.
    pub(crate) fn headers(&self) -> BTreeMap<String, String> {
        let headers = self.parts.headers.iter();
        let shown = headers.map(|(name, value)| {
            let name = name.as_str();
            let is_credential = CREDENTIALS.iter().any(|it| name.contains(it));
            let value = if is_credential {
                "***".to_owned()
            } else {
                String::from_utf8_lossy(value.as_bytes()).into_owned()
            };
            (name.to_owned(), value)
        });
        shown.collect()
    }
}
