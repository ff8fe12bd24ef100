//! Payloads without secret values: what stands under a secret name is never
//! stored with an approval, since everybody of the company may read it.

use serde_json::Value;
use workforce_domain::Document;
use workforce_domain::secret::{SecretReference, is_sensitive_name};

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
        Value::Object(object) if SecretReference::is_all_of(object) => {}
        Value::Object(object) => {
            let is_binding = object.get("type").is_some_and(|kind| kind == "plain");
            for (name, value) in object {
                if !(is_binding && name == "type") {
                    hide(value);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::record::document;

    const SECRET: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

    #[test]
    fn who_calls_itself_a_reference_hides_nothing_by_that() {
        for sly in [
            json!({ "type": "secret_ref", "value": "k" }),
            json!({ "type": "secret_ref", "secretId": "k" }),
            json!({ "type": "secret_ref", "secretId": SECRET, "version": "k" }),
            json!({ "type": "secret_ref", "secretId": SECRET, "note": "k" }),
        ] {
            let shown = redacted(document(json!({ "credentials": sly })));
            assert!(
                !Value::Object(shown.clone()).to_string().contains(r#""k""#),
                "{shown:?}"
            );
        }
    }

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
                "API_KEY": { "type": "secret_ref", "secretId": SECRET, "version": "latest" },
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
                    "API_KEY": { "type": "secret_ref", "secretId": SECRET, "version": "latest" },
                    "MODEL": "m",
                } },
            })
        );
    }
}
