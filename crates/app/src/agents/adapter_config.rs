//! Adapter and heartbeat configuration: how changes merge and what is refused
//! (docs/heartbeats.md#process-adapter).

use serde_json::{Number, Value};
use workforce_domain::agent::AdapterType;
use workforce_domain::number::whole;
use workforce_domain::{Document, JsonMap};

use super::env_bindings::check_env;
use super::http_config::check_http;
use crate::access::{FieldFault, check_document};
use crate::masking::{REDACTED, refuse_marks};

/// Where the environment stands in a body.
pub(super) const ENV: &str = "/adapterConfig/env";

/// A configuration is at most so long as JSON.
pub(super) const MAX_BYTES: usize = 256 * 1024;

/// What limits the resources of a local program
/// (docs/operations.md#resource-limits).
const RESOURCE_LIMITS: [&str; 3] = ["maxMemoryMb", "maxProcesses", "maxFileSizeMb"];

/// The value of a limit of resources, in MiB or as a number of processes; `None`
/// for one that cannot be such a limit.
pub fn resource_limit(number: &Number) -> Option<u64> {
    const HIGHEST: u64 = 1 << 30;
    let limit = u64::try_from(whole(number)?).ok()?;
    (1..=HIGHEST).contains(&limit).then_some(limit)
}

/// Shortest time between two timer heartbeats, in seconds.
const MIN_INTERVAL_SEC: f64 = 30.0;

/// The configuration after a change: keys of `change` replace those of
/// `current`, `null` removes; within `env` likewise, variable by variable.
pub(super) fn merged(current: &Document, change: Document) -> Document {
    overlaid(current.clone(), current, change)
}

/// The configuration after `change` replaces it as a whole. The mark of a hidden
/// value keeps the present one here, too.
pub(super) fn replaced(current: &Document, change: Document) -> Document {
    overlaid(Document::new(), current, change)
}

/// `base` with the keys of `change`; `current` has the values that marks stand
/// for.
fn overlaid(base: Document, current: &Document, change: Document) -> Document {
    let mut result = base;
    for (key, value) in change {
        let value = match value {
            Value::Object(change) if key == "env" => {
                let env = |document: &Document| match document.get("env") {
                    Some(Value::Object(env)) => env.clone(),
                    _ => JsonMap::new(),
                };
                let (target, present) = (env(&result), env(current));
                Some(Value::Object(overlaid_env(target, &present, change)))
            }
            Value::Null => None,
            // Nothing is there that the mark could keep.
            Value::String(text) if text == REDACTED && !current.contains_key(&key) => continue,
            value => Some(unmasked(value, current.get(&key))),
        };
        put(&mut result, key, value);
    }
    result
}

fn overlaid_env(base: JsonMap, present: &JsonMap, change: JsonMap) -> JsonMap {
    let mut env = base;
    for (name, binding) in change {
        if is_redacted(&binding) {
            if let Some(binding) = present.get(&name) {
                env.insert(name, binding.clone());
            }
        } else {
            let binding = Some(binding).filter(|binding| !binding.is_null());
            put(&mut env, name, binding);
        }
    }
    env
}

fn put(target: &mut JsonMap, key: String, value: Option<Value>) {
    match value {
        Some(value) => {
            target.insert(key, value);
        }
        None => {
            target.remove(&key);
        }
    }
}

fn is_redacted(value: &Value) -> bool {
    match value {
        Value::String(text) => text == REDACTED,
        Value::Object(binding) => binding.get("value").is_some_and(is_redacted),
        _ => false,
    }
}

/// A document with every mark replaced by the value in the same place of
/// `present`. Without such a value the mark stays, to be refused.
pub(crate) fn unmasked_document(document: Document, present: Option<&Document>) -> Document {
    unmasked_members(document.into(), present.map(|it| &**it)).into()
}

fn unmasked_members(members: JsonMap, present: Option<&JsonMap>) -> JsonMap {
    members
        .into_iter()
        .map(|(key, value)| {
            let value = unmasked(value, present.and_then(|it| it.get(&key)));
            (key, value)
        })
        .collect()
}

fn unmasked(value: Value, present: Option<&Value>) -> Value {
    match value {
        Value::String(text) if text == REDACTED => present.cloned().unwrap_or(Value::String(text)),
        Value::Object(object) => {
            Value::Object(unmasked_members(object, present.and_then(Value::as_object)))
        }
        Value::Array(items) => Value::Array(
            items
                .into_iter()
                .enumerate()
                .map(|(n, item)| unmasked(item, present.and_then(|it| it.get(n))))
                .collect(),
        ),
        other => other,
    }
}

/// Checks an adapter's configuration.
pub(super) fn check_adapter(kind: AdapterType, config: &Document) -> Result<(), FieldFault> {
    check_document(config, "/adapterConfig", MAX_BYTES)?;
    refuse_marks(config, "/adapterConfig")?;
    text(config, "command")?;
    text(config, "cwd")?;
    text(config, "stdin")?;
    if config.get("shell").is_some_and(|shell| !shell.is_boolean()) {
        let message = "must be true or false";
        return Err(FieldFault::invalid("/adapterConfig/shell", message));
    }
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
    for key in RESOURCE_LIMITS {
        let limit = config.get(key);
        if limit.is_some_and(|limit| limit.as_number().and_then(resource_limit).is_none()) {
            let message = "must be a whole number, at least 1 and at most 1073741824";
            return Err(FieldFault::invalid(
                format!("/adapterConfig/{key}"),
                message,
            ));
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
    if let Some(env) = config.get("env") {
        check_env(env, ENV)?;
    }
    match kind {
        AdapterType::Http => check_http(config),
        _ => Ok(()),
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
        && !runs
            .as_number()
            .and_then(whole)
            .is_some_and(|runs| (1..=10).contains(&runs))
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
mod tests;
