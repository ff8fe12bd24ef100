//! Claude Code, and Cursor, whose documentation describes the same events.

use serde_json::Value;

use super::{Passage, Transcript, Usage, joined, list, text};

/// `None` for a line that is not understood.
pub(super) fn read(transcript: &mut Transcript, line: &Value) -> Option<()> {
    match text(line, "/type") {
        "system" => system(transcript, line),
        "assistant" => {
            transcript.forget_text();
            let parts = list(line, "/message/content").iter();
            parts.for_each(|part| said(transcript, part));
            Some(())
        }
        "user" => {
            match line.pointer("/message/content") {
                Some(Value::Array(parts)) => parts.iter().for_each(|part| heard(transcript, part)),
                other => transcript.put(Passage::Told(joined(other))),
            }
            Some(())
        }
        "stream_event" => {
            stream(transcript, line);
            Some(())
        }
        "result" => {
            result(transcript, line);
            Some(())
        }
        _ => None,
    }
}

fn system(transcript: &mut Transcript, line: &Value) -> Option<()> {
    let note = match text(line, "/subtype") {
        "init" => format!("Began with {}", text(line, "/model")),
        "api_retry" => {
            let number = |pointer| line.pointer(pointer).and_then(Value::as_u64);
            let (attempt, all) = (number("/attempt")?, number("/max_retries")?);
            let why = text(line, "/error").replace('_', " ");
            format!("Tries again, {attempt} of {all}: {why}")
        }
        "permission_denied" => {
            let (tool, why) = (text(line, "/tool_name"), text(line, "/message"));
            transcript.put(Passage::Failed(format!("{tool} was not allowed: {why}")));
            return Some(());
        }
        "status" | "thinking_tokens" => return Some(()),
        _ => return None,
    };
    transcript.put(Passage::Noted(note));
    Some(())
}

/// A part of what the agent said.
fn said(transcript: &mut Transcript, part: &Value) {
    match text(part, "/type") {
        "text" => transcript.says(text(part, "/text")),
        "thinking" => transcript.thinks(text(part, "/thinking")),
        "tool_use" => {
            let (id, name) = (text(part, "/id"), text(part, "/name"));
            transcript.calls(id, name, part.get("input").unwrap_or(&Value::Null));
        }
        _ => transcript.put(Passage::Raw(part.to_string())),
    }
}

/// A part of what the agent heard.
fn heard(transcript: &mut Transcript, part: &Value) {
    match text(part, "/type") {
        "tool_result" => {
            let has_failed = part.get("is_error").and_then(Value::as_bool);
            let answer = joined(part.get("content"));
            transcript.answered(
                text(part, "/tool_use_id"),
                answer,
                has_failed.unwrap_or(false),
            );
        }
        "text" => transcript.put(Passage::Told(text(part, "/text").to_owned())),
        _ => transcript.put(Passage::Raw(part.to_string())),
    }
}

/// The whole message comes after its pieces.
fn stream(transcript: &mut Transcript, line: &Value) {
    match text(line, "/event/type") {
        "content_block_start" => transcript.end_text(),
        "content_block_delta" => transcript.piece(text(line, "/event/delta/text")),
        _ => {}
    }
}

fn result(transcript: &mut Transcript, line: &Value) {
    let usage = Usage::read(
        line,
        [
            "/usage/input_tokens",
            "/usage/cache_read_input_tokens",
            "/usage/cache_creation_input_tokens",
        ],
        &["/usage/output_tokens"],
    );
    // What it ended with is the last thing it said.
    if line.get("is_error").and_then(Value::as_bool) == Some(true) {
        let errors = list(line, "/errors").iter().filter_map(Value::as_str);
        let mut errors: Vec<_> = errors.collect();
        let word = text(line, "/subtype").replace('_', " ");
        errors.extend(Some(text(line, "/result")).filter(|text| !text.is_empty()));
        let why = if errors.is_empty() {
            word
        } else {
            errors.join("; ")
        };
        transcript.fails(why);
    }
    if let Some(usage) = usage {
        transcript.put(Passage::Used(usage));
    }
}
