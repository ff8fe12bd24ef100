//! Responses of OpenAI.

use serde_json::{Value, json};
use workforce_model_imitation::{ErrorKind, Failure, Kind, Reply, Rule};

use crate::client::{Client, USAGE, joined, working};

const PATH: &str = "/v1/responses";

fn request(input: &Value) -> Value {
    json!({
        "model": "gpt-5.1-codex",
        "instructions": "Be kind.",
        "tools": [{"type": "function", "name": "exec_command", "parameters": {"properties": {"cmd": {}}}}],
        "input": input,
    })
}

fn prompt() -> Value {
    json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look."}]})
}

#[test]
fn a_turn_thinks_speaks_and_calls_then_answers_with_the_result() {
    let client = Client::of(working());
    let context = json!({"type": "message", "role": "user",
        "content": [{"type": "input_text", "text": "<environment_context>none</environment_context>"}]});

    let first = client.ask(PATH, &request(&json!([context, prompt()])));

    assert_eq!(first["status"], "completed");
    let usage = &first["usage"];
    assert_eq!(
        usage["input_tokens"],
        USAGE.input + USAGE.cached + USAGE.cache_write
    );
    assert_eq!(usage["input_tokens_details"]["cached_tokens"], USAGE.cached);
    assert_eq!(usage["output_tokens"], USAGE.output);
    assert_eq!(
        usage["output_tokens_details"]["reasoning_tokens"],
        USAGE.reasoning
    );
    let items = first["output"].as_array().unwrap();
    let types: Vec<&Value> = items.iter().map(|it| &it["type"]).collect();
    assert_eq!(types, ["reasoning", "message", "function_call"]);
    assert_eq!(items[2]["arguments"], r#"{"cmd":"echo hello"}"#);

    let result =
        json!({"type": "function_call_output", "call_id": items[2]["call_id"], "output": "hello"});
    let mut input = vec![context, prompt()];
    input.extend(items.iter().cloned());
    input.push(result);
    let second = client.ask(PATH, &request(&json!(input)));

    assert_eq!(
        second["output"][0]["content"][0]["text"],
        "Turn 1 of Look.: hello"
    );
    let requests = client.imitation.requests();
    let call = requests[1].call.as_ref().unwrap();
    assert_eq!((requests[1].kind, call.step), (Kind::Step, Some(1)));
    assert_eq!(call.system, "Be kind.");
}

#[test]
fn rounds_are_told_apart_where_nothing_is_said_between_them() {
    let steps = Rule::new()
        .then(Reply::shell("a"))
        .then(Reply::shell("b"))
        .then(Reply::text("the end"));
    let client = Client::of(steps.into());
    let mut input = vec![prompt()];
    for _ in 0..2 {
        let answer = client.ask(PATH, &request(&json!(input)));
        let call = answer["output"][0].clone();
        let result =
            json!({"type": "function_call_output", "call_id": call["call_id"], "output": ""});
        input.extend([call, result]);
    }
    let answer = client.ask(PATH, &request(&json!(input)));
    assert_eq!(answer["output"][0]["content"][0]["text"], "the end");
}

#[test]
fn a_stream_brings_what_a_plain_answer_holds() {
    let client = Client::of(working());
    let mut request = request(&json!("Look."));
    request["stream"] = json!(true);

    let events = client.typed_stream(PATH, &request);

    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number);
    }
    let of = |name: &str| {
        let name = format!("response.{name}");
        let found: Vec<&Value> = events.iter().filter(|it| it["type"] == name).collect();
        found
    };
    assert_eq!(
        joined(of("reasoning_summary_text.delta"), "/delta"),
        "What is there?"
    );
    assert_eq!(joined(of("output_text.delta"), "/delta"), "I look.");
    let arguments = joined(of("function_call_arguments.delta"), "/delta");
    assert_eq!(arguments, r#"{"cmd":"echo hello"}"#);
    assert_eq!(of("output_item.added").len(), 3);
    let done = of("output_item.done");
    let completed = of("completed")[0];
    let items: Vec<&Value> = done.iter().map(|it| &it["item"]).collect();
    assert_eq!(json!(items), completed["response"]["output"]);
    assert_eq!(
        completed["response"]["usage"]["output_tokens"],
        USAGE.output
    );
}

#[test]
fn a_tool_that_takes_scripts_is_called_with_one() {
    let client = Client::of(working());
    let mut request = request(&json!([prompt()]));
    request["tools"] = json!([{"type": "custom", "name": "exec"}]);
    request["stream"] = json!(true);

    let events = client.typed_stream(PATH, &request);

    let done = events
        .iter()
        .rfind(|it| it["type"] == "response.output_item.done");
    let item = &done.unwrap()["item"];
    assert_eq!(item["type"], "custom_tool_call");
    let input = item["input"].as_str().unwrap();
    assert!(
        input.contains(r#"tools.exec_command({"cmd":"echo hello"})"#),
        "{input}"
    );
}

#[test]
fn a_full_context_is_told_within_a_stream_only() {
    let client = Client::of(Rule::new().then(Failure::of(ErrorKind::Context)).into());
    let mut request = request(&json!([prompt()]));

    let plain = client.post(PATH, &request);
    request["stream"] = json!(true);
    let events = client.typed_stream(PATH, &request);

    assert_eq!(plain.status(), 400);
    let failed = events.last().unwrap();
    assert_eq!(failed["type"], "response.failed");
    assert_eq!(
        failed["response"]["error"]["code"],
        "context_length_exceeded"
    );
}

#[test]
fn a_web_socket_is_refused() {
    let client = Client::of(working());
    let headers = [("connection", "upgrade"), ("upgrade", "websocket")];
    let refused = client.send("GET", PATH, &headers, b"");
    assert_eq!(refused.status(), 426);
    assert_eq!(client.imitation.requests()[0].kind, Kind::WebSocket);
}
