//! The output of Claude Code: `--output-format stream-json`.

use super::claude_calls::{Calls, Figures};
use super::claude_events::{Line, Models, figures, tokens_of};
use super::run_record::{ByModel, RunRecord, Seen};
use super::{Outcome, ProgramExit, ReadOutput, event};
use crate::failure::{FailureClass, ProgramFailure};
use crate::failure_text::{classify, of_status};
use crate::reset_time::RetryHint;
use crate::usage::MicroCents;

/// The model of messages that no model wrote.
const SYNTHETIC: &str = "<synthetic>";

#[derive(Debug, Default)]
pub(super) struct Reader {
    calls: Calls,
    results: Seen,
    /// Sums of all results: each tells what came since the one before.
    sums: ByModel,
    sums_cost: Option<MicroCents>,
    /// `error` of the last message.
    message_error: Option<String>,
    model: Option<String>,
    /// When the limit resets that refused the last call.
    reset: Option<RetryHint>,
    outcome: Option<Outcome>,
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
                self.model = line.model.0;
            }
            (Some("system"), Some("api_retry")) => {
                let failure = retry_failure(&line);
                record.retrying(failure, line.attempt.0, line.retry_delay_ms.0);
            }
            (Some("assistant"), _) => self.message(line, record),
            (Some("stream_event"), _) => self.stream_event(line, record),
            (Some("rate_limit_event"), _) => self.rate_limit(line),
            (Some("result"), _) if self.results.is_new(bytes) => self.result(&line, record),
            _ => {}
        }
    }

    fn outcome(&mut self, _exit: ProgramExit, record: &mut RunRecord) -> Option<Outcome> {
        if self.outcome.is_none() {
            self.calls.count_open(record);
        }
        self.outcome.take()
    }
}

impl Reader {
    fn message(&mut self, line: Line, record: &mut RunRecord) {
        let Some(message) = line.message.0 else {
            return;
        };
        self.message_error = line.error.0;
        if message.model.0.as_deref() == Some(SYNTHETIC) {
            return;
        }
        record.progressed();
        let parts = message.content.0.iter();
        let mut texts = parts.filter_map(|part| part.0.as_ref()?.text.0.as_deref());
        // What an agent within the agent says is not the answer.
        if line.parent_tool_use_id.0.is_none()
            && let Some(last) = texts.next_back()
        {
            record.said(last);
        }
        if let Some(id) = &message.id.0 {
            let figures = figures(&message.usage);
            self.calls.message(id, message.model.0, figures, record);
        }
    }

    fn stream_event(&mut self, line: Line, record: &mut RunRecord) {
        let Some(event) = line.event.0 else {
            return;
        };
        let parent = line.parent_tool_use_id.0;
        match (event.r#type.0.as_deref(), event.message.0) {
            (Some("message_start"), Some(message)) => {
                if let Some(id) = &message.id.0 {
                    let figures = figures(&message.usage);
                    self.calls
                        .open(id, parent, message.model.0, figures, record);
                }
            }
            (Some("message_delta"), _) => {
                let id = line.api_message_id.0.as_deref();
                let figures = figures(&event.usage);
                self.calls.close(id, parent.as_deref(), figures, record);
            }
            _ => {}
        }
    }

    fn rate_limit(&mut self, line: Line) {
        let limit = line.rate_limit_info.0.unwrap_or_default();
        let refuses = matches!(limit.status.0.as_deref(), Some("rejected" | "denied"));
        let resets_at = limit.resets_at.0.filter(|_| refuses);
        self.reset = resets_at.map(|unix_seconds| RetryHint::At { unix_seconds });
    }

    fn result(&mut self, line: &Line, record: &mut RunRecord) {
        self.count_result(line, record);
        record.num_turns = line.num_turns.0.or(record.num_turns);
        if let Some(result) = line.result.0.as_deref().filter(|text| !text.is_empty()) {
            record.said(result);
        }
        // Some versions mark only the subtype when they reach a limit, and others
        // call the subtype of a failure a success.
        let subtype = line.subtype.0.as_deref().unwrap_or("");
        let is_good = line.is_error.0 == Some(false) && !subtype.starts_with("error");
        self.outcome = Some(if is_good {
            Outcome::Succeeded
        } else {
            Outcome::Failed(self.failure(line))
        });
    }

    fn count_result(&mut self, line: &Line, record: &mut RunRecord) {
        self.calls.summed_up();
        if !self.add_models(&line.model_usage_since_last_result) {
            let usage = figures(&line.usage);
            // Older versions tell no more than the sums of all models. These are
            // of the run, and not of the session, if they say the same.
            let of_models = tokens_of(&line.model_usage);
            if of_models.is_none()
                || of_models != usage.tokens()
                || !self.add_models(&line.model_usage)
            {
                self.add(self.model.clone(), usage, None);
            }
        }
        let cost = self.cost_of_run(line.total_cost_usd.0, record);
        if !self.sums.is_empty() || cost.is_some() {
            record.count_up_to(&self.sums, cost);
        }
    }

