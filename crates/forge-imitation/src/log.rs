use std::collections::BTreeMap;

use serde_json::Value;

/// A request that came in, and how it was answered.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoggedRequest {
    /// The method.
    pub method: String,
    /// The path as it was sent, below the root of the interface.
    pub path: String,
    /// The query, decoded.
    pub query: BTreeMap<String, String>,
    /// The headers, with names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body, if it is a document.
    pub body: Option<Value>,
    /// The status of the answer; none if the connection was closed without one.
    pub status: Option<u16>,
}
