//! The output of Codex: `exec --json`.

use serde::Deserialize;

use super::codex_thread::{Thread, Usage};
use super::json::{Object, Text};
use super::run_record::RunRecord;
use super::{Outcome, ProgramExit, ReadOutput, event};
use crate::failure::ProgramFailure;

#[derive(Debug, Default)]
pub(super) struct Reader {
    thread: Thread,
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
                    self.thread.summed_up(sums, record);
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

    fn usage_line(&mut self, line: &[u8], record: &mut RunRecord) {
        self.thread.usage_line(line, record);
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
