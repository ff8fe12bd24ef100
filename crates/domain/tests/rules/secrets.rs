use workforce_domain::secret::is_sensitive_name;

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
