//! What a server answered.

use serde_json::Value;
use ureq::http::HeaderMap;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

/// An answer that may be anything.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl Fetched {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The body of a success.
    #[track_caller]
    pub(crate) fn ok(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        assert_eq!(self.header("content-type"), Some("application/json"));
        self.json()
    }

    /// The body of a problem, whose shape is checked.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json")
        );
        let body = self.json();
        assert_eq!(body["code"], code, "{body}");
        assert_eq!(body["status"], status);
        assert_eq!(body["error"], body["detail"]);
        assert_eq!(body["type"], format!("urn:workforce:problem:{code}"));
        assert_eq!(body["requestId"].as_str(), self.header("x-request-id"));
        body
    }
}
