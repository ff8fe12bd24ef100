//! Chat Completions of OpenAI.

use serde_json::{Value, json};

use super::responses::CREATED_AT;
use crate::answer::{Answer, Event, Written, pieces};
use crate::conversation::{Entry, Transcript, list, text_of};

pub(super) fn read(body: &Value) -> Transcript {
    let mut system = Vec::new();
    let mut entries = Vec::new();
    for message in list(&body["messages"]) {
        let text = text_of(&message["content"]);
        match message["role"].as_str() {
            Some("user") => entries.push(Entry::User(texts(&message["content"]))),
            Some("assistant") => entries.push(Entry::Assistant),
            Some("tool") => entries.push(Entry::ToolResult(text)),
            _ => system.push(text),
        }
    }
    Transcript {
        system: system.join("\n"),
        entries,
    }
}

/// Each part by itself, since a part may be a note of the program.
pub(super) fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::Array(parts) => parts.iter().map(text_of).collect(),
        content => vec![text_of(content)],
    }
}

pub(super) fn write(answer: &Answer<'_>) -> Written {
    let usage = answer.usage;
    let usage = json!({
        "prompt_tokens": usage.prompt(),
        "completion_tokens": usage.output,
        "total_tokens": usage.total(),
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    });
    let calls: Vec<Value> = answer
        .calls
        .iter()
        .map(|(tool, input)| {
            json!({
                "id": answer.ids.next("call_"),
                "type": "function",
                "function": {"name": tool.name, "arguments": input.as_text()},
            })
        })
        .collect();
    let reason = if calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    };
    let id = answer.ids.next("chatcmpl-");
    let base = json!({"id": id, "created": CREATED_AT, "model": answer.model, "usage": null});

    let text = (!answer.text.is_empty()).then_some(&answer.text);
    let mut message = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let mut whole = base.clone();
    whole["object"] = "chat.completion".into();
    whole["choices"] = json!([{"index": 0, "message": message, "finish_reason": reason}]);
    whole["usage"] = usage.clone();

    let chunk = |choices: Value| {
        let mut chunk = base.clone();
        chunk["object"] = "chat.completion.chunk".into();
        chunk["choices"] = choices;
        chunk
    };
    let mut chunks: Vec<Value> = deltas(answer, &calls)
        .into_iter()
        .map(|delta| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}])))
        .collect();
    let end = json!([{"index": 0, "delta": {}, "finish_reason": reason}]);
    chunks.push(chunk(end));
    let mut last = chunk(json!([]));
    last["usage"] = usage;
    chunks.push(last);
    let data = chunks.iter().map(Value::to_string);
    let data = data.chain(["[DONE]".to_owned()]);
    let events = data.map(Event::unnamed).collect();
    Written { whole, events }
}

fn deltas(answer: &Answer<'_>, calls: &[Value]) -> Vec<Value> {
    let mut deltas = vec![json!({"role": "assistant", "content": ""})];
    if !answer.thinking.is_empty() {
        deltas.push(json!({"reasoning_content": answer.thinking}));
    }
    deltas.extend(pieces(&answer.text).map(|piece| json!({"content": piece})));
    for (index, call) in calls.iter().enumerate() {
        let mut begun = call.clone();
        begun["index"] = json!(index);
        begun["function"]["arguments"] = "".into();
        deltas.push(json!({"tool_calls": [begun]}));
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        deltas.extend(pieces(arguments).map(
            |piece| json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}),
        ));
    }
    deltas
}
