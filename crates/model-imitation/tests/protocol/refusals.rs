//! What an API refuses, and how.

use std::time::Duration;

use serde_json::{Value, json};
use workforce_model_imitation::{ErrorKind, Failure, Kind, Reply, Rule, Script};

use crate::client::Client;

const KINDS: [ErrorKind; 7] = [
    ErrorKind::Auth,
    ErrorKind::RateLimit,
    ErrorKind::Quota,
    ErrorKind::Overloaded,
    ErrorKind::Server,
    ErrorKind::Context,
    ErrorKind::Status(418),
];

/// Asks in the way of each API, with a prompt and a shell tool.
fn request(path: &str) -> Value {
    let prompt = json!([{"role": "user", "content": "Do it.", "parts": [{"text": "Do it."}]}]);
    let tools = if path.contains("/models/") {
        json!([{"functionDeclarations": [{"name": "shell"}]}])
    } else {
        json!([{"type": "function", "name": "shell", "function": {"name": "shell"}}])
    };
    json!({"model": "m", "tools": tools, "messages": prompt, "input": prompt, "contents": prompt})
}

/// The statuses of every kind, and a word that tells the kind from others of the same status.
#[track_caller]
fn check(path: &str, expected: [(u16, &str); 7]) {
    let client = Client::of(Script::new());
    for (kind, (status, word)) in KINDS.into_iter().zip(expected) {
        client
            .imitation
            .set_script(Rule::new().then(Failure::of(kind)).into());
        let refused = client.post(path, &request(path));
        assert_eq!(refused.status(), status, "{kind:?}");
        assert!(
            refused.body().contains(word),
            "{kind:?}: {}",
            refused.body()
        );
        let requests = client.imitation.requests();
        let last = requests.last().unwrap();
        assert_eq!((last.kind, last.status), (Kind::Error, status));
        assert_eq!(last.call.as_ref().unwrap().error, Some(kind));
    }
}

#[test]
fn anthropic_has_its_statuses() {
    check(
        "/v1/messages",
        [
            (401, "authentication_error"),
            (429, "rate_limit_error"),
            (400, "credit balance"),
            (529, "overloaded_error"),
            (500, "api_error"),
            (400, "prompt is too long"),
            (418, "api_error"),
        ],
    );
}

#[test]
fn both_apis_of_openai_have_their_statuses() {
    for path in ["/v1/responses", "/v1/chat/completions"] {
        check(
            path,
            [
                (401, "invalid_api_key"),
                (429, "rate_limit_exceeded"),
                (429, "insufficient_quota"),
                (503, "server_is_overloaded"),
                (500, "server_error"),
                (400, "context_length_exceeded"),
                (418, "server_error"),
            ],
        );
    }
}

#[test]
fn gemini_has_its_statuses() {
    check(
        "/v1beta/models/m:generateContent",
        [
            (400, "API_KEY_INVALID"),
            (429, "RetryInfo"),
            (429, "current quota"),
            (503, "UNAVAILABLE"),
            (500, "INTERNAL"),
            (400, "input token count"),
            (418, "INTERNAL"),
        ],
    );
}

#[test]
fn some_failures_end_and_say_when() {
    let busy = Failure::of(ErrorKind::Overloaded).times(2);
    let busy = busy.retry_after(Duration::from_secs(7));
    let script: Script = Rule::new()
        .then(busy)
        .then(Reply::text("Recovered."))
        .into();
    let client = Client::of(script);
    let ask = || client.post("/v1/messages", &request("/v1/messages"));

    let answers = [ask(), ask(), ask()];

    let statuses = answers.each_ref().map(|it| it.status().as_u16());
    assert_eq!(statuses, [529, 529, 200]);
    assert_eq!(answers[0].headers()["retry-after"], "7");
    assert!(!answers[2].headers().contains_key("retry-after"));

    client.imitation.forget();
    assert_eq!(ask().status(), 529);
    assert_eq!(client.imitation.requests().len(), 1);
}

#[test]
fn a_key_is_wanted_and_must_not_be_bad() {
    let client = Client::of(Script::new().bad_keys("^old"));
    let body = request("/v1/messages").to_string();
    for (headers, status) in [
        (vec![], 401),
        (vec![("x-api-key", "old-1")], 401),
        (vec![("x-api-key", "not-old")], 200),
        (vec![("authorization", "Bearer old-2")], 401),
        (vec![("x-goog-api-key", "new")], 200),
    ] {
        let answer = client.send("POST", "/v1/messages", &headers, body.as_bytes());
        assert_eq!(answer.status(), status, "{headers:?}");
    }
}

#[test]
fn what_cannot_be_understood_is_told() {
    let client = Client::of(Script::new());
    let mut carrying = request("/v1/messages");
    carrying["messages"][0]["content"] = json!("#imitate [{\"sell\": 1}]");
    for body in ["{".to_owned(), carrying.to_string()] {
        let refused = client.send(
            "POST",
            "/v1/messages",
            &[("x-api-key", "k")],
            body.as_bytes(),
        );
        assert_eq!(refused.status(), 400);
        assert!(
            refused.body().contains("not understood"),
            "{}",
            refused.body()
        );
    }
    assert_eq!(client.imitation.requests()[1].kind, Kind::NotUnderstood);
}

#[test]
fn a_status_that_http_does_not_have_is_the_fault_of_the_script() {
    let client = Client::of(Rule::new().then(Failure::of(ErrorKind::Status(7))).into());
    let refused = client.post("/v1/messages", &request("/v1/messages"));
    assert_eq!(refused.status(), 500);
    assert!(refused.body().contains("the script"), "{}", refused.body());
}
