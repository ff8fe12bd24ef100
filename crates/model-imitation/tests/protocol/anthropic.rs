//! Messages of Anthropic.

use serde_json::{Value, json};
use workforce_model_imitation::{Kind, Reply, Rule};

use crate::client::{Client, USAGE, joined, working};

const PATH: &str = "/v1/messages";

fn request(messages: &Value) -> Value {
    json!({
        "model": "claude-sonnet-4-5",
        "max_tokens": 1000,
        "system": [{"type": "text", "text": "Be kind."}],
        "tools": [{"name": "Bash", "input_schema": {"properties": {"command": {}}}}],
        "messages": messages,
    })
}

#[test]
fn a_turn_thinks_speaks_and_calls_then_answers_with_the_result() {
    let client = Client::of(working());
    let prompt = json!({"role": "user", "content": [
        {"type": "text", "text": "<system-reminder>none</system-reminder>"},
        {"type": "text", "text": "Look."},
    ]});

    let first = client.ask(PATH, &request(&json!([prompt])));

    assert_eq!(first["stop_reason"], "tool_use");
    assert_eq!(first["usage"]["input_tokens"], USAGE.input);
    assert_eq!(first["usage"]["cache_read_input_tokens"], USAGE.cached);
    assert_eq!(
        first["usage"]["cache_creation_input_tokens"],
        USAGE.cache_write
    );
    assert_eq!(first["usage"]["output_tokens"], USAGE.output);
    let types: Vec<&Value> = first["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["type"])
        .collect();
    assert_eq!(types, ["thinking", "text", "tool_use"]);
    let call = &first["content"][2];
    assert_eq!(call["name"], "Bash");
    assert_eq!(call["input"], json!({"command": "echo hello"}));

    let result = json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": call["id"], "content": [{"type": "text", "text": "hello"}]},
        {"type": "text", "text": "<system-reminder>none</system-reminder>"},
    ]});
    let answered = json!({"role": "assistant", "content": first["content"]});
    let second = client.ask(PATH, &request(&json!([prompt, answered, result])));

    assert_eq!(second["stop_reason"], "end_turn");
    assert_eq!(
        second["content"],
        json!([{"type": "text", "text": "Turn 1 of Look.: hello"}])
    );
    let requests = client.imitation.requests();
    let call = requests[1].call.as_ref().unwrap();
    assert_eq!(
        (requests[1].kind, call.step, call.turn()),
        (Kind::Step, Some(1), 1)
    );
    assert_eq!(call.system, "Be kind.");
    assert_eq!(call.last_result, "hello");
    assert_eq!(call.messages.len(), 3);
    assert_eq!(requests[1].headers["authorization"], "***");
    assert_eq!(requests[1].key, "0001");
}

#[test]
fn a_stream_brings_what_a_plain_answer_holds() {
    let client = Client::of(working());
    let mut request = request(&json!([{"role": "user", "content": "Look."}]));
    request["stream"] = json!(true);

    let events = client.typed_stream(PATH, &request);

    assert_eq!(events[0]["type"], "message_start");
    assert_eq!(events[0]["message"]["usage"]["output_tokens"], 1);
    let deltas: Vec<&Value> = events.iter().map(|it| &it["delta"]).collect();
    assert_eq!(joined(deltas.clone(), "/thinking"), "What is there?");
    assert_eq!(joined(deltas.clone(), "/text"), "I look.");
    let input: Value = serde_json::from_str(&joined(deltas, "/partial_json")).unwrap();
    assert_eq!(input, json!({"command": "echo hello"}));
    let [.., end, last] = events.as_slice() else {
        panic!("{events:?}");
    };
    assert_eq!(end["delta"]["stop_reason"], "tool_use");
    assert_eq!(end["usage"]["output_tokens"], USAGE.output);
    assert_eq!(last["type"], "message_stop");
    let begun = events
        .iter()
        .filter(|it| it["type"] == "content_block_start");
    let ended = events
        .iter()
        .filter(|it| it["type"] == "content_block_stop");
    assert_eq!(begun.count(), 3);
    assert_eq!(ended.count(), 3);
}

#[test]
fn several_calls_are_one_round() {
    let steps = Rule::new()
        .then(Reply::shells(["a", "b"]))
        .then(Reply::text("{result}"));
    let client = Client::of(steps.into());
    let results = json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "1", "content": "of a"},
        {"type": "tool_result", "tool_use_id": "2", "content": "of b"},
    ]});
    let prompt = json!({"role": "user", "content": "Look."});
    let answered = json!({"role": "assistant", "content": []});

    let first = client.ask(PATH, &request(&json!([prompt])));
    let second = client.ask(PATH, &request(&json!([prompt, answered, results])));

    assert_eq!(first["content"].as_array().unwrap().len(), 2);
    assert_ne!(first["content"][0]["id"], first["content"][1]["id"]);
    assert_eq!(second["content"][0]["text"], "of b");
}

#[test]
fn tokens_are_counted() {
    let client = Client::of(working());
    let counted = client.ask("/v1/messages/count_tokens", &json!({"messages": []}));
    assert!(counted["input_tokens"].is_u64());
    assert_eq!(client.imitation.requests()[0].kind, Kind::Count);
}
