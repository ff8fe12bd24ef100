//! One request and its answer.

use std::error::Error as _;
use std::io;
use std::sync::Arc;

use ureq::http::{HeaderMap, Request, StatusCode};
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};
use ureq::{Agent, Error};

use crate::limits::Limits;
use crate::pause::Pauses;

/// Idle connections that wait for the next question.
const IDLE_CONNECTIONS: usize = 4;

/// What all forges are asked through.
pub(crate) struct Exchange {
    /// Asks; a connection may serve again.
    questions: Agent,
    /// Changes something, on a connection of its own: one that was kept may turn out to be
    /// closed, and then nobody knows what became of the request.
    orders: Agent,
    pub(crate) limits: Limits,
    pub(crate) pauses: Pauses,
}

/// What came back, whatever its status.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// Why nothing came back.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The connection failed or broke off. It may work at once.
    Broken(String),
    /// The forge cannot be reached, or not in time.
    Unreachable(String),
    /// What came is no answer to be read.
    Unreadable(String),
}

impl Exchange {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            questions: agent(&limits, IDLE_CONNECTIONS),
            orders: agent(&limits, 0),
            limits,
            pauses: Pauses::default(),
        }
    }

    /// Sends a request without a body, once.
    pub(crate) fn ask(&self, request: Request<()>) -> Result<Answer, Failure> {
        self.read(self.questions.run(request))
    }

    /// Sends a request with a body, once.
    pub(crate) fn order(&self, request: Request<String>) -> Result<Answer, Failure> {
        self.read(self.orders.run(request))
    }

    fn read(
        &self,
        response: Result<ureq::http::Response<ureq::Body>, Error>,
    ) -> Result<Answer, Failure> {
        let (parts, body) = response.map_err(|error| failure(&error))?.into_parts();
        let limit = self.limits.answer_bytes;
        // Reading stops at this limit even if nothing follows.
        let body = body.into_with_config().limit(limit.saturating_add(1));
        let body = match body.read_to_vec() {
            Err(Error::BodyExceedsLimit(_)) => {
                let text = format!("it has more than {limit} bytes");
                return Err(Failure::Unreadable(text));
            }
            body => body.map_err(|error| failure(&error))?,
        };
        Ok(Answer {
            status: parts.status,
            headers: parts.headers,
            body,
        })
    }
}

/// Follows neither redirects nor proxies.
fn agent(limits: &Limits, idle_connections: usize) -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .max_idle_connections(idle_connections)
        .timeout_connect(Some(limits.connect))
        .timeout_global(Some(limits.request))
        .user_agent(concat!("workforce/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls_config())
        .build()
        .into()
}

/// TLS by the roots of the system, which verifies names.
fn tls_config() -> TlsConfig {
    TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::PlatformVerifier)
        .build()
}

fn failure(error: &Error) -> Failure {
    let text = explained(error);
    match error {
        Error::Io(cause) if is_break(cause.kind()) => Failure::Broken(text),
        Error::ConnectionFailed | Error::HostNotFound => Failure::Broken(text),
        Error::Protocol(_) | Error::Http(_) | Error::LargeResponseHeader(..) => {
            Failure::Unreadable(text)
        }
        _ => Failure::Unreachable(text),
    }
}

fn is_break(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::NotConnected
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof
    )
}

/// An error with everything that led to it.
fn explained(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
