//! What a run has told so far.

use std::collections::BTreeMap;

use crate::event::ProgramEvent;
use crate::failure::ProgramFailure;
use crate::session_id::SessionId;
use crate::text::{first_bytes, one_line};
use crate::usage::{MicroCents, TokenUsage, UsageBaseline};

/// What each model used; `None` where the program does not name it.
pub(crate) type ByModel = BTreeMap<Option<String>, ModelSum>;

/// What a model used.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct ModelSum {
    pub(crate) tokens: TokenUsage,
    /// As far as the program tells it of each model.
    pub(crate) cost: MicroCents,
}

impl ModelSum {
    pub(crate) fn of(tokens: TokenUsage) -> Self {
        Self {
            tokens,
            cost: MicroCents::ZERO,
        }
    }

    pub(crate) fn add(&mut self, tokens: TokenUsage, cost: Option<MicroCents>) {
        self.tokens = self.tokens.saturating_add(tokens);
        self.cost = self.cost.saturating_add(cost.unwrap_or_default());
    }
}

/// What a run has told so far, and the events that nobody has taken yet.
#[derive(Debug)]
pub(crate) struct RunRecord {
    pub(crate) events: Vec<ProgramEvent>,
    pub(crate) session: Option<SessionId>,
    pub(crate) num_turns: Option<u64>,
    /// A failure after which nothing worked yet. It tells why the run ended if
    /// it ends now without a last event.
    pub(crate) trouble: Option<ProgramFailure>,
    pub(crate) usage: Counted,
    /// What the session was counted for before the run.
    pub(crate) before: UsageBaseline,
    /// What the program says that the whole session has used, where it does.
    pub(crate) session_sums: UsageBaseline,
    result_text: Option<String>,
    attempts: u32,
}

impl RunRecord {
    const MAX_RESULT_BYTES: usize = 64 * 1024;
    const MAX_MODEL_BYTES: usize = 128;

    pub(crate) fn new(before: UsageBaseline) -> Self {
        Self {
            events: Vec::new(),
            session: None,
            num_turns: None,
            trouble: None,
            usage: Counted::default(),
            before,
            session_sums: UsageBaseline::UNKNOWN,
            result_text: None,
            attempts: 0,
        }
    }

    /// The program told which session it works in. What is no session id is
    /// treated as if it had told none.
    pub(crate) fn session_started(&mut self, id: Option<&str>, model: Option<&str>) {
        let Some(id) = id.and_then(|id| SessionId::parse(id).ok()) else {
            return;
        };
        if self.session.as_ref() != Some(&id) {
            self.session = Some(id.clone());
            let model = model.map(model_name);
            self.events.push(ProgramEvent::SessionStarted { id, model });
        }
    }

    /// A call failed, and the program tries it again.
    pub(crate) fn retrying(
        &mut self,
        failure: ProgramFailure,
        attempt: Option<u64>,
        delay_ms: Option<u64>,
    ) {
        self.attempts = attempt
            .and_then(|attempt| u32::try_from(attempt).ok())
            .unwrap_or(self.attempts.saturating_add(1));
        self.events.push(ProgramEvent::Retrying {
            class: failure.class,
            attempt: self.attempts,
            delay_ms,
            until: failure.retry_after.clone(),
        });
        self.trouble = Some(failure);
    }

    /// Something worked, so whatever failed before is overcome.
    pub(crate) fn progressed(&mut self) {
        self.trouble = None;
        self.attempts = 0;
    }

    /// The last thing that the agent said, from now on this.
    pub(crate) fn said(&mut self, text: &str) {
        self.result_text = None;
        self.said_more(text);
    }

    /// The last thing that the agent said goes on.
    pub(crate) fn said_more(&mut self, text: &str) {
        let said = self.result_text.get_or_insert_default();
        let room = Self::MAX_RESULT_BYTES.saturating_sub(said.len());
        said.push_str(first_bytes(text, room));
    }

    pub(crate) fn take_result_text(&mut self) -> Option<String> {
        self.result_text.take().filter(|text| !text.is_empty())
    }

