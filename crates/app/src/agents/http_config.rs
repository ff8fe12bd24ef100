//! The configuration of agents that are called by HTTP
//! (docs/heartbeats.md#http-adapter).

use std::time::Duration;

use serde_json::Value;
use workforce_domain::secret::is_sensitive_name;
use workforce_domain::{Document, JsonMap};

use super::env_bindings::inline_value;
use crate::access::FieldFault;
use crate::refusal::Code;

const BASE: &str = "/adapterConfig";
const MAX_URL: usize = 2048;
const MAX_HEADERS: usize = 50;
const METHODS: [&str; 3] = ["POST", "PUT", "PATCH"];

/// Headers that say how a request is sent, which is not the agent's to say.
const OF_THE_CONNECTION: [&str; 10] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// What stands around the name of a variable in the value of a header.
const OPEN: &str = "{{env.";
const CLOSE: &str = "}}";

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
            let at = || format!("{BASE}/headers/{name}");
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
            return invalid(&format!("headers/{name}"), &no_variable(variable));
        }
    }
    Ok(())
}

/// The first of the new headers in `after` that holds a credential in clear.
pub(super) fn inline_credential(before: &JsonMap, after: &JsonMap) -> Option<FieldFault> {
    let of = |config: &JsonMap| config.get("headers").and_then(Value::as_object).cloned();
    let present = of(before).unwrap_or_default();
    let new = of(after)?;
    let (name, _) = new.iter().find(|(name, binding)| {
        let value = inline_value(binding).unwrap_or_default();
        is_sensitive_name(name)
            && present.get(*name) != Some(*binding)
            && !value.is_empty()
            && variables(value).is_empty()
    })?;
    let message = "make a secret of this value, bind it to a variable of `env`, and write \
        {{env.NAME}} here";
    let at = format!("{BASE}/headers/{name}");
    Some(FieldFault::coded(Code::SecretRequired, at, message))
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

fn url_fault(url: &str) -> Option<&'static str> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return Some("must begin with http:// or https://");
    };
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic());
    if !["http", "https"].contains(&scheme) {
        Some("must begin with http:// or https://")
    } else if url.len() > MAX_URL {
        Some("must have at most 2048 bytes")
    } else if !is_plain || url.contains(['\\', '#', '"', '<', '>', '^', '`', '{', '|', '}']) {
        Some("must be an absolute URL in ASCII, without fragment")
    } else if authority.contains('@') {
        Some("must not have credentials; send them in a header")
    } else if !is_authority(authority) {
        Some("must name a host")
    } else {
        None
    }
}

fn is_authority(authority: &str) -> bool {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let is_port = |port: &str| {
        port.bytes().all(|byte| byte.is_ascii_digit())
            && port.parse::<u16>().is_ok_and(|port| port > 0)
    };
    let address = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let is_host = match address {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            !host.is_empty()
                && host
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
        }
    };
    is_host && port.is_none_or(is_port)
}

fn headers(config: &Document) -> Result<Vec<(String, String)>, FieldFault> {
    let headers = match config.get("headers") {
        None => return Ok(Vec::new()),
        Some(Value::Object(headers)) if headers.len() <= MAX_HEADERS => headers,
        Some(_) => return invalid("headers", "must be an object of at most 50 headers"),
    };
    let read = |(name, binding): (&String, &Value)| {
        let at = format!("headers/{}", name.replace('~', "~0").replace('/', "~1"));
        if !is_header_name(name) {
            return invalid(&at, "no name that a header can have");
        }
        if OF_THE_CONNECTION.contains(&&*name.to_ascii_lowercase()) {
            return invalid(&at, "workforce sets this header itself");
        }
        let Some(value) = inline_value(binding) else {
            let message = "must be a string or a plain binding; for a secret bind it to a \
                variable of `env` and write {{env.NAME}}";
            return invalid(&at, message);
        };
        match value_fault(value) {
            Some(fault) => invalid(&at, fault),
            None => Ok((name.clone(), value.to_owned())),
        }
    };
    headers.iter().map(read).collect()
}

fn is_header_name(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.len() <= 200 && name.bytes().all(is_token)
}

fn value_fault(value: &str) -> Option<&'static str> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\t');
    (value.len() > 8192 || !value.bytes().all(is_plain))
        .then_some("must be one line of ASCII of at most 8 KiB")
}

/// The names of the variables in the value of a header.
fn variables(value: &str) -> Vec<&str> {
    let parts = value.split(OPEN).skip(1);
    parts
        .filter_map(|part| Some(part.split_once(CLOSE)?.0))
        .collect()
}

