//! The output of pi: `-p --mode json`.

use serde::Deserialize;

use super::json::{Count, Dollars, Flag, List, Object, Text};
use super::run_record::{RunRecord, Seen};
use super::{Outcome, ProgramExit, ReadOutput, event};
use crate::failure::{FailureClass, ProgramFailure};
use crate::usage::TokenUsage;

#[derive(Debug, Default)]
pub(super) struct Reader {
    messages: Seen,
    /// How the last message of the model ended.
    last: Option<Outcome>,
    has_settled: bool,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Line {
    r#type: Text,
    id: Text,
    message: Object<Message>,
    attempt: Count,
    delay_ms: Count,
    error_message: Text,
    aborted: Flag,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Message {
    role: Text,
    model: Text,
    content: List<Object<Content>>,
    usage: Object<Usage>,
    stop_reason: Text,
    error_message: Text,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Content {
    r#type: Text,
    text: Text,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Usage {
    input: Count,
    output: Count,
    cache_read: Count,
    cache_write: Count,
    cost: Object<Cost>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cost {
    total: Dollars,
}

impl Usage {
    fn tokens(&self) -> Option<TokenUsage> {
        Some(TokenUsage {
            input: self.input.0?,
            cached_read: self.cache_read.0.unwrap_or(0),
            cached_write: self.cache_write.0.unwrap_or(0),
            output: self.output.0?,
        })
    }
}

impl ReadOutput for Reader {
    fn line(&mut self, bytes: &[u8], record: &mut RunRecord) {
        let Some(line) = event::<Line>(bytes) else {
            return;
        };
        match line.r#type.0.as_deref() {
            Some("session") => record.session_started(line.id.0.as_deref(), None),
            Some("agent_start") => self.has_settled = false,
            // The same usage stands again in the events of the turn and the agent.
            Some("message_end") => {
                let message = line.message.0.unwrap_or_default();
                if message.role.0.as_deref() == Some("assistant") && self.messages.is_new(bytes) {
                    self.message_ended(&message, record);
                }
            }
            Some("auto_retry_start") => {
                let text = line.error_message.0.unwrap_or_default();
                let failure = ProgramFailure::from_text(&text);
                record.retrying(failure, line.attempt.0, line.delay_ms.0);
            }
            Some("agent_settled") => {
                self.has_settled = true;
                if line.aborted.0 == Some(true) {
                    let failure = ProgramFailure::new(FailureClass::Interrupted, "aborted");
                    self.last = Some(Outcome::Failed(failure));
                }
            }
            _ => {}
        }
    }

    fn outcome(&mut self, _exit: ProgramExit, _record: &mut RunRecord) -> Option<Outcome> {
        match self.last.take() {
            Some(Outcome::Succeeded) => self.has_settled.then_some(Outcome::Succeeded),
            failed => failed,
        }
    }
}

impl Reader {
    fn message_ended(&mut self, message: &Message, record: &mut RunRecord) {
        if let Some(usage) = &message.usage.0
            && let Some(tokens) = usage.tokens()
        {
            let cost = usage.cost.0.as_ref().and_then(|cost| cost.total.0);
            record.count(message.model.0.as_deref(), Some(tokens), cost);
        }
        let parts = message.content.0.iter().filter_map(|part| part.0.as_ref());
        let texts = parts.filter(|part| part.r#type.0.as_deref() == Some("text"));
        for (n, text) in texts.filter_map(|part| part.text.0.as_deref()).enumerate() {
            if n == 0 {
                record.said(text);
            } else {
                record.said_more(text);
            }
        }
        self.last = match message.stop_reason.0.as_deref() {
            Some("stop") => Some(Outcome::Succeeded),
            Some("toolUse") => None,
            reason => Some(Outcome::Failed(failure(reason, message))),
        };
        if !matches!(self.last, Some(Outcome::Failed(_))) {
            record.progressed();
        }
    }
}

fn failure(stop_reason: Option<&str>, message: &Message) -> ProgramFailure {
    let reason = stop_reason.unwrap_or("no reason");
    match (reason, message.error_message.0.as_deref()) {
        ("aborted", text) => {
            ProgramFailure::new(FailureClass::Interrupted, text.unwrap_or("aborted"))
        }
        (_, Some(text)) => ProgramFailure::from_text(text),
        (reason, None) => ProgramFailure::new(
            FailureClass::Other,
            &format!("the model stopped with {reason}"),
        ),
    }
}
