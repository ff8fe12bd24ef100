//! Adapter and heartbeat configuration: how changes merge and what is refused
//! (contract sections 2.3, 4.3 and 10.1).

use serde_json::Value;
use workforce_domain::Document;

use crate::access::{FieldFault, check_document};
use crate::refusal::Code;

/// What answers show in the place of a value that is not shown. In a change it
/// keeps the present value; it is never stored.
pub const REDACTED: &str = "***REDACTED***";

/// An environment has at most so many variables (contract section 8).
const MAX_VARIABLES: usize = 200;

/// A configuration is at most so long as JSON.
pub(super) const MAX_BYTES: usize = 256 * 1024;

/// Shortest time between two timer heartbeats, in seconds.
const MIN_INTERVAL_SEC: f64 = 30.0;

/// The configuration after a change: keys of `change` replace those of
/// `current`, `null` removes; within `env` likewise, variable by variable.
pub(super) fn merged(current: &Document, change: Document) -> Document {
    overlaid(current.clone(), current, change)
}

/// The configuration that `change` is as a whole. The mark of a hidden value
/// keeps the present one here too.
pub(super) fn replaced(current: &Document, change: Document) -> Document {
    overlaid(Document::new(), current, change)
}

/// `base` with the keys of `change`, where `current` tells what hidden values
/// are.
fn overlaid(base: Document, current: &Document, change: Document) -> Document {
    let mut result = base;
    for (key, value) in change {
        match value {
            Value::Object(change) if key == "env" => {
                let env = |document: &Document| match document.get("env") {
                    Some(Value::Object(env)) => env.clone(),
                    _ => Document::new(),
                };
                let (mut target, present) = (env(&result), env(current));
                for (name, binding) in change {
                    put(&mut target, &present, name, binding);
                }
                result.insert(key, Value::Object(target));
            }
            value => put(&mut result, current, key, value),
        }
    }
    result
}

fn put(target: &mut Document, current: &Document, key: String, value: Value) {
    if value.is_null() {
        target.remove(&key);
    } else if !is_redacted(&value) {
        target.insert(key, value);
    } else if let Some(present) = current.get(&key) {
        target.insert(key, present.clone());
    }
}

/// Refuses the mark of a hidden value where no present value stands for it.
fn refuse_marks(config: &Document, pointer: &str) -> Result<(), FieldFault> {
    // Checked from a list, so that depth takes no stack.
    let mut rest: Vec<&Value> = config.values().collect();
    while let Some(value) = rest.pop() {
        match value {
            Value::String(text) if text == REDACTED => {
                let message = format!("holds {REDACTED}, which only stands for a hidden value");
                return Err(FieldFault::invalid(pointer, message));
            }
            Value::Array(values) => rest.extend(values),
            Value::Object(object) => rest.extend(object.values()),
            _ => {}
        }
    }
    Ok(())
}

fn is_redacted(value: &Value) -> bool {
    match value {
        Value::String(text) => text == REDACTED,
        Value::Object(binding) => binding.get("value").is_some_and(is_redacted),
        _ => false,
    }
}

/// Checks an adapter's configuration.
pub(super) fn check_adapter(config: &Document) -> Result<(), FieldFault> {
    check_document(config, "/adapterConfig", MAX_BYTES)?;
    refuse_marks(config, "/adapterConfig")?;
    text(config, "command")?;
    text(config, "cwd")?;
    text(config, "stdin")?;
    for key in ["timeoutSec", "idleTimeoutSec", "graceSec"] {
        match config.get(key) {
            None => {}
            Some(Value::Number(seconds))
                if seconds
                    .as_f64()
                    .is_some_and(|s| (0.0..=31_536_000.0).contains(&s)) => {}
            Some(_) => {
                let message = "must be a number of seconds, at least 0 and at most a year";
                return Err(FieldFault::invalid(
                    format!("/adapterConfig/{key}"),
                    message,
                ));
            }
        }
    }
    if let Some(args) = config.get("args") {
        let strings = args
            .as_array()
            .is_some_and(|args| args.iter().all(|arg| arg.as_str().is_some_and(no_nul)));
        if !strings {
            let message = "must be an array of strings without NUL characters";
            return Err(FieldFault::invalid("/adapterConfig/args", message));
        }
    }
    match config.get("env") {
        None => Ok(()),
        Some(Value::Object(env)) => check_env(env),
        Some(_) => Err(FieldFault::invalid(
            "/adapterConfig/env",
            "must be an object",
        )),
    }
}

