//! Payloads without secret values: what stands under a secret name is never
//! stored with an approval, since everybody of the company may read it.

use serde_json::Value;
use workforce_domain::Document;
use workforce_domain::secret::is_sensitive_name;

use crate::agents::REDACTED;

/// The document with the marker in the place of every text under a secret
/// name. References to secrets hold no secret and stay.
pub(crate) fn redacted(mut document: Document) -> Document {
    for (name, value) in &mut document {
        if is_sensitive_name(name) {
            hide(value);
        } else {
            look_within(value);
        }
    }
    document
}

fn look_within(value: &mut Value) {
    match value {
        Value::Object(object) => *object = redacted(std::mem::take(object)),
        Value::Array(items) => items.iter_mut().for_each(look_within),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn hide(value: &mut Value) {
    match value {
        Value::String(text) if !text.is_empty() => REDACTED.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Object(object) => match object.get("type").and_then(Value::as_str) {
            Some("secret_ref") => {}
            Some("plain") => {
                if let Some(value) = object.get_mut("value") {
                    hide(value);
                }
            }
            _ => object.values_mut().for_each(hide),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::record::document;

    #[test]
    fn secret_values_are_hidden_wherever_they_stand() {
        let payload = json!({
            "plan": "rotate the token",
            "apiKey": "k",
            "maxTokens": 5,
            "list": [{ "password": "p", "user": "u" }],
            "credentials": { "user": "u", "pins": ["1", 2] },
            "adapterConfig": { "env": {
                "GITHUB_TOKEN": { "type": "plain", "value": "t" },
                "API_KEY": { "type": "secret_ref", "secretId": "s", "version": "latest" },
                "MODEL": "m",
            } },
        });
        assert_eq!(
            Value::Object(redacted(document(payload))),
            json!({
                "plan": "rotate the token",
                "apiKey": REDACTED,
                "maxTokens": 5,
                "list": [{ "password": REDACTED, "user": "u" }],
                "credentials": { "user": REDACTED, "pins": [REDACTED, 2] },
                "adapterConfig": { "env": {
                    "GITHUB_TOKEN": { "type": "plain", "value": REDACTED },
                    "API_KEY": { "type": "secret_ref", "secretId": "s", "version": "latest" },
                    "MODEL": "m",
                } },
            })
        );
    }
}
