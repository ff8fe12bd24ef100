//! Hides credentials that stand in a configuration in plain: who may read the
//! configuration, the board included, need not learn them (contract section
//! 10.12). Sent back, the marker keeps the present value.

use serde_json::Value;
use workforce_domain::Document;
use workforce_domain::secret::is_sensitive_name;

use crate::agents::REDACTED;

/// The configuration with every text under a sensitive name replaced by the
/// marker, in any depth; references to secrets stay.
pub fn masked(mut config: Document) -> Document {
    mask_object(&mut config, false);
    config
}

fn mask_object(object: &mut Document, sensitive: bool) {
    let kind = object.get("type").and_then(Value::as_str);
    if kind == Some("secret_ref") {
        return;
    }
    let is_binding = kind == Some("plain");
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_hidden_and_references_are_not() {
        let config = json!({
            "command": "run", "apiKey": "k", "maxTokens": 5, "max_tokens": "many",
            "headers": {"Authorization": "Bearer b", "Accept": "a"},
            "credentials": {"user": "u", "pins": ["1", 2]},
            "env": {
                "MODEL": "m",
                "GITHUB_TOKEN": "t",
                "DB_PASSWORD": {"type": "plain", "value": "p"},
                "ANTHROPIC_API_KEY": {"type": "secret_ref", "secretId": "s", "version": "latest"},
            },
        });
        let Value::Object(config) = config else {
            panic!("an object")
        };
        assert_eq!(
            Value::Object(masked(config)),
            json!({
                "command": "run", "apiKey": REDACTED, "maxTokens": 5, "max_tokens": "many",
                "headers": {"Authorization": REDACTED, "Accept": "a"},
                "credentials": {"user": REDACTED, "pins": [REDACTED, 2]},
                "env": {
                    "MODEL": "m",
                    "GITHUB_TOKEN": REDACTED,
                    "DB_PASSWORD": {"type": "plain", "value": REDACTED},
                    "ANTHROPIC_API_KEY": {"type": "secret_ref", "secretId": "s", "version": "latest"},
                },
            })
        );
    }
}