fn filled<'a>(template: &'a str, env: &[(String, String)]) -> Result<String, &'a str> {
    let mut parts = template.split(OPEN);
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let Some((variable, rest)) = part.split_once(CLOSE) else {
            filled.push_str(OPEN);
            filled.push_str(part);
            continue;
        };
        let found = env.iter().find(|(name, _)| name == variable);
        filled.push_str(&found.ok_or(variable)?.1);
        filled.push_str(rest);
    }
    Ok(filled)
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::activity_log::document;

    fn fault(config: Value) -> String {
        let fault = check_http(&document(config)).unwrap_err();
        format!("{} {}", fault.pointer, fault.message)
    }

    #[track_caller]
    fn check_url(url: &str, is_admitted: bool) {
        let read = HttpConfig::read(&document(json!({ "url": url })));
        assert_eq!(read.is_ok(), is_admitted, "{url}: {read:?}");
    }

    #[test]
    fn a_url_is_absolute_and_without_credentials() {
        for url in [
            "http://agents.example",
            "https://agents.example:8443/run?x=1",
            "http://10.0.0.1/",
            "http://[::1]:80/",
            "https://a_b.example/%20",
        ] {
            check_url(url, true);
        }
        for url in [
            "agents.example",
            "ftp://agents.example",
            "http://",
            "http:///path",
            "http://:80/",
            "http://a:b@agents.example/",
            "http://agents.example@10.0.0.1/",
            "http://agents.example\\@10.0.0.1/",
            "http://agents.example:0/",
            "http://agents.example:99999/",
            "http://agents.example:+80/",
            "http://[::1/",
            "http://[x]/",
            "http://agents.example/#part",
            "http://agents.example/ x",
            "http://b\u{fc}ro.example/",
            "HTTP://agents.example",
        ] {
            check_url(url, false);
        }
    }

    #[test]
    fn only_methods_with_a_body_are_used() {
        let read = |method: &str| HttpConfig::read(&document(json!({ "method": method }))).is_ok();
        assert!(["POST", "PUT", "PATCH"].into_iter().all(read));
        assert!(!["GET", "DELETE", "post", ""].into_iter().any(read));
    }

    #[test]
    fn headers_take_their_credentials_from_the_environment() {
        let config = document(json!({
            "headers": {
                "Authorization": "Bearer {{env.TOKEN}}",
                "X-Both": { "type": "plain", "value": "{{env.A}}-{{env.A}} {{env." },
            },
            "env": { "TOKEN": "t", "A": "a" },
        }));
        assert_eq!(check_http(&config), Ok(()));
        let read = HttpConfig::read(&config).unwrap();
        let env = [("TOKEN", "t"), ("A", "a")].map(|(name, value)| (name.into(), value.into()));
        let mut filled = read.filled_headers(&env).unwrap();
        filled.sort();
        assert_eq!(
            filled,
            [
                ("Authorization".into(), "Bearer t".into()),
                ("X-Both".into(), "a-a {{env.".into())
            ]
        );
        let broken = [
            ("TOKEN".into(), "a\r\nX: y".into()),
            ("A".into(), "a".into()),
        ];
        let fault = read.filled_headers(&broken).unwrap_err();
        assert_eq!(fault.pointer, "/adapterConfig/headers/Authorization");
        assert!(read.filled_headers(&[]).is_err());
    }

    #[test]
    fn faults_name_their_place() {
        for (config, expected) in [
            (json!({ "url": 1 }), "/adapterConfig/url must be a string"),
            (
                json!({ "headers": { "A": "{{env.T}}" } }),
                "/adapterConfig/headers/A `env` has no variable `T`",
            ),
            (
                json!({ "headers": { "Host": "x" } }),
                "/adapterConfig/headers/Host workforce sets this header itself",
            ),
            (
                json!({ "headers": { "A b": "x" } }),
                "/adapterConfig/headers/A b no name that a header can have",
            ),
            (
                json!({ "headers": { "A": "x\r\ny" } }),
                "/adapterConfig/headers/A must be one line of ASCII of at most 8 KiB",
            ),
            (
                json!({ "payloadTemplate": [] }),
                "/adapterConfig/payloadTemplate must be an object",
            ),
            (
                json!({ "timeoutSec": 1, "timeoutMs": 2000 }),
                "/adapterConfig/timeoutMs says something else than timeoutSec; give one of them",
            ),
        ] {
            assert_eq!(fault(config), expected);
        }
        let secret = json!({ "headers": { "A": { "type": "secret_ref", "secretId": "x" } } });
        assert!(fault(secret).contains("{{env.NAME}}"));
    }

    #[test]
    fn both_spellings_of_the_timeout_are_read() {
        let timeout = |config: Value| HttpConfig::read(&document(config)).unwrap().timeout;
        let half = Some(Duration::from_millis(500));
        assert_eq!(timeout(json!({ "timeoutSec": 0.5 })), half);
        assert_eq!(timeout(json!({ "timeoutMs": 500 })), half);
        assert_eq!(
            timeout(json!({ "timeoutMs": 500, "timeoutSec": 0.5 })),
            half
        );
        assert_eq!(timeout(json!({})), None);
        assert_eq!(timeout(json!({ "timeoutSec": 0 })), Some(Duration::ZERO));
    }

    #[test]
    fn a_credential_in_clear_is_found_when_it_is_new() {
        let config =
            |value: &str| JsonMap::from(document(json!({ "headers": { "Authorization": value } })));
        let (clear, named) = (config("Bearer x"), config("Bearer {{env.T}}"));
        let none = JsonMap::new();
        let found = inline_credential(&none, &clear).map(|fault| fault.code);
        assert_eq!(found, Some(Code::SecretRequired));
        assert_eq!(inline_credential(&clear, &clear), None);
        assert_eq!(inline_credential(&none, &named), None);
    }
}
