//! pi.

use serde_json::Value;

use super::{Passage, Transcript, Usage, joined, list, text};

/// `None` for a line that is not understood.
pub(super) fn read(transcript: &mut Transcript, line: &Value) -> Option<()> {
    match text(line, "/type") {
        // What it tells here is told elsewhere as well.
        "session"
        | "agent_start"
        | "agent_end"
        | "agent_settled"
        | "turn_start"
        | "turn_end"
        | "message_start"
        | "entry_appended"
        | "tool_execution_update" => {}
        "message_update" => {
            let event = line.get("assistantMessageEvent")?;
            match text(event, "/type") {
                "text_start" => transcript.end_text(),
                "text_delta" => transcript.piece(text(event, "/delta")),
                _ => {}
            }
        }
        "message_end" => return message(transcript, line.get("message")?),
        "tool_execution_start" => {
            let input = line.get("args").unwrap_or(&Value::Null);
            transcript.calls(text(line, "/toolCallId"), text(line, "/toolName"), input);
        }
        "tool_execution_end" => answered(transcript, line, line.pointer("/result/content")),
        "auto_retry_start" => {
            let why = text(line, "/errorMessage");
            transcript.put(Passage::Noted(format!("Tries again: {why}")));
        }
        "auto_retry_end" => {
            if line.get("success").and_then(Value::as_bool) == Some(false) {
                let why = text(line, "/finalError").to_owned();
                transcript.put(Passage::Failed(why));
            }
        }
        _ => return None,
    }
    Some(())
}

fn answered(transcript: &mut Transcript, line: &Value, content: Option<&Value>) {
    let has_failed = line.get("isError").and_then(Value::as_bool);
    let id = text(line, "/toolCallId");
    transcript.answered(id, joined(content), has_failed.unwrap_or(false));
}

fn message(transcript: &mut Transcript, message: &Value) -> Option<()> {
    let content = message.get("content");
    match text(message, "/role") {
        "system" | "user" => transcript.put(Passage::Told(joined(content))),
        "toolResult" => answered(transcript, message, content),
        "assistant" => {
            transcript.forget_text();
            list(message, "/content")
                .iter()
                .for_each(|part| said(transcript, part));
            let pointers = ["/usage/input", "/usage/cacheRead", "/usage/cacheWrite"];
            if let Some(usage) = Usage::read(message, pointers, &["/usage/output"]) {
                let usage = usage.costing(message.pointer("/usage/cost/total"));
                transcript.put(Passage::Used(usage));
            }
            let why = text(message, "/errorMessage");
            if !why.is_empty() {
                transcript.put(Passage::Failed(why.to_owned()));
            }
        }
        _ => return None,
    }
    Some(())
}

fn said(transcript: &mut Transcript, part: &Value) {
    match text(part, "/type") {
        "text" => transcript.says(text(part, "/text")),
        "thinking" => transcript.thinks(text(part, "/thinking")),
        "toolCall" => {
            let (id, name) = (text(part, "/id"), text(part, "/name"));
            transcript.calls(id, name, part.get("arguments").unwrap_or(&Value::Null));
        }
        _ => transcript.put(Passage::Raw(part.to_string())),
    }
}
