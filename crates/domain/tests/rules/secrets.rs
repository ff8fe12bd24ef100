use serde_json::{Value, json};
use workforce_domain::secret::{
    ExternalRef, SecretProvider, SecretValue, VersionPick, is_sensitive_name, references,
};

#[test]
fn names_of_credentials_are_sensitive_in_every_spelling() {
    for name in [
        "token",
        "API_KEY",
        "api-key",
        "apiKey",
        "apikey",
        "OPENAI_API_KEY",
        "APIKey2",
        "keys",
        "GITHUB_TOKEN",
        "githubToken",
        "GITHUBTOKEN",
        "TOKEN_1",
        "NPM_TOKENS",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "DB_PASSWORD",
        "PGPASSWORD",
        "MYSQL_PWD",
        "DB_PASS",
        "clientSecret",
        "GOOGLE_CREDENTIALS",
        "Authorization",
        "X-Auth-Token",
        "BASIC_AUTH",
        "GH_PAT",
        "SSH_PRIVATE_KEY",
        "Cookie",
        "VAULT_SECRET_ID",
        "passphrase",
        "JWT",
    ] {
        assert!(is_sensitive_name(name), "{name}");
    }
}

#[test]
fn other_names_are_not() {
    for name in [
        "",
        "_",
        "PATH",
        "HOME",
        "MONKEY",
        "KEYBOARD",
        "KEYWORDS",
        "TOKENIZER",
        "maxTokens",
        "MAX_TOKENS",
        "inputTokens",
        "SSH_AUTH_SOCK",
        "AUTHOR",
        "AUTH_MODE",
        "PASS_THROUGH",
        "PUBLIC_KEY",
        "ticketKey",
        "TICKET_KEY",
        "urlKey",
        "idempotencyKey",
        "changedKeys",
        "secretId",
        "TOKEN_FILE",
        "SECRETARY",
        "Größe",
        "名前",
    ] {
        assert!(!is_sensitive_name(name), "{name}");
    }
}

#[test]
fn long_names_of_one_word_or_many_are_looked_at_once() {
    assert!(is_sensitive_name(&"aKey".repeat(50_000)));
    assert!(is_sensitive_name(&format!("{}Key", "A".repeat(200_000))));
    assert!(!is_sensitive_name(&"_".repeat(200_000)));
    assert!(!is_sensitive_name(&"aB".repeat(100_000)));
}

#[test]
fn values_are_bounded_and_never_shown() {
    let longest = "x".repeat(SecretValue::MAX);
    for text in ["a", " ", "two\nlines\n", &longest] {
        assert_eq!(SecretValue::parse(text).unwrap().expose(), text);
    }
    for text in ["", "a\0b", &format!("{longest}x")] {
        assert!(SecretValue::parse(text).is_err());
    }
    let value = SecretValue::parse("hunter2").unwrap();
    assert!(!format!("{value:?}").contains("hunter2"));
}

#[test]
fn what_is_kept_outside_is_named_as_its_provider_does() {
    let admitted = |provider, text| ExternalRef::parse(provider, text).is_ok();
    assert!(admitted(SecretProvider::Env, "GITHUB_TOKEN"));
    for name in [
        "",
        "1A",
        "A-B",
        "A B",
        "WORKFORCE_MASTER_KEY",
        "workforce_x",
        "A\0",
    ] {
        assert!(!admitted(SecretProvider::Env, name), "{name}");
    }
    assert!(admitted(SecretProvider::File, "github/token"));
    assert!(admitted(SecretProvider::File, "..data"));
    for path in [
        "",
        "/etc/passwd",
        "../x",
        "a/../b",
        "a//b",
        "./a",
        "a/",
        "a\nb",
    ] {
        assert!(!admitted(SecretProvider::File, path), "{path}");
    }
    assert!(!admitted(SecretProvider::LocalEncrypted, "x"));
}

#[test]
fn references_are_read_from_an_environment() {
    let id = "01890a5d-ac96-774b-bcce-b302099a8057";
    let config = json!({ "env": {
        "A": { "type": "secret_ref", "secretId": id },
        "B": { "type": "secret_ref", "secretId": id, "version": 2 },
        "C": "inline",
        "D": { "type": "secret_ref", "secretId": "x" },
        "E": { "type": "plain", "value": "v", "secretId": id },
    }});
    let Value::Object(config) = config else {
        panic!("an object")
    };
    let config = config.into();
    let found: Vec<_> = references(&config)
        .map(|(name, reference)| (name, reference.secret.to_string(), reference.version))
        .collect();
    let id = || id.to_owned();
    assert_eq!(
        found,
        [
            ("A", id(), VersionPick::Latest),
            ("B", id(), VersionPick::Pinned(2))
        ]
    );
}
