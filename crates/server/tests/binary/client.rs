//! A client of a server that may not be there.

use std::time::Duration;

use serde_json::Value;

/// Nothing takes nearly so long but a server that hangs.
const LONGEST: Duration = Duration::from_secs(60);

/// Sends requests to one address, whoever answers there.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    base: String,
    agent: ureq::Agent,
}

/// Who sends a request, and whether it may be repeated.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sender<'a> {
    /// The credential; the board's when `None`.
    pub(crate) token: Option<&'a str>,
    /// With it a request is carried out once however often it is sent.
    pub(crate) key: Option<&'a str>,
    /// The revision that it has seen of what it changes.
    pub(crate) seen: Option<i64>,
}

/// Whether nobody was there to take a request.
pub(crate) fn was_not_taken(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::ConnectionFailed => true,
        ureq::Error::Io(error) => error.kind() == std::io::ErrorKind::ConnectionRefused,
        _ => false,
    }
}

/// Status, body, and the cursor of the next page.
struct Answer {
    status: u16,
    body: Value,
    next: Option<String>,
}

impl Client {
    /// A client of the server at `base`, such as `http://127.0.0.1:3100`.
    pub(crate) fn to(base: &str) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(LONGEST))
            .build();
        Self {
            base: base.to_owned(),
            agent: config.into(),
        }
    }

    /// Status and body of the answer, or why there is none.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        sender: Sender<'_>,
        body: &Value,
    ) -> Result<(u16, Value), ureq::Error> {
        let answer = self.answer(method, path, sender, body)?;
        Ok((answer.status, answer.body))
    }

    /// Every row of a list, from all of its pages.
    pub(crate) fn list(&self, path: &str) -> Vec<Value> {
        let mut rows = Vec::new();
        let mut page = path.to_owned();
        loop {
            let answer = self
                .answer("GET", &page, Sender::default(), &Value::Null)
                .unwrap_or_else(|error| panic!("GET {page}: {error}"));
            let Value::Array(more) = answer.body else {
                panic!("GET {page}: {} {}", answer.status, answer.body);
            };
            rows.extend(more);
            let Some(next) = answer.next else {
                return rows;
            };
            page = format!("{path}?cursor={next}");
        }
    }

    fn answer(
        &self,
        method: &str,
        path: &str,
        sender: Sender<'_>,
        body: &Value,
    ) -> Result<Answer, ureq::Error> {
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base));
        if let Some(token) = sender.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        if let Some(key) = sender.key {
            request = request.header("Idempotency-Key", key);
        }
        if let Some(seen) = sender.seen {
            request = request.header("If-Match", format!("\"{seen}\""));
        }
        let mut answer = if body.is_null() {
            self.agent.run(request.body(())?)?
        } else {
            self.agent.run(request.body(body.to_string())?)?
        };
        let next = answer.headers().get("X-Next-Cursor");
        let next = next.and_then(|it| it.to_str().ok()).map(str::to_owned);
        let text = answer
            .body_mut()
            .with_config()
            .limit(64 * 1024 * 1024)
            .read_to_string()?;
        Ok(Answer {
            status: answer.status().as_u16(),
            body: serde_json::from_str(&text).unwrap_or(Value::Null),
            next,
        })
    }
}
