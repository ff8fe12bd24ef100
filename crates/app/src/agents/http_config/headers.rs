//! Headers of the agent's own, and the variables that they name.

use serde_json::Value;
use workforce_domain::secret::is_sensitive_name;
use workforce_domain::{Document, JsonMap};

use super::{BASE, invalid};
use crate::access::FieldFault;
use crate::agents::env_bindings::inline_value;
use crate::refusal::Code;

const MAX_HEADERS: usize = 50;

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

/// Where a header stands below the configuration.
pub(super) fn place(name: &str) -> String {
    format!("headers/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The first of the new headers in `after` that holds a credential in clear.
pub(in crate::agents) fn inline_credential(
    before: &JsonMap,
    after: &JsonMap,
) -> Option<FieldFault> {
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
    let at = format!("{BASE}/{}", place(name));
    Some(FieldFault::coded(Code::SecretRequired, at, message))
}

/// The headers of a configuration, in their form.
pub(super) fn headers(config: &Document) -> Result<Vec<(String, String)>, FieldFault> {
    let headers = match config.get("headers") {
        None => return Ok(Vec::new()),
        Some(Value::Object(headers)) if headers.len() <= MAX_HEADERS => headers,
        Some(_) => return invalid("headers", "must be an object of at most 50 headers"),
    };
    let read = |(name, binding): (&String, &Value)| {
        let at = place(name);
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

pub(super) fn value_fault(value: &str) -> Option<&'static str> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\t');
    (value.len() > 8192 || !value.bytes().all(is_plain))
        .then_some("must be one line of ASCII of at most 8 KiB")
}

/// The names of the variables in the value of a header.
pub(super) fn variables(value: &str) -> Vec<&str> {
    let parts = value.split(OPEN).skip(1);
    parts
        .filter_map(|part| Some(part.split_once(CLOSE)?.0))
        .collect()
}

/// The value of a header with the values of its variables; a name without a value is
/// the error.
pub(super) fn filled<'a>(template: &'a str, env: &[(String, String)]) -> Result<String, &'a str> {
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
