//! Gemini CLI.

use serde_json::Value;

use super::{Passage, Transcript, Usage, joined, text};

/// `None` for a line that is not understood.
pub(super) fn read(transcript: &mut Transcript, line: &Value) -> Option<()> {
    match (text(line, "/type"), text(line, "/role")) {
        ("init", _) => {
            let note = format!("Began with {}", text(line, "/model"));
            transcript.put(Passage::Noted(note));
        }
        ("message", "user") => {
            let told = text(line, "/content").to_owned();
            transcript.put(Passage::Told(told));
        }
        // Its pieces are never told as a whole.
        ("message", "assistant") => transcript.piece(text(line, "/content")),
        ("tool_use", _) => {
            let (id, name) = (text(line, "/tool_id"), text(line, "/tool_name"));
            transcript.calls(id, name, line.get("parameters").unwrap_or(&Value::Null));
        }
        ("tool_result", _) => {
            let has_failed = text(line, "/status") != "success";
            let answer = joined(
                line.get("output")
                    .or_else(|| line.pointer("/error/message")),
            );
            transcript.answered(text(line, "/tool_id"), answer, has_failed);
        }
        ("result", _) => result(transcript, line),
        _ => return None,
    }
    Some(())
}

fn result(transcript: &mut Transcript, line: &Value) {
    let pointers = ["/stats/input", "/stats/cached", ""];
    if let Some(mut usage) = Usage::read(line, pointers, &["/stats/output_tokens"]) {
        // Only the total has what the model thought.
        let count = |pointer| line.pointer(pointer).and_then(Value::as_u64);
        let all = count("/stats/total_tokens").zip(count("/stats/input_tokens"));
        let output = all.map_or(0, |(all, input)| all.saturating_sub(input));
        usage.tokens.output = usage.tokens.output.max(output);
        transcript.put(Passage::Used(usage));
    }
    if text(line, "/status") != "success" {
        let why = text(line, "/error/message").to_owned();
        transcript.put(Passage::Failed(why));
    }
}