fn text(config: &Document, key: &str) -> Result<(), FieldFault> {
    match config.get(key) {
        None => Ok(()),
        Some(Value::String(text)) if no_nul(text) => Ok(()),
        Some(_) => {
            let message = "must be a string without NUL characters";
            Err(FieldFault::invalid(
                format!("/adapterConfig/{key}"),
                message,
            ))
        }
    }
}

fn no_nul(text: &str) -> bool {
    !text.contains('\0')
}

fn check_env(env: &Document) -> Result<(), FieldFault> {
    if env.len() > MAX_VARIABLES {
        let message = format!("at most {MAX_VARIABLES} variables");
        return Err(FieldFault::invalid("/adapterConfig/env", message));
    }
    env.iter()
        .try_for_each(|(name, binding)| check_binding(name, binding))
}

fn check_binding(name: &str, binding: &Value) -> Result<(), FieldFault> {
    let escaped = name.replace('~', "~0").replace('/', "~1");
    let pointer = format!("/adapterConfig/env/{escaped}");
    let fault = |message: &str| Err(FieldFault::invalid(pointer.clone(), message));
    let mut bytes = name.bytes();
    let well_formed = bytes
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !well_formed {
        return fault("a variable's name has letters, digits and `_`, and no digit first");
    }
    // The caller's own key is the one variable that may replace ours.
    if name.starts_with("WORKFORCE_") && name != "WORKFORCE_API_KEY" {
        let message = "workforce sets the variables that begin with WORKFORCE_ itself";
        return Err(FieldFault::coded(Code::EnvReserved, pointer, message));
    }
    let value = match binding {
        Value::String(value) => value,
        Value::Object(object) => match object.get("type").and_then(Value::as_str) {
            Some("plain") => match object.get("value").and_then(Value::as_str) {
                Some(value) => value,
                None => return fault("a plain binding needs a string as value"),
            },
            // Secrets cannot be made yet, so a reference names none.
            Some("secret_ref") => {
                let message = "no such secret in this company";
                return Err(FieldFault::coded(Code::SecretNotFound, pointer, message));
            }
            _ => return fault("type must be plain or secret_ref"),
        },
        _ => return fault("must be a string, a plain binding or a secret_ref"),
    };
    if !no_nul(value) {
        return fault("must not contain a NUL character");
    }
    if value.starts_with("secret:") {
        return fault(
            "a text that starts with `secret:` is not resolved; use {\"type\":\"secret_ref\",\"secretId\":...}",
        );
    }
    Ok(())
}

