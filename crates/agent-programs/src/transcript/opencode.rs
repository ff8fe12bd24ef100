//! opencode.

use serde_json::Value;

use super::{Passage, Transcript, Usage, joined, text};

/// `None` for a line that is not understood.
pub(super) fn read(transcript: &mut Transcript, line: &Value) -> Option<()> {
    match text(line, "/type") {
        "step_start" => {}
        "text" => transcript.says(text(line, "/part/text")),
        "reasoning" => transcript.thinks(text(line, "/part/text")),
        "tool_use" => {
            let (id, tool) = (text(line, "/part/callID"), text(line, "/part/tool"));
            let state = line.pointer("/part/state")?;
            transcript.calls(id, tool, state.get("input").unwrap_or(&Value::Null));
            let has_failed = text(state, "/status") == "error"
                || matches!(state.pointer("/metadata/exit").and_then(Value::as_i64), Some(code) if code != 0);
            let answer = joined(state.get("output").or_else(|| state.get("error")));
            transcript.answered(id, answer, has_failed);
        }
        "step_finish" => {
            let pointers = [
                "/part/tokens/input",
                "/part/tokens/cache/read",
                "/part/tokens/cache/write",
            ];
            let output = ["/part/tokens/output", "/part/tokens/reasoning"];
            let usage = Usage::read(line, pointers, &output)?;
            let usage = usage.costing(line.pointer("/part/cost"));
            transcript.put(Passage::Used(usage));
        }
        "error" => {
            let message = text(line, "/error/data/message");
            let why = if message.is_empty() {
                text(line, "/error/name")
            } else {
                message
            };
            transcript.put(Passage::Failed(why.to_owned()));
        }
        _ => return None,
    }
    Some(())
}
