//! Hides credentials that stand in a document in plain: who may read a
//! configuration, the board included, need not learn them, and the payload of an
//! approval, which everybody of the company may read, is never stored with them
//! (docs/secrets.md#masking). Sent back, the marker keeps the present value.

use serde_json::Value;
use workforce_domain::secret::{SecretReference, is_sensitive_name};
use workforce_domain::{Document, JsonMap};

use crate::access::FieldFault;

pub use workforce_domain::secret::REDACTED;

/// The document with every text under a sensitive name replaced by the
/// marker, in any depth; references to secrets stay.
pub fn masked(mut document: Document) -> Document {
    mask_object(&mut document, false);
    document
}

fn mask_object(object: &mut JsonMap, sensitive: bool) {
    if SecretReference::is_all_of(object) {
        return;
    }
    let is_binding = object.get("type").is_some_and(|kind| kind == "plain");
    for (name, value) in object {
        if !(is_binding && name == "type") {
            mask(value, sensitive || is_sensitive_name(name));
        }
    }
}

fn mask(value: &mut Value, sensitive: bool) {
    match value {
        Value::String(text) if sensitive => REDACTED.clone_into(text),
        Value::Object(object) => mask_object(object, sensitive),
        Value::Array(items) => items.iter_mut().for_each(|item| mask(item, sensitive)),
        // What is no text holds nothing to hide.
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Refuses the mark of a hidden value where no present value stands for it.
pub(crate) fn refuse_marks(config: &Document, pointer: &str) -> Result<(), FieldFault> {
    // A list instead of recursion, so that a deep document does not overflow
    // the stack.
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SECRET: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

    #[test]
    fn who_calls_itself_a_reference_hides_nothing_by_that() {
        for sly in [
            json!({"type": "secret_ref", "apiKey": "k", "env": {"A_TOKEN": "t"}}),
            json!({"type": "secret_ref", "secretId": SECRET, "password": "k"}),
            json!({"a": {"type": "secret_ref", "x": {"apiKey": ["k"]}}}),
            json!({"API_TOKEN": {"type": "secret_ref", "value": "k"}}),
            json!({"API_TOKEN": {"type": "secret_ref", "secretId": "k"}}),
            json!({"API_TOKEN": {"type": "secret_ref", "secretId": SECRET, "version": "k"}}),
            json!({"credentials": {"type": "secret_ref", "secretId": SECRET, "note": "k"}}),
        ] {
            let Value::Object(config) = sly.clone() else {
                panic!("an object")
            };
            let shown = Value::from(masked(config.into())).to_string();
            assert!(!shown.contains(r#""k""#), "{shown}");
            assert!(!shown.contains(r#""t""#), "{shown}");
        }
    }

    #[test]
    fn secrets_are_hidden_and_references_are_not() {
        let config = json!({
            "command": "run", "apiKey": "k", "maxTokens": 5, "max_tokens": "many",
            "headers": {"Authorization": "Bearer b", "Accept": "a"},
            "credentials": {"user": "u", "pins": ["1", 2]},
            "plan": "rotate the token", "list": [{"password": "p", "user": "u"}],
            "env": {
                "MODEL": "m",
                "GITHUB_TOKEN": "t",
                "DB_PASSWORD": {"type": "plain", "value": "p"},
                "ANTHROPIC_API_KEY": {"type": "secret_ref", "secretId": SECRET, "version": "latest"},
            },
        });
        let Value::Object(config) = config else {
            panic!("an object")
        };
        assert_eq!(
            Value::from(masked(config.into())),
            json!({
                "command": "run", "apiKey": REDACTED, "maxTokens": 5, "max_tokens": "many",
                "headers": {"Authorization": REDACTED, "Accept": "a"},
                "credentials": {"user": REDACTED, "pins": [REDACTED, 2]},
                "plan": "rotate the token", "list": [{"password": REDACTED, "user": "u"}],
                "env": {
                    "MODEL": "m",
                    "GITHUB_TOKEN": REDACTED,
                    "DB_PASSWORD": {"type": "plain", "value": REDACTED},
                    "ANTHROPIC_API_KEY": {"type": "secret_ref", "secretId": SECRET, "version": "latest"},
                },
            })
        );
    }
}
