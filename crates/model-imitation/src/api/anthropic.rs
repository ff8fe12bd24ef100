//! Messages of Anthropic.

use serde_json::{Value, json};

use crate::answer::{Answer, Event, Written, pieces};
use crate::conversation::{Entry, Transcript, list, text_of};

/// Proves to the real service that a block of reasoning is its own; programs send it back.
const SIGNATURE: &str = "c2lnbmVk";

pub(super) fn read(body: &Value) -> Transcript {
    let entries = list(&body["messages"]).iter().flat_map(of_message);
    Transcript {
        system: text_of(&body["system"]),
        entries: entries.collect(),
    }
}

fn of_message(message: &Value) -> Vec<Entry> {
    let content = &message["content"];
    let blocks = list(content);
    let of_type = |name: &'static str| blocks.iter().filter(move |it| it["type"] == name);
    let results: Vec<Entry> = of_type("tool_result")
        .map(|block| Entry::ToolResult(text_of(&block["content"])))
        .collect();
    if !results.is_empty() {
        return results;
    }
    if message["role"] != "user" {
        return vec![Entry::Assistant];
    }
    let texts = match content {
        Value::String(text) => vec![text.clone()],
        _ => of_type("text")
            .map(|block| text_of(&block["text"]))
            .collect(),
    };
    vec![Entry::User(texts)]
}

pub(super) fn write(answer: &Answer<'_>) -> Written {
    let blocks = blocks(answer);
    let usage = answer.usage;
    let usage = json!({
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
        "service_tier": "standard",
    });
    let stop_reason = if answer.calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    let whole = json!({
        "id": answer.ids.next("msg_"),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": blocks,
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "usage": usage,
    });

    let mut begun = whole.clone();
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    begun["usage"]["output_tokens"] = json!(1);
    let mut events = vec![json!({"type": "message_start", "message": begun})];
    for (index, block) in blocks.iter().enumerate() {
        let (empty, deltas) = streamed(block);
        events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        events.extend(
            deltas.into_iter().map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({"stop_reason": stop_reason, "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": usage}));
    events.push(json!({"type": "message_stop"}));
    Written {
        whole,
        events: events.iter().map(Event::typed).collect(),
    }
}

fn blocks(answer: &Answer<'_>) -> Vec<Value> {
    let mut blocks = Vec::new();
    if !answer.thinking.is_empty() {
        let thinking = answer.thinking;
        blocks.push(json!({"type": "thinking", "thinking": thinking, "signature": SIGNATURE}));
    }
    if !answer.text.is_empty() {
        blocks.push(json!({"type": "text", "text": answer.text}));
    }
    blocks.extend(answer.calls.iter().map(|(tool, input)| {
        let id = answer.ids.next("toolu_");
        json!({"type": "tool_use", "id": id, "name": tool.name, "input": input.as_json()})
    }));
    blocks
}

/// How a block begins in a stream, and what completes it.
fn streamed(block: &Value) -> (Value, Vec<Value>) {
    let mut empty = block.clone();
    let deltas = match block["type"].as_str() {
        Some("text") => {
            empty["text"] = "".into();
            let pieces = pieces(block["text"].as_str().unwrap_or_default());
            pieces
                .map(|it| json!({"type": "text_delta", "text": it}))
                .collect()
        }
        Some("thinking") => {
            empty["thinking"] = "".into();
            empty["signature"] = "".into();
            vec![
                json!({"type": "thinking_delta", "thinking": block["thinking"]}),
                json!({"type": "signature_delta", "signature": block["signature"]}),
            ]
        }
        _ => {
            empty["input"] = json!({});
            let pieces = pieces(&block["input"].to_string());
            pieces
                .map(|it| json!({"type": "input_json_delta", "partial_json": it}))
                .collect()
        }
    };
    (empty, deltas)
}