    /// True when there was a model.
    fn add_models(&mut self, models: &Models) -> bool {
        let mut any = false;
        for (name, usage) in models.0.iter().flatten() {
            let Some(usage) = &usage.0 else { continue };
            any = true;
            if let Some(cost) = usage.cost_usd.0 {
                let sum = self.sums_cost.unwrap_or_default();
                self.sums_cost = Some(sum.saturating_add(cost));
            }
            self.add(Some(name.clone()), usage.figures(), usage.cost_usd.0);
        }
        any
    }

    fn add(&mut self, model: Option<String>, figures: Figures, cost: Option<MicroCents>) {
        const MAX_MODELS: usize = 64;
        let Some(tokens) = figures.tokens() else {
            return;
        };
        let is_full = self.sums.len() >= MAX_MODELS && !self.sums.contains_key(&model);
        let sum = self.sums.entry(model.filter(|_| !is_full)).or_default();
        sum.add(tokens, cost);
    }

    /// The total is that of the session, and holds what earlier runs cost that
    /// were stopped before they could tell it. One that is smaller than before
    /// was begun anew, and one of nothing was not counted at all. Where it lacks
    /// what the run itself cost, it is not that of the session.
    fn cost_of_run(&self, total: Option<MicroCents>, record: &mut RunRecord) -> Option<MicroCents> {
        /// All of them were rounded.
        const TOLERANCE: MicroCents = MicroCents(2);
        let before = record.before.cost;
        let is_counted = total.is_some_and(|total| total > MicroCents::ZERO);
        record.session_sums.cost = if is_counted { total } else { before.or(total) };
        let Some((total, before)) = total.zip(before) else {
            return self.sums_cost;
        };
        let more = if total.saturating_add(TOLERANCE) < before {
            total
        } else {
            total.saturating_sub(before)
        };
        let of_run = self.sums_cost.unwrap_or_default();
        Some(if of_run > more.saturating_add(TOLERANCE) {
            of_run
        } else {
            more
        })
    }

    fn failure(&mut self, line: &Line) -> ProgramFailure {
        let mut texts: Vec<&str> = line
            .errors
            .0
            .iter()
            .filter_map(|e| e.0.as_deref())
            .collect();
        texts.extend(line.result.0.as_deref());
        let text = match (texts.is_empty(), line.terminal_reason.0.as_deref()) {
            (false, _) => texts.join("; "),
            (true, reason) => reason.unwrap_or("the program told no reason").to_owned(),
        };
        let class = self.failure_class(line, &text);
        let mut failure = ProgramFailure::new(class, &text);
        if class == FailureClass::ProviderLimit {
            failure.retry_after = self.reset.take().or(failure.retry_after);
        }
        failure
    }

    fn failure_class(&self, line: &Line, text: &str) -> FailureClass {
        let subtype = line.subtype.0.as_deref().unwrap_or("");
        let reason = line.terminal_reason.0.as_deref().unwrap_or("");
        match (subtype, reason) {
            ("error_max_turns", _) => return FailureClass::MaxTurns,
            ("error_max_budget_usd", _) => return FailureClass::BudgetOfProgram,
            (_, "prompt_too_long") => return FailureClass::ContextTooLong,
            (_, reason) if reason.starts_with("aborted") => return FailureClass::Interrupted,
            _ => {}
        }
        let error = self.message_error.as_deref().and_then(of_error);
        error
            .or_else(|| line.api_error_status.0.and_then(of_status))
            .or_else(|| line.api_error.0.as_deref().and_then(classify))
            .or_else(|| classify(text))
            .unwrap_or(FailureClass::Other)
    }
}

/// What the word in `error` means by itself; `server_error` stands for anything
/// between no connection and no capacity.
fn of_error(error: &str) -> Option<FailureClass> {
    match error {
        "authentication_failed" => Some(FailureClass::AuthRequired),
        "billing_error" | "rate_limit" => Some(FailureClass::ProviderLimit),
        "overloaded" => Some(FailureClass::Overloaded),
        _ => None,
    }
}

fn retry_failure(line: &Line) -> ProgramFailure {
    let error = line.error.0.as_deref().unwrap_or("unknown");
    let status = line.error_status.0;
    let class = of_error(error).or_else(|| status.and_then(of_status));
    let (class, text) = match (class, status) {
        (Some(class), Some(status)) => (class, format!("{error} (status {status})")),
        (Some(class), None) => (class, error.to_owned()),
        (None, Some(status)) => (FailureClass::Other, format!("{error} (status {status})")),
        // Without a status there was no answer.
        (None, None) => (
            FailureClass::Unreachable,
            "no answer of the provider".to_owned(),
        ),
    };
    ProgramFailure::new(class, &text)
}
