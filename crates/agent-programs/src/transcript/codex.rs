//! Codex.

use serde_json::{Value, json};

use super::{Passage, Transcript, Usage, text};

/// `None` for a line that is not understood.
pub(super) fn read(transcript: &mut Transcript, line: &Value) -> Option<()> {
    match text(line, "/type") {
        "thread.started" | "turn.started" => {}
        "item.started" | "item.completed" => return item(transcript, line.get("item")?),
        "error" => {
            let message = text(line, "/message").to_owned();
            transcript.put(if message.starts_with("Reconnecting") {
                Passage::Noted(message)
            } else {
                Passage::Failed(message)
            });
        }
        "turn.completed" => {
            if let Some(usage) = usage(line) {
                transcript.put(Passage::Used(usage));
            }
        }
        "turn.failed" => {
            let message = text(line, "/error/message").to_owned();
            transcript.put(Passage::Failed(message));
        }
        _ => return None,
    }
    Some(())
}

fn item(transcript: &mut Transcript, item: &Value) -> Option<()> {
    match text(item, "/type") {
        "agent_message" => transcript.says(text(item, "/text")),
        "reasoning" => transcript.thinks(text(item, "/text")),
        // A warning.
        "error" => {
            let message = text(item, "/message").to_owned();
            transcript.put(Passage::Noted(message));
        }
        "command_execution" => {
            let id = text(item, "/id");
            let input = json!({ "command": text(item, "/command") });
            transcript.calls(id, "exec_command", &input);
            if let "completed" | "failed" = text(item, "/status") {
                let code = item.get("exit_code").and_then(Value::as_i64);
                let output = text(item, "/aggregated_output").to_owned();
                transcript.answered(id, output, code != Some(0));
            }
        }
        _ => return None,
    }
    Some(())
}

/// Its input has what was cached in it; it counts the whole thread.
fn usage(line: &Value) -> Option<Usage> {
    let pointers = [
        "/usage/input_tokens",
        "/usage/cached_input_tokens",
        "/usage/cache_write_input_tokens",
    ];
    let mut usage = Usage::read(line, pointers, &["/usage/output_tokens"])?;
    let tokens = &mut usage.tokens;
    let cached = tokens.cached_read.saturating_add(tokens.cached_write);
    tokens.input = tokens.input.saturating_sub(cached);
    Some(usage)
}
