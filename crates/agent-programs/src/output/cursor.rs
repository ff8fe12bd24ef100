//! The output of Cursor's command line: `--output-format stream-json`.
//!
//! It was never run here. Its documentation describes events much like those of
//! Claude Code, without usage.

use serde::Deserialize;

use super::json::{Flag, List, Object, Text};
use super::run_record::RunRecord;
use super::{Outcome, ProgramExit, ReadOutput, event};
use crate::failure::ProgramFailure;

#[derive(Debug, Default)]
pub(super) struct Reader {
    outcome: Option<Outcome>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Line {
    r#type: Text,
    subtype: Text,
    session_id: Text,
    model: Text,
    message: Object<Message>,
    is_error: Flag,
    result: Text,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message {
    content: List<Object<Content>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Content {
    text: Text,
}

impl ReadOutput for Reader {
    fn line(&mut self, bytes: &[u8], record: &mut RunRecord) {
        let Some(line) = event::<Line>(bytes) else {
            return;
        };
        match (line.r#type.0.as_deref(), line.subtype.0.as_deref()) {
            (Some("system"), Some("init")) => {
                let id = line.session_id.0.as_deref();
                record.session_started(id, line.model.0.as_deref());
            }
            (Some("assistant"), _) => {
                let message = line.message.0.unwrap_or_default();
                let parts = message.content.0.iter();
                let mut texts = parts.filter_map(|part| part.0.as_ref()?.text.0.as_deref());
                if let Some(last) = texts.next_back() {
                    record.said(last);
                }
            }
            (Some("result"), _) => {
                let text = line.result.0.unwrap_or_default();
                self.outcome = Some(if line.is_error.0 == Some(false) {
                    Outcome::Succeeded
                } else {
                    Outcome::Failed(ProgramFailure::from_text(&text))
                });
                if !text.is_empty() {
                    record.said(&text);
                }
            }
            _ => {}
        }
    }

    fn outcome(&mut self, _exit: ProgramExit, _record: &mut RunRecord) -> Option<Outcome> {
        self.outcome.take()
    }
}
