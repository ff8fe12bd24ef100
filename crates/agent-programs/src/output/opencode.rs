//! The output of opencode: `run --format json`.

use serde::Deserialize;

use super::json::{Count, Dollars, Flag, Object, Text};
use super::run_record::{RunRecord, Seen};
use super::{Outcome, ProgramExit, ReadOutput, event};
use crate::failure::{FailureClass, ProgramFailure};
use crate::failure_text::{classify, of_status};
use crate::usage::TokenUsage;

/// What the last step said. There is no last event: the end is a step that
/// stops, after which the program ends well.
#[derive(Debug, Default)]
pub(super) struct Reader {
    steps: Seen,
    has_stopped: bool,
    failure: Option<ProgramFailure>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Line {
    r#type: Text,
    #[serde(rename = "sessionID")]
    session_id: Text,
    part: Object<Part>,
    error: Object<Error>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Part {
    text: Text,
    /// Whether the program wrote the text, not the model.
    synthetic: Flag,
    reason: Text,
    tokens: Object<Tokens>,
    cost: Dollars,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input: Count,
    output: Count,
    reasoning: Count,
    cache: Object<Cache>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cache {
    read: Count,
    write: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Error {
    name: Text,
    data: Object<ErrorData>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ErrorData {
    message: Text,
    status_code: Count,
}

impl Tokens {
    fn tokens(&self) -> Option<TokenUsage> {
        let cache = self.cache.0.as_ref();
        let output = self.output.0?;
        Some(TokenUsage {
            input: self.input.0?,
            cached_read: cache.and_then(|cache| cache.read.0).unwrap_or(0),
            cached_write: cache.and_then(|cache| cache.write.0).unwrap_or(0),
            output: output.saturating_add(self.reasoning.0.unwrap_or(0)),
        })
    }
}

impl ReadOutput for Reader {
    fn line(&mut self, bytes: &[u8], record: &mut RunRecord) {
        let Some(line) = event::<Line>(bytes) else {
            return;
        };
        record.session_started(line.session_id.0.as_deref(), None);
        let part = line.part.0.unwrap_or_default();
        match line.r#type.0.as_deref() {
            Some("step_start") => self.has_stopped = false,
            Some("text") if part.synthetic.0 != Some(true) => {
                record.said(part.text.0.as_deref().unwrap_or(""));
            }
            // A text is no progress: it may be the summary by which the program
            // tries to make a conversation fit, over and over.
            Some("tool_use") => record.progressed(),
            Some("step_finish") if self.steps.is_new(bytes) => self.step_finished(&part, record),
            Some("error") => self.failed(&line.error.0.unwrap_or_default(), record),
            _ => {}
        }
    }

    fn outcome(&mut self, exit: ProgramExit, _record: &mut RunRecord) -> Option<Outcome> {
        if self.has_stopped && exit.code == Some(0) {
            return Some(Outcome::Succeeded);
        }
        self.failure.take().map(Outcome::Failed)
    }
}

impl Reader {
    fn step_finished(&mut self, part: &Part, record: &mut RunRecord) {
        let tokens = part.tokens.0.as_ref().and_then(Tokens::tokens);
        if tokens.is_some() || part.cost.0.is_some() {
            record.count(None, tokens, part.cost.0);
        }
        self.has_stopped = part.reason.0.as_deref() == Some("stop");
        if part.reason.0.as_deref() == Some("tool-calls") {
            self.failure = None;
        }
    }

    fn failed(&mut self, error: &Error, record: &mut RunRecord) {
        self.has_stopped = false;
        let data = error.data.0.as_ref();
        let name = error
            .name
            .0
            .as_deref()
            .unwrap_or("the program told no reason");
        let text = data
            .and_then(|data| data.message.0.as_deref())
            .unwrap_or(name);
        let overflows = name == "ContextOverflowError";
        let class = if overflows {
            FailureClass::ContextTooLong
        } else {
            let status = data.and_then(|data| data.status_code.0);
            let class = classify(text).or_else(|| status.and_then(of_status));
            class.unwrap_or(FailureClass::Other)
        };
        let failure = ProgramFailure::new(class, text);
        if overflows {
            // It goes on by itself, and may do so without end.
            record.retrying(failure.clone(), None, None);
        }
        self.failure = Some(failure);
    }
}
