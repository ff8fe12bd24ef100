//! Responses of OpenAI.

use serde_json::{Value, json};

use super::chat::texts;
use crate::answer::{Answer, Event, Written, pieces};
use crate::conversation::{Entry, Transcript, text_of};
use crate::ids::Ids;

/// When every answer was made, in seconds since 1970: no program looks at it.
pub(super) const CREATED_AT: u64 = 1_767_225_600;

pub(super) fn read(body: &Value) -> Transcript {
    let mut transcript = Transcript {
        system: text_of(&body["instructions"]),
        entries: Vec::new(),
    };
    match &body["input"] {
        Value::Array(items) => items
            .iter()
            .for_each(|item| add_item(item, &mut transcript)),
        text => transcript.entries.push(Entry::User(vec![text_of(text)])),
    }
    transcript
}

fn add_item(item: &Value, transcript: &mut Transcript) {
    let kind = item["type"].as_str().unwrap_or("message");
    if kind.ends_with("_output") {
        let result = text_of(&item["output"]);
        transcript.entries.push(Entry::ToolResult(result));
    } else if kind.ends_with("_call") {
        transcript.entries.push(Entry::Assistant);
    } else if kind == "message" {
        match item["role"].as_str() {
            Some("user") => transcript
                .entries
                .push(Entry::User(texts(&item["content"]))),
            Some("assistant") => transcript.entries.push(Entry::Assistant),
            _ if transcript.system.is_empty() => transcript.system = text_of(&item["content"]),
            _ => {}
        }
    }
}

pub(super) fn write(answer: &Answer<'_>) -> Written {
    let items = items(answer);
    let usage = answer.usage;
    let whole = json!({
        "id": answer.ids.next("resp_"),
        "object": "response",
        "created_at": CREATED_AT,
        "status": "completed",
        "model": answer.model,
        "output": items,
        "usage": {
            "input_tokens": usage.prompt(),
            "input_tokens_details": {"cached_tokens": usage.cached},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning},
            "total_tokens": usage.total(),
        },
        "error": null,
    });
    let mut begun = whole.clone();
    begun["status"] = "in_progress".into();
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;

    let mut events = vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.in_progress", "response": begun}),
    ];
    for (index, item) in items.iter().enumerate() {
        add_events(item, index, &mut events);
    }
    events.push(json!({"type": "response.completed", "response": whole}));
    let numbered = events.iter_mut().enumerate().map(|(number, event)| {
        event["sequence_number"] = json!(number);
        Event::typed(event)
    });
    let events = numbered.collect();
    Written { whole, events }
}

fn items(answer: &Answer<'_>) -> Vec<Value> {
    let ids = answer.ids;
    let mut items = Vec::new();
    if !answer.thinking.is_empty() {
        items.push(json!({
            "type": "reasoning",
            "id": ids.next("rs_"),
            "content": [],
            "encrypted_content": null,
            "summary": [{"type": "summary_text", "text": answer.thinking}],
        }));
    }
    if !answer.text.is_empty() {
        items.push(json!({
            "type": "message",
            "id": ids.next("msg_"),
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": answer.text, "annotations": []}],
        }));
    }
    for (tool, input) in &answer.calls {
        let (kind, field) = if tool.is_custom {
            ("custom_tool_call", "input")
        } else {
            ("function_call", "arguments")
        };
        let mut item = json!({
            "type": kind,
            "id": ids.next("fc_"),
            "status": "completed",
            "call_id": ids.next("call_"),
            "name": tool.name,
        });
        item[field] = input.as_text().into();
        if let Some(namespace) = &tool.namespace {
            item["namespace"] = namespace.as_str().into();
        }
        items.push(item);
    }
    items
}

/// The events that bring one item.
fn add_events(item: &Value, index: usize, events: &mut Vec<Value>) {
    let mut begun = item.clone();
    begun["status"] = "in_progress".into();
    let mut parts = Vec::new();
    match item["type"].as_str() {
        Some("message") => {
            begun["content"] = json!([]);
            let part = &item["content"][0];
            let mut empty = part.clone();
            empty["text"] = "".into();
            parts.push(json!({"type": "response.content_part.added", "part": empty}));
            parts.extend(deltas("response.output_text", &part["text"]));
            parts.push(json!({"type": "response.output_text.done", "text": part["text"]}));
            parts.push(json!({"type": "response.content_part.done", "part": part}));
            parts
                .iter_mut()
                .for_each(|it| it["content_index"] = json!(0));
        }
        Some("reasoning") => {
            begun["summary"] = json!([]);
            let name = "response.reasoning_summary_text";
            let text = &item["summary"][0]["text"];
            parts.push(json!({"type": format!("{name}.delta"), "delta": text}));
            parts.push(json!({"type": format!("{name}.done"), "text": text}));
            parts
                .iter_mut()
                .for_each(|it| it["summary_index"] = json!(0));
        }
        Some("custom_tool_call") => {
            begun["input"] = "".into();
            let (name, input) = ("response.custom_tool_call_input", &item["input"]);
            parts.push(json!({"type": format!("{name}.delta"), "delta": input}));
            parts.push(json!({"type": format!("{name}.done"), "input": input}));
        }
        _ => {
            begun["arguments"] = "".into();
            let (name, arguments) = ("response.function_call_arguments", &item["arguments"]);
            parts.extend(deltas(name, arguments));
            parts.push(json!({"type": format!("{name}.done"), "arguments": arguments}));
        }
    }
    for part in &mut parts {
        part["output_index"] = json!(index);
        part["item_id"] = item["id"].clone();
    }
    let name = "response.output_item";
    events.push(json!({"type": format!("{name}.added"), "output_index": index, "item": begun}));
    events.append(&mut parts);
    events.push(json!({"type": format!("{name}.done"), "output_index": index, "item": item}));
}

fn deltas(name: &str, text: &Value) -> impl Iterator<Item = Value> {
    pieces(text.as_str().unwrap_or_default())
        .map(move |piece| json!({"type": format!("{name}.delta"), "delta": piece}))
}

/// A stream that fails with `error` before it brings anything.
pub(super) fn failure(error: &Value, ids: &Ids) -> Vec<Event> {
    let mut response = json!({
        "id": ids.next("resp_"),
        "object": "response",
        "status": "in_progress",
        "output": [],
        "usage": null,
        "error": null,
    });
    let created = json!({"type": "response.created", "response": response});
    response["status"] = "failed".into();
    response["error"] = json!({"code": error["code"], "message": error["message"]});
    let failed = json!({"type": "response.failed", "response": response});
    [created, failed].iter().map(Event::typed).collect()
}
