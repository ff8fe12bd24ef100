use std::error::Error;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use ureq::http::header::{CONTENT_TYPE, RETRY_AFTER};
use ureq::http::{Request, Response, Uri};
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, Body};

use crate::address_rules::AddressRules;
use crate::answer::{Verdict, judge, not_called};
use crate::call::Call;
use crate::resolver::CheckedResolver;

/// An answer is read so far; the rest is not waited for.
const MAX_BODY: usize = 1 << 20;
/// Its beginning, of which the run keeps a part as its result.
const KEPT_BODY: usize = 64 * 1024;
/// A host that does not answer at all is not there. After that the limits of the run
/// alone count.
const CONNECT_BOUND: Duration = Duration::from_secs(60);
/// Of an answer these headers are shown.
const SHOWN_HEADERS: [&str; 5] = [
    "content-type",
    "content-length",
    "location",
    "retry-after",
    "x-request-id",
];

/// Makes a call, and prints what comes back as it comes.
///
/// # Errors
///
/// Nobody reads what is printed.
pub(crate) fn make(call: Call, out: &mut impl Write) -> io::Result<Verdict> {
    let uri: Uri = match call.url.parse() {
        Ok(uri) => uri,
        Err(_) => return Ok(ended("the URL of the agent cannot be read")),
    };
    writeln!(out, "{} {}", call.method.name(), without_query(&uri))?;
    out.flush()?;
    let response = match send(&uri, call) {
        Ok(response) => response,
        Err(error) => return Ok(ended(&error)),
    };
    show_head(&response, out)?;
    let status = response.status();
    let retry_after = response.headers().get(RETRY_AFTER);
    let retry_after = retry_after.and_then(|value| Some(value.to_str().ok()?.to_owned()));
    let body = read_body(response.into_body(), out)?;
    let verdict = judge(status, retry_after.as_deref(), &body.start);
    Ok(match body.fault {
        // What was to be the result is not whole.
        Some(fault) if status.is_success() && verdict != Verdict::Accepted => {
            ended(&format!("the answer of the agent broke off: {fault}"))
        }
        _ => verdict,
    })
}

fn ended(reason: &str) -> Verdict {
    Verdict::Ended(Box::new(not_called(reason)))
}

/// A query may hold a credential.
fn without_query(uri: &Uri) -> String {
    let scheme = uri.scheme_str().unwrap_or_default();
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    format!("{scheme}://{authority}{}", uri.path())
}

fn send(uri: &Uri, call: Call) -> Result<Response<Body>, String> {
    let mut request = Request::builder().method(call.method.name()).uri(uri);
    for (name, value) in &call.headers {
        request = request.header(name, value);
    }
    let has_type = request
        .headers_ref()
        .is_some_and(|headers| headers.contains_key(CONTENT_TYPE));
    if !has_type {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    let body = call.body.to_string();
    let request = request.body(body).map_err(|error| error.to_string())?;
    agent(AddressRules::allowing(call.allowed))
        .run(request)
        .map_err(|error| explained(&error))
}

/// Follows neither redirects nor proxies, and keeps no connection.
fn agent(rules: AddressRules) -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .max_idle_connections(0)
        .timeout_connect(Some(CONNECT_BOUND))
        .user_agent(concat!("workforce/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls_config())
        .build();
    Agent::with_parts(config, DefaultConnector::new(), CheckedResolver(rules))
}

/// TLS by the roots of the system, which verifies names.
#[must_use]
pub fn tls_config() -> TlsConfig {
    TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::PlatformVerifier)
        .build()
}

/// An error with everything that led to it.
fn explained(error: &ureq::Error) -> String {
    if let ureq::Error::Other(own) = error {
        return own.to_string();
    }
    let mut text = format!("the agent cannot be called: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

fn show_head(response: &Response<Body>, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{:?} {}", response.version(), response.status())?;
    for name in SHOWN_HEADERS {
        if let Some(value) = response.headers().get(name) {
            out.write_all(name.as_bytes())?;
            out.write_all(b": ")?;
            out.write_all(value.as_bytes())?;
            out.write_all(b"\n")?;
        }
    }
    out.write_all(b"\n")?;
    out.flush()
}

struct ReadBody {
    start: Vec<u8>,
    fault: Option<io::Error>,
}

fn read_body(body: Body, out: &mut impl Write) -> io::Result<ReadBody> {
    let mut reader = body.into_reader();
    let mut read = ReadBody {
        start: Vec::new(),
        fault: None,
    };
    let mut chunk = vec![0; 16 * 1024];
    let mut total = 0;
    let mut ends_line = true;
    loop {
        let len = match reader.read(&mut chunk) {
            Ok(0) => break,
            Ok(len) => len.min(MAX_BODY - total),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                read.fault = Some(error);
                break;
            }
        };
        let part = &chunk[..len];
        total += len;
        let room = KEPT_BODY - read.start.len();
        read.start.extend_from_slice(&part[..len.min(room)]);
        out.write_all(part)?;
        out.flush()?;
        ends_line = part.ends_with(b"\n");
        if total >= MAX_BODY {
            out.write_all(b"\n[the rest of the answer is not read]")?;
            ends_line = false;
            break;
        }
    }
    if !ends_line {
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(read)
}
