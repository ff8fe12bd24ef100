//! The output of Codex: `exec --json`.

use serde::Deserialize;

use super::json::{Count, Object, Text};
use super::run_record::RunRecord;
use super::{Outcome, ProgramExit, ReadOutput, event};
use crate::failure::ProgramFailure;
use crate::usage::TokenUsage;

#[derive(Debug, Default)]
pub(super) struct Reader {
    outcome: Option<Outcome>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Line {
    r#type: Text,
    thread_id: Text,
    message: Text,
    item: Object<Item>,
    usage: Object<Usage>,
    error: Object<Error>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
    r#type: Text,
    text: Text,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Error {
    message: Text,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Usage {
    input_tokens: Count,
    cached_input_tokens: Count,
    cache_write_input_tokens: Count,
    output_tokens: Count,
}

impl Usage {
    /// `input_tokens` holds what caches held, and `output_tokens` what the model
    /// thought.
    fn tokens(&self) -> Option<TokenUsage> {
        let cached_read = self.cached_input_tokens.0.unwrap_or(0);
        let cached_write = self.cache_write_input_tokens.0.unwrap_or(0);
        let input = self.input_tokens.0?;
        Some(TokenUsage {
            input: input
                .saturating_sub(cached_read)
                .saturating_sub(cached_write),
            cached_read,
            cached_write,
            output: self.output_tokens.0?,
        })
    }
}

impl ReadOutput for Reader {
    fn line(&mut self, bytes: &[u8], record: &mut RunRecord) {
        let Some(line) = event::<Line>(bytes) else {
            return;
        };
        match line.r#type.0.as_deref() {
            Some("thread.started") => record.session_started(line.thread_id.0.as_deref(), None),
            Some("turn.started") => self.outcome = None,
            Some("item.started" | "item.completed") => {
                if let Some(item) = line.item.0 {
                    item_came(&item, record);
                }
            }
            Some("error") => failed(line.message.0.as_deref().unwrap_or(""), record),
            Some("turn.completed") => {
                if let Some(sums) = line.usage.0.as_ref().and_then(Usage::tokens) {
                    count_thread(sums, record);
                }
                self.outcome = Some(Outcome::Succeeded);
            }
            Some("turn.failed") => {
                let error = line.error.0.unwrap_or_default().message.0;
                let text = error.as_deref().unwrap_or("the program told no reason");
                self.outcome = Some(Outcome::Failed(ProgramFailure::from_text(text)));
            }
            _ => {}
        }
    }

    fn outcome(&mut self, _exit: ProgramExit, _record: &mut RunRecord) -> Option<Outcome> {
        self.outcome.take()
    }
}

fn item_came(item: &Item, record: &mut RunRecord) {
    match (item.r#type.0.as_deref(), &item.text.0) {
        // A warning, such as that the model is not known.
        (Some("error"), _) => return,
        (Some("agent_message"), Some(text)) => record.said(text),
        _ => {}
    }
    record.progressed();
}

fn failed(message: &str, record: &mut RunRecord) {
    match message.strip_prefix("Reconnecting...") {
        Some(rest) => {
            let (attempt, _) = rest.trim_start().split_once('/').unwrap_or_default();
            let reason = rest.split_once('(').map_or(message, |(_, reason)| reason);
            let failure = ProgramFailure::from_text(reason.trim_end_matches(')'));
            record.retrying(failure, attempt.parse().ok(), None);
        }
        None => record.trouble = Some(ProgramFailure::from_text(message)),
    }
}

/// The figures are sums over the thread. They never fall, so a smaller one is no
/// sum.
fn count_thread(sums: TokenUsage, record: &mut RunRecord) {
    let known = record.session_sums.tokens.or(record.before.tokens);
    if let Some(known) = known {
        record.count(None, Some(sums.saturating_sub(known)), None);
    }
    record.session_sums.tokens = Some(sums.max(known.unwrap_or_default()));
}
