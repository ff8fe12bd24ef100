//! Chat Completions of OpenAI.

use serde_json::{Value, json};

use crate::client::{Client, USAGE, joined, working};

const PATH: &str = "/v1/chat/completions";

fn request(more: &[Value]) -> Value {
    let mut messages = vec![
        json!({"role": "system", "content": "Be kind."}),
        json!({"role": "user", "content": [{"type": "text", "text": "Look."}]}),
    ];
    messages.extend_from_slice(more);
    let parameters = json!({"properties": {"command": {}, "description": {}},
        "required": ["command", "description"]});
    json!({
        "model": "m",
        "tools": [{"type": "function", "function": {"name": "bash", "parameters": parameters}}],
        "messages": messages,
    })
}

#[test]
fn a_turn_speaks_and_calls_then_answers_with_the_result() {
    let client = Client::of(working());

    let first = client.ask(PATH, &request(&[]));

    let usage = &first["usage"];
    assert_eq!(
        usage["prompt_tokens"],
        USAGE.input + USAGE.cached + USAGE.cache_write
    );
    assert_eq!(
        usage["prompt_tokens_details"]["cached_tokens"],
        USAGE.cached
    );
    assert_eq!(usage["completion_tokens"], USAGE.output);
    assert_eq!(
        usage["completion_tokens_details"]["reasoning_tokens"],
        USAGE.reasoning
    );
    assert_eq!(first["choices"][0]["finish_reason"], "tool_calls");
    let message = &first["choices"][0]["message"];
    assert_eq!(message["content"], "I look.");
    let call = &message["tool_calls"][0];
    let arguments: Value =
        serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(arguments["command"], "echo hello");
    assert!(arguments["description"].is_string());

    let result = json!({"role": "tool", "tool_call_id": call["id"], "content": "hello"});
    let second = client.ask(PATH, &request(&[message.clone(), result]));

    let choice = &second["choices"][0];
    assert_eq!(choice["finish_reason"], "stop");
    assert_eq!(choice["message"]["content"], "Turn 1 of Look.: hello");
    let requests = client.imitation.requests();
    assert_eq!(requests[1].call.as_ref().unwrap().system, "Be kind.");
}

#[test]
fn a_stream_brings_what_a_plain_answer_holds() {
    let client = Client::of(working());
    let mut request = request(&[]);
    request["stream"] = json!(true);

    let mut events = client.stream(PATH, &request);

    assert_eq!(events.pop().unwrap().1, "[DONE]");
    let parsed = events
        .iter()
        .map(|(_, data)| serde_json::from_str(data).unwrap());
    let chunks: Vec<Value> = parsed.collect();
    let deltas: Vec<&Value> = chunks.iter().map(|it| &it["choices"][0]["delta"]).collect();
    assert_eq!(
        joined(deltas.clone(), "/reasoning_content"),
        "What is there?"
    );
    assert_eq!(joined(deltas.clone(), "/content"), "I look.");
    let arguments = joined(deltas, "/tool_calls/0/function/arguments");
    let arguments: Value = serde_json::from_str(&arguments).unwrap();
    assert_eq!(arguments["command"], "echo hello");
    let [.., end, last] = chunks.as_slice() else {
        panic!("{chunks:?}");
    };
    assert_eq!(end["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(last["usage"]["completion_tokens"], USAGE.output);
}