    /// Counts what nobody counted yet, as far as it is told.
    pub(crate) fn count(
        &mut self,
        model: Option<&str>,
        tokens: Option<TokenUsage>,
        cost: Option<MicroCents>,
    ) {
        let model = self.usage.known(model.map(model_name));
        self.usage.add(&model, tokens, cost);
        let tokens = tokens.unwrap_or_default();
        if !tokens.is_zero() || cost.is_some_and(|cost| cost > MicroCents::ZERO) {
            self.events.push(ProgramEvent::Usage {
                model,
                tokens,
                cost,
            });
        }
    }

    /// Counts what is missing to the program's own sums of the run, so that all
    /// events together tell just these. What was counted beyond them stays.
    ///
    /// A model may have another name in the sums than in its calls, and the costs
    /// of the models may not sum up to that of the run. So each model gets what it
    /// lacks, within what all of them together lack.
    pub(crate) fn count_up_to(&mut self, sums: &ByModel, cost: Option<MicroCents>) {
        let all = sums
            .values()
            .fold(TokenUsage::ZERO, |all, sum| all.saturating_add(sum.tokens));
        let counted = self.usage.tokens.unwrap_or_default();
        if !sums.is_empty() {
            self.usage.tokens = Some(counted);
        }
        let mut tokens_left = all.saturating_sub(counted);
        let mut cost_left = cost.map(|cost| {
            let counted = self.usage.cost.get_or_insert_default();
            cost.saturating_sub(*counted)
        });
        for (model, sum) in sums {
            let counted = self.usage.by_model.get(model).copied().unwrap_or_default();
            let tokens = sum.tokens.saturating_sub(counted.tokens).min(tokens_left);
            tokens_left = tokens_left.saturating_sub(tokens);
            let cost = cost_left.as_mut().map(|left| {
                let cost = sum.cost.saturating_sub(counted.cost).min(*left);
                *left = left.saturating_sub(cost);
                cost
            });
            self.count_some(model.as_deref(), tokens, cost);
        }
        let only = sums.keys().next().filter(|_| sums.len() == 1);
        let model = only.cloned().flatten();
        self.count_some(model.as_deref(), TokenUsage::ZERO, cost_left);
    }

    /// Counts what is not nothing.
    fn count_some(&mut self, model: Option<&str>, tokens: TokenUsage, cost: Option<MicroCents>) {
        let cost = cost.filter(|cost| *cost > MicroCents::ZERO);
        let tokens = Some(tokens).filter(|tokens| !tokens.is_zero());
        if tokens.is_some() || cost.is_some() {
            self.count(model, tokens, cost);
        }
    }
}

fn model_name(name: &str) -> String {
    one_line(name, RunRecord::MAX_MODEL_BYTES)
}

/// What the usage events of a run told.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// All models together; `None` before the first figure.
    pub(crate) tokens: Option<TokenUsage>,
    /// `None` before the first figure.
    pub(crate) cost: Option<MicroCents>,
    pub(crate) by_model: ByModel,
}

impl Counted {
    /// No run uses as many models.
    const MAX_MODELS: usize = 64;

    /// The name to count under: no new ones once there are too many.
    fn known(&self, model: Option<String>) -> Option<String> {
        let is_full = self.by_model.len() >= Self::MAX_MODELS;
        model.filter(|name| !is_full || self.by_model.contains_key(&Some(name.clone())))
    }

    fn add(
        &mut self,
        model: &Option<String>,
        tokens: Option<TokenUsage>,
        cost: Option<MicroCents>,
    ) {
        if let Some(tokens) = tokens {
            self.tokens = Some(self.tokens.unwrap_or_default().saturating_add(tokens));
        }
        if let Some(cost) = cost {
            self.cost = Some(self.cost.unwrap_or_default().saturating_add(cost));
        }
        let of_model = self.by_model.entry(model.clone()).or_default();
        of_model.add(tokens.unwrap_or_default(), cost);
    }
}

/// Lines that came before: a line that a program prints twice counts once.
#[derive(Debug, Default)]
pub(crate) struct Seen(std::collections::VecDeque<u64>);

impl Seen {
    const KEPT: usize = 256;

    pub(crate) fn is_new(&mut self, line: &[u8]) -> bool {
        use std::hash::{DefaultHasher, Hash, Hasher};

        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        let digest = hasher.finish();
        if self.0.contains(&digest) {
            return false;
        }
        if self.0.len() == Self::KEPT {
            self.0.pop_front();
        }
        self.0.push_back(digest);
        true
    }
}
