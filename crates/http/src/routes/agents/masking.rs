//! Hides secret values that stand in an adapter's configuration in plain: who
//! may read the configuration need not learn them. Sent back, the marker keeps
//! the present value.

use serde_json::Value;
use workforce_app::agents::REDACTED;
use workforce_domain::Document;

/// Parts of names under which secrets are kept.
const SECRET_WORDS: [&str; 7] = [
    "apikey",
    "token",
    "secret",
    "password",
    "passwd",
    "credential",
    "privatekey",
];

/// The configuration with its secret values replaced by the marker.
pub(super) fn masked(mut config: Document) -> Document {
    for (name, value) in &mut config {
        match value {
            Value::Object(env) if name == "env" => mask_bindings(env),
            Value::String(text) if is_secret(name) => REDACTED.clone_into(text),
            _ => {}
        }
    }
    config
}

fn mask_bindings(env: &mut Document) {
    for (name, binding) in env {
        let value = match binding {
            // What is no text holds nothing to hide.
            Value::Object(binding) => binding.get_mut("value"),
            value => Some(value),
        };
        if let Some(Value::String(text)) = value
            && is_secret(name)
        {
            REDACTED.clone_into(text);
        }
    }
}

fn is_secret(name: &str) -> bool {
    let plain: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    // A count of tokens is no secret.
    !plain.ends_with("tokens") && SECRET_WORDS.iter().any(|word| plain.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_hidden_and_references_are_not() {
        let config = json!({
            "command": "run", "apiKey": "k", "maxTokens": 5, "tokens": "many",
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
                "command": "run", "apiKey": REDACTED, "maxTokens": 5, "tokens": "many",
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
