//! A small blocking client of the REST interface.

use anyhow::Context;
use serde_json::Value;
use ureq::http::Request;

/// Calls one service as one caller.
#[derive(Clone)]
pub(crate) struct Client {
    base: String,
    token: Option<String>,
    agent: ureq::Agent,
}

/// An answer, whatever its status.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Client {
    /// A client of the service at `base`, such as `http://127.0.0.1:3100`;
    /// without a token it calls as the board of a local installation.
    pub(crate) fn new(base: &str, token: Option<String>) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .tls_config(workforce_http_caller::tls_config())
            .build();
        Self {
            base: base.trim_end_matches('/').into(),
            token,
            agent: config.into(),
        }
    }

    /// The same service, called as somebody else.
    pub(crate) fn with_token(&self, token: &str) -> Self {
        Self {
            token: Some(token.into()),
            ..self.clone()
        }
    }

    /// Sends one request.
    pub(crate) fn send(&self, method: &str, path: &str, body: &str) -> anyhow::Result<Answer> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            // A field that nobody reads is a mistake.
            .header("Prefer", "handling=strict");
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let answer = if body.is_empty() {
            self.agent.run(request.body(())?)
        } else {
            let request = request.header("Content-Type", "application/json");
            self.agent.run(request.body(body.to_owned())?)
        };
        let mut answer = answer.with_context(|| format!("{method} {}{path}", self.base))?;
        Ok(Answer {
            status: answer.status().as_u16(),
            body: answer.body_mut().read_to_string()?,
        })
    }

    /// Sends a request that must succeed; its answer as JSON.
    pub(crate) fn call(&self, method: &str, path: &str, body: &Value) -> anyhow::Result<Value> {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let answer = self.send(method, path, &body)?;
        anyhow::ensure!(
            (200..300).contains(&answer.status),
            "{method} {path} answered {}: {}",
            answer.status,
            answer.body
        );
        serde_json::from_str(&answer.body).with_context(|| format!("{method} {path}"))
    }

    /// Reads something that must be there.
    pub(crate) fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.call("GET", path, &Value::Null)
    }
}
