//! The configuration of agents that are called by HTTP
//! (docs/heartbeats.md#http-adapter).

mod headers;
#[cfg(test)]
mod tests;
mod url;

use std::time::Duration;

use serde_json::Value;
use workforce_domain::{Document, JsonMap};

pub(super) use self::headers::inline_credential;
use self::headers::{filled, headers, place, value_fault, variables};
use self::url::url_fault;
use crate::access::FieldFault;

const BASE: &str = "/adapterConfig";
const METHODS: [&str; 3] = ["POST", "PUT", "PATCH"];

/// The configuration of the `http` adapter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HttpConfig {
    /// Where the agent is; none while it is not said.
    pub url: Option<String>,
    /// `POST`, `PUT` or `PATCH`.
    pub method: Option<String>,
    /// Headers of its own. A value may name variables of `env`, as
    /// `Bearer {{env.TOKEN}}`.
    pub headers: Vec<(String, String)>,
    /// What the body begins with.
    pub payload_template: JsonMap,
    /// The agent's own task, at the end of the prompt.
    pub prompt_template: Option<String>,
    /// How long a run may take; 0 for without end.
    pub timeout: Option<Duration>,
    /// For how long the answer may not come on; 0 for without end.
    pub idle_timeout: Option<Duration>,
}

impl HttpConfig {
    /// Reads a configuration.
    ///
    /// # Errors
    /// What is wrong with it, at its place below `/adapterConfig`.
    pub fn read(config: &Document) -> Result<Self, FieldFault> {
        let url = text(config, "url")?.filter(|url| !url.is_empty());
        if let Some(fault) = url.and_then(url_fault) {
            return invalid("url", fault);
        }
        let method = text(config, "method")?;
        if method.is_some_and(|method| !METHODS.contains(&method)) {
            return invalid("method", "must be POST, PUT or PATCH");
        }
        let payload_template = match config.get("payloadTemplate") {
            None => JsonMap::new(),
            Some(Value::Object(template)) => template.clone(),
            Some(_) => return invalid("payloadTemplate", "must be an object"),
        };
        Ok(Self {
            url: url.map(str::to_owned),
            method: method.map(str::to_owned),
            headers: headers(config)?,
            payload_template,
            prompt_template: text(config, "promptTemplate")?.map(str::to_owned),
            timeout: timeout(config)?,
            idle_timeout: duration(config, "idleTimeoutSec", 1.0)?,
        })
    }

    /// The headers with the values of `env` in the places of their names.
    ///
    /// # Errors
    /// A name without a value, or a value that no header can have.
    pub fn filled_headers(
        &self,
        env: &[(String, String)],
    ) -> Result<Vec<(String, String)>, FieldFault> {
        let fill = |(name, template): &(String, String)| {
            let at = || format!("{BASE}/{}", place(name));
            let value = filled(template, env)
                .map_err(|variable| FieldFault::invalid(at(), no_variable(variable)))?;
            match value_fault(&value) {
                // It may be a secret, of which nothing is told.
                Some(fault) => Err(FieldFault::invalid(at(), fault)),
                None => Ok((name.clone(), value)),
            }
        };
        self.headers.iter().map(fill).collect()
    }
}

/// Checks the configuration of an agent that is called by HTTP. It need not be whole.
pub(super) fn check_http(config: &Document) -> Result<(), FieldFault> {
    let read = HttpConfig::read(config)?;
    let env = config.get("env").and_then(Value::as_object);
    for (name, value) in &read.headers {
        let missing = variables(value)
            .into_iter()
            .find(|variable| env.is_none_or(|env| !env.contains_key(*variable)));
        if let Some(variable) = missing {
            return invalid(&place(name), &no_variable(variable));
        }
    }
    Ok(())
}

fn invalid<T>(key: &str, message: &str) -> Result<T, FieldFault> {
    Err(FieldFault::invalid(format!("{BASE}/{key}"), message))
}

fn no_variable(name: &str) -> String {
    format!("`env` has no variable `{name}`")
}

fn text<'a>(config: &'a Document, key: &str) -> Result<Option<&'a str>, FieldFault> {
    match config.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => invalid(key, "must be a string"),
    }
}

/// `timeoutSec`, or the same in milliseconds.
fn timeout(config: &Document) -> Result<Option<Duration>, FieldFault> {
    let seconds = duration(config, "timeoutSec", 1.0)?;
    let milliseconds = duration(config, "timeoutMs", 1000.0)?;
    match (seconds, milliseconds) {
        (Some(one), Some(other)) if one != other => invalid(
            "timeoutMs",
            "says something else than timeoutSec; give one of them",
        ),
        (one, other) => Ok(one.or(other)),
    }
}

fn duration(config: &Document, key: &str, per_second: f64) -> Result<Option<Duration>, FieldFault> {
    const YEAR: f64 = 31_536_000.0;
    let Some(value) = config.get(key) else {
        return Ok(None);
    };
    let seconds = value.as_f64().map(|number| number / per_second);
    match seconds.filter(|seconds| (0.0..=YEAR).contains(seconds)) {
        Some(seconds) => Ok(Some(Duration::from_secs_f64(seconds))),
        None => invalid(
            key,
            "must be a length of time, at least 0 and at most a year",
        ),
    }
}