/// Checks the configuration of heartbeats.
pub(super) fn check_runtime(config: &Document) -> Result<(), FieldFault> {
    check_document(config, "/runtimeConfig", MAX_BYTES)?;
    refuse_marks(config, "/runtimeConfig")?;
    let Some(heartbeat) = config.get("heartbeat") else {
        return Ok(());
    };
    let Value::Object(heartbeat) = heartbeat else {
        return Err(FieldFault::invalid(
            "/runtimeConfig/heartbeat",
            "must be an object",
        ));
    };
    if let Some(interval) = heartbeat.get("intervalSec") {
        let valid = interval
            .as_f64()
            .is_some_and(|s| s == 0.0 || s >= MIN_INTERVAL_SEC);
        if !valid {
            let message = "must be 0 for off, or at least 30 seconds";
            return Err(FieldFault::invalid(
                "/runtimeConfig/heartbeat/intervalSec",
                message,
            ));
        }
    }
    if let Some(runs) = heartbeat.get("maxConcurrentRuns")
        && !runs.as_i64().is_some_and(|runs| (1..=10).contains(&runs))
    {
        let message = "must be a whole number from 1 to 10";
        return Err(FieldFault::invalid(
            "/runtimeConfig/heartbeat/maxConcurrentRuns",
            message,
        ));
    }
    let switches = [
        "enabled",
        "wakeOnDemand",
        "wakeOnAssignment",
        "wakeOnOnDemand",
        "wakeOnAutomation",
        "alwaysRun",
    ];
    for key in switches {
        if heartbeat.get(key).is_some_and(|value| !value.is_boolean()) {
            let pointer = format!("/runtimeConfig/heartbeat/{key}");
            return Err(FieldFault::invalid(pointer, "must be true or false"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::record::document;

    fn merge(current: Value, change: Value) -> Value {
        Value::Object(merged(&document(current), document(change)))
    }

    #[test]
    fn a_change_keeps_what_it_does_not_name() {
        let current = json!({ "command": "a", "model": "m", "env": { "A": "1", "B": "2" } });
        assert_eq!(
            merge(
                current,
                json!({ "command": "b", "model": null, "env": { "B": null, "C": "3" } })
            ),
            json!({ "command": "b", "env": { "A": "1", "C": "3" } }),
        );
    }

    #[test]
    fn the_redaction_marker_keeps_the_present_value_and_is_never_stored() {
        let current = json!({ "token": "t", "env": { "A": "1" } });
        let change = json!({
            "token": REDACTED,
            "other": REDACTED,
            "env": { "A": REDACTED, "B": { "type": "plain", "value": REDACTED } },
        });
        assert_eq!(merge(current.clone(), change), current);
        let whole = json!({ "token": REDACTED, "env": { "A": REDACTED, "B": REDACTED } });
        assert_eq!(
            replaced(&document(current.clone()), document(whole.clone())),
            document(current)
        );
        assert_eq!(merge(json!({}), whole), json!({ "env": {} }));
        let hidden = document(json!({ "headers": [{ "x": REDACTED }] }));
        assert_eq!(
            check_adapter(&hidden).map_err(|fault| fault.code),
            Err(Code::InvalidField)
        );
        assert_eq!(
            check_runtime(&hidden).map_err(|fault| fault.code),
            Err(Code::InvalidField)
        );
    }

    #[test]
    fn bindings_are_checked() {
        let code = |env: Value| {
            let config = document(json!({ "env": env }));
            check_adapter(&config).map_err(|fault| fault.code)
        };
        assert_eq!(
            code(json!({ "A": "1", "_b2": { "type": "plain", "value": "x" } })),
            Ok(())
        );
        assert_eq!(code(json!({ "WORKFORCE_API_KEY": "own" })), Ok(()));
        assert_eq!(
            code(json!({ "WORKFORCE_RUN_ID": "x" })),
            Err(Code::EnvReserved)
        );
        assert_eq!(code(json!({ "1A": "x" })), Err(Code::InvalidField));
        assert_eq!(code(json!({ "A": 1 })), Err(Code::InvalidField));
        assert_eq!(code(json!({ "A": "secret:x" })), Err(Code::InvalidField));
        let reference = json!({ "type": "secret_ref", "secretId": "x", "version": "latest" });
        assert_eq!(code(json!({ "A": reference })), Err(Code::SecretNotFound));
    }

    #[test]
    fn heartbeats_have_a_shortest_interval() {
        let check = |value: Value| {
            check_runtime(&document(json!({ "heartbeat": { "intervalSec": value } }))).is_ok()
        };
        assert!(check(json!(0)) && check(json!(30)) && check(json!(30.0)));
        assert!(!check(json!(29)) && !check(json!(-1)) && !check(json!("60")));
    }
}
