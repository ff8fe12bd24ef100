//! The environment in an adapter's configuration: which bindings are admitted
//! (docs/secrets.md#references).

use std::collections::BTreeSet;

use serde_json::Value;
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::SecretId;
use workforce_domain::port::{Failure, Reads, StoreError, Tx};
use workforce_domain::secret::{
    ReferenceFault, Secret, SecretReference, VersionPick, is_sensitive_name, is_variable_name,
    references,
};
use workforce_domain::{Document, JsonMap};

use super::http_config::inline_credential;
use crate::access::FieldFault;
use crate::context::Context;
use crate::masking::refuse_marks;
use crate::refusal::{Code, Codes};

/// An environment has at most so many variables (docs/secrets.md#references).
const MAX_VARIABLES: usize = 200;

/// The value of an inline binding: a string, or `{"type": "plain", "value"}`.
pub fn inline_value(binding: &Value) -> Option<&str> {
    match binding {
        Value::String(value) => Some(value),
        Value::Object(object) if object.get("type").and_then(Value::as_str) == Some("plain") => {
            object.get("value").and_then(Value::as_str)
        }
        _ => None,
    }
}

/// The inline values under sensitive names in a configuration, in any depth: in
/// its environment, and in objects such as `headers`.
pub fn sensitive_inline_values(config: &Document) -> impl Iterator<Item = &str> {
    let mut found = Vec::new();
    gather(config, false, &mut found);
    found.into_iter()
}

fn gather<'a>(object: &'a JsonMap, sensitive: bool, found: &mut Vec<&'a str>) {
    if SecretReference::is_all_of(object) {
        return;
    }
    for (name, value) in object {
        gather_value(value, sensitive || is_sensitive_name(name), found);
    }
}

