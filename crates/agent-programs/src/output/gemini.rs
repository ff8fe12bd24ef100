//! The output of Gemini CLI: `-o stream-json`.

use serde::Deserialize;

use super::json::{Count, Named, Object, Text};
use super::run_record::{ByModel, ModelSum, RunRecord};
use super::{Outcome, ProgramExit, ReadOutput, event};
use crate::failure::{FailureClass, ProgramFailure};
use crate::failure_text::classify;
use crate::usage::TokenUsage;

#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The answer comes in pieces; what came before a tool call is not of it.
    answer_goes_on: bool,
    sums: ByModel,
    outcome: Option<Outcome>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Line {
    r#type: Text,
    session_id: Text,
    model: Text,
    role: Text,
    content: Text,
    status: Text,
    error: Object<Error>,
    stats: Object<Stats>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Error {
    message: Text,
}

/// Counts of the run, of all models or of one.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Stats {
    total_tokens: Count,
    input_tokens: Count,
    output_tokens: Count,
    cached: Count,
    input: Count,
    models: Named<Object<Box<Stats>>>,
}

impl Stats {
    /// `output_tokens` lacks what the model thought; only the total has it.
    fn tokens(&self) -> Option<TokenUsage> {
        let all_input = self.input_tokens.0?;
        let cached_read = self.cached.0.unwrap_or(0);
        let output = self.output_tokens.0.unwrap_or(0);
        let with_thoughts = self.total_tokens.0.map(|all| all.saturating_sub(all_input));
        Some(TokenUsage {
            input: self
                .input
                .0
                .unwrap_or(all_input.saturating_sub(cached_read)),
            cached_read,
            cached_write: 0,
            output: with_thoughts.unwrap_or(0).max(output),
        })
    }
}

impl ReadOutput for Reader {
    fn line(&mut self, bytes: &[u8], record: &mut RunRecord) {
        let Some(line) = event::<Line>(bytes) else {
            return;
        };
        match line.r#type.0.as_deref() {
            Some("init") => {
                let id = line.session_id.0.as_deref();
                record.session_started(id, line.model.0.as_deref());
            }
            Some("message") if line.role.0.as_deref() == Some("assistant") => {
                let text = line.content.0.unwrap_or_default();
                record.progressed();
                if self.answer_goes_on {
                    record.said_more(&text);
                } else {
                    record.said(&text);
                }
                self.answer_goes_on = true;
            }
            Some("tool_use" | "tool_result") => {
                self.answer_goes_on = false;
                record.progressed();
            }
            Some("result") => self.result(line, record),
            _ => {}
        }
    }

    /// It tells of its attempts there alone.
    fn stderr_line(&mut self, line: &str, record: &mut RunRecord) {
        let Some(rest) = line.trim_start().strip_prefix("Attempt ") else {
            return;
        };
        if let Some((attempt, reason)) = rest.split_once(" failed") {
            let class = classify(reason).unwrap_or(FailureClass::Other);
            let reason = reason.trim_start_matches([':', '.', ' ']);
            let failure = ProgramFailure::new(class, reason);
            record.retrying(failure, attempt.parse().ok(), None);
        }
    }

    fn outcome(&mut self, _exit: ProgramExit, _record: &mut RunRecord) -> Option<Outcome> {
        self.outcome.take()
    }
}

impl Reader {
    fn result(&mut self, line: Line, record: &mut RunRecord) {
        if let Some(stats) = &line.stats.0 {
            self.count(stats, record);
        }
        self.outcome = Some(if line.status.0.as_deref() == Some("success") {
            Outcome::Succeeded
        } else {
            let error = line.error.0.unwrap_or_default().message.0;
            let text = error.as_deref().unwrap_or("the program told no reason");
            Outcome::Failed(ProgramFailure::from_text(text))
        });
    }

    /// The figures are those of the run, so another result replaces them.
    fn count(&mut self, stats: &Stats, record: &mut RunRecord) {
        let models = stats.models.0.iter().flatten();
        let mut sums: ByModel = models
            .filter_map(|(name, stats)| {
                let tokens = stats.0.as_ref()?.tokens()?;
                Some((Some(name.clone()), ModelSum::of(tokens)))
            })
            .collect();
        if sums.is_empty()
            && let Some(tokens) = stats.tokens()
        {
            sums.insert(None, ModelSum::of(tokens));
        }
        for (model, told) in sums {
            let sum = self.sums.entry(model).or_default();
            sum.tokens = sum.tokens.max(told.tokens);
        }
        if !self.sums.is_empty() {
            record.count_up_to(&self.sums, None);
        }
    }
}
