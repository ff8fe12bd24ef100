//! Generate Content of Google.

use serde_json::{Value, json};

use crate::answer::{Answer, Event, Written, pieces};
use crate::conversation::{Entry, Transcript, list, text_of};

/// Proves to the real service that a call is its own; programs send it back.
const SIGNATURE: &str = "c2lnbmVk";

pub(super) fn read(body: &Value) -> Transcript {
    let entries = list(&body["contents"]).iter().flat_map(of_content);
    Transcript {
        system: text_of(&body["systemInstruction"]),
        entries: entries.collect(),
    }
}

fn of_content(content: &Value) -> Vec<Entry> {
    let parts = list(&content["parts"]);
    let results: Vec<Entry> = parts
        .iter()
        .filter_map(|part| part.get("functionResponse"))
        .map(|result| Entry::ToolResult(text_of(&result["response"])))
        .collect();
    if !results.is_empty() {
        return results;
    }
    if content["role"] != "user" {
        return vec![Entry::Assistant];
    }
    let texts = parts.iter().filter(|part| part["thought"] != true);
    let texts = texts.filter_map(|part| part.get("text")).map(text_of);
    vec![Entry::User(texts.collect())]
}

pub(super) fn wanted_schema(body: &Value) -> Option<&Value> {
    let config = &body["generationConfig"];
    let schema = ["responseJsonSchema", "responseSchema"]
        .iter()
        .find_map(|name| config.get(*name));
    // JSON of any shape may be asked for too.
    let is_json = config["responseMimeType"] == "application/json";
    is_json.then(|| schema.unwrap_or(&Value::Null))
}

pub(super) fn write(answer: &Answer<'_>) -> Written {
    let usage = answer.usage;
    let usage = json!({
        "promptTokenCount": usage.prompt(),
        "candidatesTokenCount": usage.output.saturating_sub(usage.reasoning),
        "thoughtsTokenCount": usage.reasoning,
        "cachedContentTokenCount": usage.cached,
        "totalTokenCount": usage.total(),
    });
    let mut parts = Vec::new();
    if !answer.thinking.is_empty() {
        parts.push(json!({"text": answer.thinking, "thought": true}));
    }
    parts.extend(pieces(&answer.text).map(|piece| json!({"text": piece})));
    let calls: Vec<Value> = answer
        .calls
        .iter()
        .map(|(tool, input)| {
            let id = answer.ids.next("fc_");
            let call = json!({"id": id, "name": tool.name, "args": input.as_json()});
            json!({"functionCall": call, "thoughtSignature": SIGNATURE})
        })
        .collect();

    let chunk = |parts: &[Value]| {
        let content = json!({"role": "model", "parts": parts});
        json!({
            "modelVersion": answer.model,
            "responseId": "imitation",
            "candidates": [{"index": 0, "content": content}],
        })
    };
    let ended = |mut chunk: Value| {
        chunk["candidates"][0]["finishReason"] = "STOP".into();
        chunk["usageMetadata"] = usage.clone();
        chunk
    };
    let nothing = [json!({"text": ""})];
    let last = if calls.is_empty() {
        &nothing
    } else {
        calls.as_slice()
    };
    let mut chunks: Vec<Value> = parts
        .iter()
        .map(|part| chunk(std::slice::from_ref(part)))
        .collect();
    chunks.push(ended(chunk(last)));
    let whole = ended(chunk(&[parts, calls].concat()));
    let data = chunks.iter().map(Value::to_string);
    let events = data.map(Event::unnamed).collect();
    Written { whole, events }
}
