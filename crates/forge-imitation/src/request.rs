use std::collections::BTreeMap;

use hyper::body::Bytes;
use hyper::http::request::Parts;

use crate::stage::query;

/// A request, read to its end.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) raw_query: String,
    pub(crate) query: BTreeMap<String, String>,
    /// With names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Bytes,
}

impl Request {
    pub(crate) fn new(parts: &Parts, body: Bytes) -> Self {
        let headers = parts.headers.iter().map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes());
            (name.as_str().to_owned(), value.into_owned())
        });
        let raw_query = parts.uri.query().unwrap_or_default();
        Self {
            method: parts.method.as_str().to_owned(),
            path: parts.uri.path().to_owned(),
            raw_query: raw_query.to_owned(),
            query: query(raw_query),
            headers: headers.collect(),
            body,
        }
    }
}

/// The segments of a path, each decoded: one may have a slash in it.
pub(crate) fn segments(path: &str) -> Vec<String> {
    let path = path.trim_start_matches('/');
    path.split('/').map(decoded).collect()
}

/// A text without percent codes.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
