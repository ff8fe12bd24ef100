//! What a thread of Codex used: its file tells it after each call of the model, and the
//! last line of the output as a sum over the thread.
//!
//! Both tell of the same calls, in any order, so the larger of their sums is counted.
//! The sum over the thread leaves out the call at which an earlier run was killed, and
//! is no sum of the run where such a run was not counted. The file itself tells from
//! where it is to be counted.

use serde::Deserialize;

use super::event;
use super::json::{Count, Object, Text};
use super::run_record::{ByModel, ModelSum, RunRecord, Seen};
use crate::usage::TokenUsage;

/// What is known of the thread of a run.
#[derive(Debug, Default)]
pub(super) struct Thread {
    model: Option<String>,
    records: Seen,
    /// What the calls of the run used, by the file.
    recorded: Option<TokenUsage>,
    /// The sum over the thread when the run began, by the file.
    began_at: Option<TokenUsage>,
}

/// A line of the file.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Line {
    r#type: Text,
    payload: Object<Payload>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Payload {
    r#type: Text,
    thread_id: Text,
    model: Text,
    usage: Object<Usage>,
    info: Object<Info>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Info {
    total_token_usage: Object<Usage>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    input_tokens: Count,
    cached_input_tokens: Count,
    cache_write_input_tokens: Count,
    output_tokens: Count,
}

impl Usage {
    /// `input_tokens` holds what caches held, and `output_tokens` what the model
    /// thought.
    pub(super) fn tokens(&self) -> Option<TokenUsage> {
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

impl Thread {
    /// A line of the file that this run wrote.
    pub(super) fn usage_line(&mut self, bytes: &[u8], record: &mut RunRecord) {
        let Some(line) = event::<Line>(bytes) else {
            return;
        };
        let payload = line.payload.0.unwrap_or_default();
        match (line.r#type.0.as_deref(), payload.r#type.0.as_deref()) {
            (Some("turn_context"), _) => self.model = payload.model.0.or(self.model.take()),
            (Some("token_usage_record"), _) if self.records.is_new(bytes) => {
                self.called(&payload, record);
            }
            (Some("event_msg"), Some("token_count")) => {
                let info = payload.info.0.unwrap_or_default();
                let sums = info.total_token_usage.0;
                if let Some(sums) = sums.as_ref().and_then(Usage::tokens) {
                    self.counted(sums, record);
                }
            }
            _ => {}
        }
    }

    /// A call of the model. Lines of another thread come with what was copied from it.
    fn called(&mut self, payload: &Payload, record: &mut RunRecord) {
        let thread = payload.thread_id.0.as_deref();
        let session = record.session.as_ref().map(|id| id.as_str());
        let is_of_run = session.is_none() || session == thread;
        let Some(used) = payload.usage.0.as_ref().and_then(Usage::tokens) else {
            return;
        };
        if is_of_run {
            let recorded = self.recorded.unwrap_or_default().saturating_add(used);
            self.recorded = Some(recorded);
            // The sum of the thread has this call only once the file says so.
            let sums = &mut record.session_sums.tokens;
            *sums = sums.or(record.before.tokens);
            self.count(recorded, record);
        }
    }

    /// The sum over the thread, as it would be told if the run ended now. It may lag
    /// behind the calls, and is never ahead of them.
    fn counted(&mut self, sums: TokenUsage, record: &mut RunRecord) {
        record.session_sums.tokens = Some(sums);
        if let Some(recorded) = self.recorded {
            let began_at = sums.saturating_sub(recorded);
            self.began_at = Some(self.began_at.unwrap_or_default().max(began_at));
        }
    }

    /// The output told the sum over the thread. It never falls, so a smaller one is no
    /// sum.
    pub(super) fn summed_up(&mut self, sums: TokenUsage, record: &mut RunRecord) {
        let known = record.session_sums.tokens.or(record.before.tokens);
        let began_at = [self.began_at, record.before.tokens].into_iter().flatten();
        match began_at.reduce(TokenUsage::max) {
            Some(began_at) => self.count(sums.saturating_sub(began_at), record),
            None => self.began_at = Some(sums),
        }
        record.session_sums.tokens = Some(sums.max(known.unwrap_or_default()));
    }

    /// Counts what is missing to what the run used in all.
    fn count(&self, all: TokenUsage, record: &mut RunRecord) {
        let sums = ByModel::from([(self.model.clone(), ModelSum::of(all))]);
        record.count_up_to(&sums, None);
    }
}
