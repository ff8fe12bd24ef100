//! What a request says so far, whichever API it came by.

use serde_json::Value;

/// One message, as far as a script cares.
#[derive(Debug, PartialEq)]
pub(crate) enum Entry {
    /// The texts of a message in the user's role.
    User(Vec<String>),
    /// Anything that the model said or called.
    Assistant,
    /// What a tool gave back.
    ToolResult(String),
}

/// The messages of a request, in order.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    pub(crate) system: String,
    pub(crate) entries: Vec<Entry>,
}

/// The prompts of a session, and how far its last turn is.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Conversation {
    pub(crate) prompts: Vec<String>,
    /// The tool results after the last prompt; those of one answer's calls are one round.
    pub(crate) rounds: Vec<Vec<String>>,
}

impl Conversation {
    pub(crate) fn of(entries: Vec<Entry>) -> Self {
        let mut conversation = Self::default();
        let mut is_in_round = false;
        for entry in entries {
            match entry {
                Entry::User(texts) => {
                    let prompt = written_by_user(&texts);
                    // What the program adds by itself may stand between the results of a round.
                    if prompt.is_empty() {
                        continue;
                    }
                    conversation.prompts.push(prompt);
                    conversation.rounds.clear();
                    is_in_round = false;
                }
                Entry::Assistant => is_in_round = false,
                Entry::ToolResult(text) => {
                    let text = without_reminders(&text);
                    match conversation.rounds.last_mut() {
                        Some(round) if is_in_round => round.push(text),
                        _ => conversation.rounds.push(vec![text]),
                    }
                    is_in_round = true;
                }
            }
        }
        conversation
    }

    pub(crate) fn prompt(&self) -> &str {
        self.prompts.last().map_or("", String::as_str)
    }

    pub(crate) fn last_result(&self) -> &str {
        let round = self.rounds.last().and_then(|round| round.last());
        round.map_or("", String::as_str)
    }
}

/// How texts begin that programs add in the user's role by themselves.
const NOTES: [&str; 11] = [
    "<system-reminder",
    "<environment_context",
    "<user_instructions",
    "<turn_aborted",
    "<session_context",
    "<permissions",
    "<skills_instructions",
    "<recommended_plugins",
    "<hook_context",
    "<INSTRUCTIONS",
    "# AGENTS.md instructions",
];

fn written_by_user(texts: &[String]) -> String {
    let is_note = |text: &str| NOTES.iter().any(|note| text.trim_start().starts_with(note));
    let texts = texts.iter().map(String::as_str);
    let written: Vec<&str> = texts
        .filter(|text| !text.trim().is_empty() && !is_note(text))
        .collect();
    written.join("\n")
}

/// A tool result without what the program appended to it.
fn without_reminders(text: &str) -> String {
    const BEGIN: &str = "<system-reminder>";
    const END: &str = "</system-reminder>";
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let Some((_, behind)) = after.split_once(END) else {
            break;
        };
        kept.push_str(before.trim_end());
        rest = behind.trim_start();
    }
    kept + rest
}

/// The text of a content field in any of the APIs.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().map(text_of);
            let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
            texts.join("\n")
        }
        Value::Object(fields) => ["text", "content", "parts", "output"]
            .iter()
            .find_map(|name| fields.get(*name))
            .map_or_else(|| content.to_string(), text_of),
        other => other.to_string(),
    }
}

/// The elements of a field that holds a list; none when it holds none.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn user(text: &str) -> Entry {
        Entry::User(vec![text.to_owned()])
    }

    fn result(text: &str) -> Entry {
        Entry::ToolResult(text.to_owned())
    }

    #[test]
    fn a_round_is_what_the_calls_of_one_answer_gave_back() {
        let conversation = Conversation::of(vec![
            user("first"),
            Entry::Assistant,
            result("forgotten"),
            Entry::Assistant,
            user("second"),
            Entry::Assistant,
            result("a"),
            user("<system-reminder>do not forget</system-reminder>"),
            result("b"),
            Entry::Assistant,
            result("c\n<system-reminder>be\nkind</system-reminder>\n"),
        ]);
        assert_eq!(conversation.prompts, ["first", "second"]);
        assert_eq!(conversation.rounds, [vec!["a", "b"], vec!["c"]]);
        assert_eq!(conversation.prompt(), "second");
        assert_eq!(conversation.last_result(), "c");
    }

    #[test]
    fn what_a_program_adds_is_no_prompt() {
        let texts = [
            " <environment_context>",
            "",
            "Do it.",
            "# AGENTS.md instructions",
            "Now.",
        ];
        let texts = texts.map(str::to_owned).to_vec();
        let conversation = Conversation::of(vec![user("\n"), Entry::User(texts)]);
        assert_eq!(conversation.prompts, ["Do it.\nNow."]);
    }

    #[test]
    fn texts_are_found_in_the_content_of_every_api() {
        for (content, text) in [
            (json!(null), ""),
            (json!("a"), "a"),
            (
                json!([{"type": "text", "text": "a"}, {"text": ""}, "b"]),
                "a\nb",
            ),
            (json!({"parts": [{"text": "a"}]}), "a"),
            (json!({"output": "a"}), "a"),
            (json!({"error": 1}), r#"{"error":1}"#),
        ] {
            assert_eq!(text_of(&content), text);
        }
    }
}
