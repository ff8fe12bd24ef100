//! Generate Content of Google.

use serde_json::{Value, json};
use workforce_model_imitation::Kind;

use crate::client::{Client, USAGE, joined, working};

const PATH: &str = "/v1beta/models/gemini-2.5-pro:generateContent";
const STREAM_PATH: &str = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse";

fn request(more: &[Value]) -> Value {
    let mut contents = vec![json!({"role": "user", "parts": [{"text": "Look."}]})];
    contents.extend_from_slice(more);
    json!({
        "systemInstruction": {"parts": [{"text": "Be kind."}]},
        "tools": [{"functionDeclarations": [{"name": "run_shell_command",
            "parametersJsonSchema": {"properties": {"command": {}}}}]}],
        "contents": contents,
    })
}

#[test]
fn a_turn_thinks_speaks_and_calls_then_answers_with_the_result() {
    let client = Client::of(working());

    let first = client.ask(PATH, &request(&[]));

    let usage = &first["usageMetadata"];
    assert_eq!(
        usage["promptTokenCount"],
        USAGE.input + USAGE.cached + USAGE.cache_write
    );
    assert_eq!(usage["cachedContentTokenCount"], USAGE.cached);
    assert_eq!(
        usage["candidatesTokenCount"],
        USAGE.output - USAGE.reasoning
    );
    assert_eq!(usage["thoughtsTokenCount"], USAGE.reasoning);
    let content = &first["candidates"][0]["content"];
    let call = &content["parts"].as_array().unwrap().last().unwrap()["functionCall"];
    assert_eq!(call["name"], "run_shell_command");
    assert_eq!(call["args"], json!({"command": "echo hello"}));

    let result = json!({"functionResponse": {"id": call["id"], "name": call["name"],
        "response": {"output": "hello"}}});
    let result = json!({"role": "user", "parts": [result]});
    let second = client.ask(PATH, &request(&[content.clone(), result]));

    let parts = second["candidates"][0]["content"]["parts"]
        .as_array()
        .unwrap();
    assert_eq!(joined(parts, "/text"), "Turn 1 of Look.: hello");
    let requests = client.imitation.requests();
    let call = requests[1].call.as_ref().unwrap();
    assert_eq!(call.model, "gemini-2.5-pro");
    assert_eq!(call.system, "Be kind.");
}

#[test]
fn a_stream_brings_what_a_plain_answer_holds() {
    let client = Client::of(working());

    let events = client.stream(STREAM_PATH, &request(&[]));

    let parsed = events
        .iter()
        .map(|(_, data)| serde_json::from_str(data).unwrap());
    let chunks: Vec<Value> = parsed.collect();
    let parts: Vec<&Value> = chunks
        .iter()
        .flat_map(|it| it["candidates"][0]["content"]["parts"].as_array().unwrap())
        .collect();
    let (thoughts, said): (Vec<&Value>, Vec<&Value>) =
        parts.iter().partition(|it| it["thought"] == true);
    assert_eq!(joined(thoughts, "/text"), "What is there?");
    assert_eq!(joined(said, "/text"), "I look.");
    let last = chunks.last().unwrap();
    assert_eq!(last["candidates"][0]["finishReason"], "STOP");
    assert_eq!(
        last["usageMetadata"]["cachedContentTokenCount"],
        USAGE.cached
    );
    let call = &last["candidates"][0]["content"]["parts"][0]["functionCall"];
    assert_eq!(call["args"], json!({"command": "echo hello"}));
}

#[test]
fn tokens_are_counted_and_the_key_may_stand_in_the_query() {
    let client = Client::of(working());
    let counted = client.ask("/v1beta/models/m:countTokens", &request(&[]));
    assert!(counted["totalTokens"].is_u64());

    let body = request(&[]).to_string();
    let path = format!("{PATH}?key=abcdef");
    let answered = client.send("POST", &path, &[], body.as_bytes());

    assert_eq!(answered.status(), 200);
    let requests = client.imitation.requests();
    assert_eq!(requests[0].kind, Kind::Count);
    assert_eq!(
        (requests[1].kind, requests[1].key.as_str()),
        (Kind::Step, "cdef")
    );
}