fn gather_value<'a>(value: &'a Value, sensitive: bool, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) if sensitive => {
            // The scheme of an authorization is no secret; the rest is.
            let credential = text.split_once(' ').filter(|(scheme, _)| is_scheme(scheme));
            found.push(credential.map_or(text, |(_, credential)| credential));
        }
        Value::Object(object) => gather(object, sensitive, found),
        Value::Array(items) => items
            .iter()
            .for_each(|item| gather_value(item, sensitive, found)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_scheme(word: &str) -> bool {
    ["basic", "bearer", "token"]
        .iter()
        .any(|scheme| word.eq_ignore_ascii_case(scheme))
}

fn env_of(config: &JsonMap) -> Option<&JsonMap> {
    config.get("env").and_then(Value::as_object)
}

/// Checks the form of an environment; `base` is where it stands in the body.
pub(super) fn check_env(env: &Value, base: &str) -> Result<(), FieldFault> {
    let Value::Object(env) = env else {
        return Err(FieldFault::invalid(base, "must be an object"));
    };
    if env.len() > MAX_VARIABLES {
        let message = format!("at most {MAX_VARIABLES} variables");
        return Err(FieldFault::invalid(base, message));
    }
    env.iter()
        .try_for_each(|(name, binding)| check_binding(&pointer(base, name), name, binding))
}

fn pointer(base: &str, name: &str) -> String {
    let escaped = name.replace('~', "~0").replace('/', "~1");
    format!("{base}/{escaped}")
}

fn check_binding(pointer: &str, name: &str, binding: &Value) -> Result<(), FieldFault> {
    let fault = |message: &str| Err(FieldFault::invalid(pointer, message));
    if !is_variable_name(name) {
        return fault("a variable's name has letters, digits and `_`, and no digit first");
    }
    // The caller's own key is the one variable that may replace ours.
    if name.starts_with("WORKFORCE_") && name != "WORKFORCE_API_KEY" {
        let message = "workforce sets the variables that begin with WORKFORCE_ itself";
        return Err(FieldFault::coded(Code::EnvReserved, pointer, message));
    }
    let value = match SecretReference::read(binding) {
        Ok(Some(_reference)) => return Ok(()),
        Err(error @ ReferenceFault::Unknown) => {
            let message = error.to_string();
            return Err(FieldFault::coded(Code::SecretNotFound, pointer, message));
        }
        Err(error) => return fault(&error.to_string()),
        Ok(None) => match (inline_value(binding), binding) {
            (Some(value), _) => value,
            (None, Value::Object(object)) => {
                return match object.get("type").and_then(Value::as_str) {
                    Some("plain") => fault("a plain binding needs a string as value"),
                    _ => fault("type must be plain or secret_ref"),
                };
            }
            (None, _) => return fault("must be a string, a plain binding or a secret_ref"),
        },
    };
    if value.contains('\0') {
        return fault("must not contain a NUL character");
    }
    if value.starts_with("secret:") {
        return fault(
            "a text that starts with `secret:` is not resolved; use {\"type\":\"secret_ref\",\"secretId\":...}",
        );
    }
    Ok(())
}

/// What a configuration is refused with.
pub(super) const BINDINGS: Codes = Codes::of(&[
    Code::InvalidField,
    Code::EnvReserved,
    Code::SecretNotFound,
    Code::SecretRequired,
]);

/// Checks the new bindings of an environment. A secret that they refer to exists
/// in the company, with the version that is asked for. In strict mode no value is
/// inline under a sensitive name, nor in a header with such a name. The secrets are locked, so that none goes away
/// before the reference is stored. Bindings that were there before are not
/// checked.
pub(super) fn check_new_bindings<E: From<FieldFault>>(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    scope: CompanyScope,
    base: &str,
    before: &JsonMap,
    after: &JsonMap,
) -> Result<(), Failure<E>> {
    let new = new_bindings(ctx, base, before, after)?;
    match reference_faults(tx, scope, base, &new)?.into_iter().next() {
        Some(fault) => Err(fault.into()),
        None => Ok(()),
    }
}

/// Checks the new bindings of an environment that is only looked at in the same way. Nothing
/// is locked, since nothing is stored.
pub(super) fn check_unstored_bindings<E: From<FieldFault>>(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    scope: CompanyScope,
    base: &str,
    before: &JsonMap,
    after: &JsonMap,
) -> Result<(), Failure<E>> {
    let new = new_bindings(ctx, base, before, after)?;
    let mut secrets = Vec::new();
    for id in named_secrets(&new) {
        secrets.extend(reads.secrets().find(scope.into(), id)?);
    }
    let known: Vec<&Secret> = secrets.iter().collect();
    match faults(reads, scope, base, &new, &known)?.into_iter().next() {
        Some(fault) => Err(fault.into()),
        None => Ok(()),
    }
}

/// The bindings that were not there before. In strict mode none has a sensitive value
/// inline.
fn new_bindings(
    ctx: &Context<'_>,
    base: &str,
    before: &JsonMap,
    after: &JsonMap,
) -> Result<Document, FieldFault> {
    let present = env_of(before);
    let new: JsonMap = env_of(after)
        .into_iter()
        .flatten()
        .filter(|(name, binding)| present.and_then(|env| env.get(*name)) != Some(*binding))
        .map(|(name, binding)| (name.clone(), binding.clone()))
        .collect();
    if ctx.strict_secrets {
        let inline = new.iter().find(|(name, binding)| {
            is_sensitive_name(name) && inline_value(binding).is_some_and(|value| !value.is_empty())
        });
        if let Some((name, _)) = inline {
            let message = "make a secret of this value and refer to it: \
                {\"type\":\"secret_ref\",\"secretId\":...,\"version\":\"latest\"}";
            let at = pointer(base, name);
            return Err(FieldFault::coded(Code::SecretRequired, at, message));
        }
        if let Some(fault) = inline_credential(before, after) {
            return Err(fault);
        }
    }
    Ok(Document::from_iter([(
        "env".to_owned(),
        Value::Object(new),
    )]))
}

/// What is wrong with the references of a configuration. Locks the secrets that
/// exist.
pub(super) fn reference_faults(
    tx: &mut dyn Tx,
    scope: CompanyScope,
    base: &str,
    config: &Document,
) -> Result<Vec<FieldFault>, StoreError> {
    let ids = named_secrets(config);
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let secrets = tx.secrets_mut().lock_all(scope, &ids)?;
    let known: Vec<&Secret> = secrets.iter().map(|secret| &**secret).collect();
    faults(tx.reads(), scope, base, config, &known)
}

/// The secrets that a configuration refers to.
fn named_secrets(config: &Document) -> Vec<SecretId> {
    let ids: BTreeSet<SecretId> = references(config).map(|(_, it)| it.secret).collect();
    ids.into_iter().collect()
}

/// What is wrong with the references of a configuration to these secrets.
fn faults(
    reads: &mut dyn Reads,
    scope: CompanyScope,
    base: &str,
    config: &Document,
    secrets: &[&Secret],
) -> Result<Vec<FieldFault>, StoreError> {
    let mut faults = Vec::new();
    for (name, reference) in references(config) {
        let message = if !secrets.iter().any(|secret| secret.id == reference.secret) {
            "no such secret in this company".to_owned()
        } else if let VersionPick::Pinned(version) = reference.version
            && reads
                .secrets()
                .version(scope, reference.secret, version)?
                .is_none()
        {
            format!("the secret has no version {version}")
        } else {
            continue;
        };
        let at = pointer(base, name);
        faults.push(FieldFault::coded(Code::SecretNotFound, at, message));
    }
    Ok(faults)
}

/// What overrides of a configuration are refused with.
pub(crate) const OVERRIDES: Codes = BINDINGS;

/// Checks what an issue overrides of its assignee's configuration in the same
/// way; a `null` there removes a variable.
///
/// # Errors
/// The fault, at its place below `/assigneeAdapterOverrides`.
pub(crate) fn check_overrides<E: From<FieldFault>>(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    scope: CompanyScope,
    before: Option<&Document>,
    overrides: &Document,
) -> Result<(), Failure<E>> {
    const BASE: &str = "/assigneeAdapterOverrides/adapterConfig/env";
    refuse_marks(overrides, "/assigneeAdapterOverrides")?;
    let config = |overrides: &Document| overrides.get("adapterConfig").cloned();
    let Some(Value::Object(mut after)) = config(overrides) else {
        return Ok(());
    };
    if let Some(env) = after.get_mut("env") {
        if let Value::Object(env) = env {
            env.retain(|_name, binding| !binding.is_null());
        }
        check_env(env, BASE)?;
    }
    let before = match before.and_then(config) {
        Some(Value::Object(before)) => before,
        _ => JsonMap::new(),
    };
    check_new_bindings(tx, ctx, scope, BASE, &before, &after)
}
