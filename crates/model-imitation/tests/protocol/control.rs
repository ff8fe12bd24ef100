//! What tests and scripted commands ask of the imitation itself.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use workforce_model_imitation::{Kind, Reply, Rule, Script};

use crate::client::{Client, working};

fn prompt(text: &str) -> Value {
    json!({"model": "m", "tools": [{"name": "Bash"}], "messages": [{"role": "user", "content": text}]})
}

#[test]
fn the_sink_notes_what_it_gets() {
    let client = Client::of(Script::new());
    let url = client.imitation.sink_url("reports/1");
    let path = url.strip_prefix(&client.imitation.url()).unwrap();

    let answer = client.send("PATCH", path, &[], b"done");

    assert_eq!(answer.body(), r#"{"ok":true}"#);
    let requests = client.imitation.requests();
    assert_eq!(
        (requests[0].kind, requests[0].method.as_str()),
        (Kind::Sink, "PATCH")
    );
    assert_eq!(requests[0].path, "/imitation/sink/reports/1");
    assert_eq!(requests[0].body.as_deref(), Some("done"));
}

#[test]
fn it_is_controlled_over_http_too() {
    let client = Client::of(working());
    let script = br#"{"rules": [{"match": "^Do", "steps": [{"text": "Done."}]}]}"#;
    assert_eq!(
        client
            .send("PUT", "/imitation/script", &[], script)
            .status(),
        200
    );
    let answer = client.ask("/v1/messages", &prompt("Do it."));
    assert_eq!(answer["content"][0]["text"], "Done.");

    let log = client.send("GET", "/imitation/requests", &[], b"");
    let log: Value = serde_json::from_str(log.body()).unwrap();
    assert_eq!(log[0]["kind"], "step");
    assert_eq!(log[0]["call"]["prompts"], json!(["Do it."]));

    client.send("POST", "/imitation/reset", &[], b"");
    assert!(client.imitation.requests().is_empty());

    let refused = client.send(
        "PUT",
        "/imitation/script",
        &[],
        br#"{"rules": [{"steps": [{}]}]}"#,
    );
    assert_eq!(refused.status(), 400);
}

#[test]
fn a_prompt_brings_its_own_steps() {
    let client = Client::of(working());
    let steps = Rule::new().then(Reply::text("Mine: {prompts}"));
    let text = format!("Do it.\n{}\nThanks.", steps.as_line());
    let answer = client.ask("/v1/messages", &prompt(&text));
    let said = answer["content"][0]["text"].as_str().unwrap();
    assert!(said.starts_with("Mine: Do it."), "{said}");
}

#[test]
fn models_are_listed() {
    let client = Client::of(Script::new().models(["a", "b"]));
    let listed = client.send("GET", "/v1/models", &[], b"");
    let listed: Value = serde_json::from_str(listed.body()).unwrap();
    let names: Vec<&Value> = listed["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["id"])
        .collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn what_is_not_there_is_404_but_somebody_is_there() {
    let client = Client::of(Script::new());
    assert_eq!(client.send("GET", "/none", &[], b"").status(), 404);
    assert_eq!(client.send("HEAD", "/api/hello", &[], b"").status(), 200);
}

#[test]
fn a_body_may_be_compressed() {
    let client = Client::of(working());
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed
        .write_all(prompt("Look.").to_string().as_bytes())
        .unwrap();
    let headers = [("x-api-key", "k"), ("content-encoding", "gzip")];

    let answer = client.send("POST", "/v1/messages", &headers, &packed.finish().unwrap());
    assert_eq!(answer.status(), 200);
    let broken = client.send("POST", "/v1/messages", &headers, b"not packed");
    assert_eq!(broken.status(), 400);
}
