//! Calls of the model that Claude Code makes, and what is counted of each.
//!
//! With partial messages a call opens with its input and closes with its exact
//! usage. A call that breaks off is made again, and the program counts only the
//! one that succeeded, so an open call is not counted before it closes, or before
//! the run ends without a sum. Without partial messages there is only the opening
//! figure, once for each part of the answer; the sum at the end brings the rest.

use std::collections::VecDeque;

use super::run_record::RunRecord;
use crate::usage::TokenUsage;

/// Usage of a call as far as it is told; a missing count is one that did not
/// change.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Figures {
    pub(super) input: Option<u64>,
    pub(super) cached_read: Option<u64>,
    pub(super) cached_write: Option<u64>,
    pub(super) output: Option<u64>,
}

impl Figures {
    /// As tokens; `None` when there is no figure at all.
    pub(super) fn tokens(self) -> Option<TokenUsage> {
        let counts = [self.input, self.cached_read, self.cached_write, self.output];
        counts.iter().any(Option::is_some).then(|| TokenUsage {
            input: self.input.unwrap_or(0),
            cached_read: self.cached_read.unwrap_or(0),
            cached_write: self.cached_write.unwrap_or(0),
            output: self.output.unwrap_or(0),
        })
    }
}

#[derive(Debug)]
struct Call {
    id: String,
    /// The tool call whose agent made it; `None` for the main one.
    parent: Option<String>,
    model: Option<String>,
    /// Whether partial messages tell of it.
    is_streamed: bool,
    told: TokenUsage,
    counted: TokenUsage,
}

impl Call {
    fn tell(&mut self, figures: Figures) {
        self.told = self.told.max(figures.tokens().unwrap_or_default());
    }

    fn count(&mut self, record: &mut RunRecord) {
        let more = self.told.saturating_sub(self.counted);
        self.counted = self.counted.max(self.told);
        if !more.is_zero() {
            record.count(self.model.as_deref(), Some(more), None);
        }
    }
}

/// The last calls of a run.
#[derive(Debug, Default)]
pub(super) struct Calls(VecDeque<Call>);

impl Calls {
    /// More than agents work at the same time, and so more than may be open.
    const KEPT: usize = 64;

    /// A partial message began.
    pub(super) fn open(
        &mut self,
        id: &str,
        parent: Option<String>,
        model: Option<String>,
        figures: Figures,
        record: &mut RunRecord,
    ) {
        let call = self.find_or_insert(id, parent, model, record);
        call.is_streamed = true;
        call.tell(figures);
    }

    /// A partial message told its usage, which is the one of the call. Where the
    /// event does not name its call, it is the last of the same agent.
    pub(super) fn close(
        &mut self,
        id: Option<&str>,
        parent: Option<&str>,
        figures: Figures,
        record: &mut RunRecord,
    ) {
        let mut calls = self.0.iter_mut().rev();
        let call = match id {
            Some(id) => calls.find(|call| call.id == id),
            None => calls.find(|call| call.parent.as_deref() == parent),
        };
        if let Some(call) = call {
            call.tell(figures);
            call.count(record);
        }
    }

    /// A whole message, or a part of one, told the usage of its call.
    pub(super) fn message(
        &mut self,
        id: &str,
        model: Option<String>,
        figures: Figures,
        record: &mut RunRecord,
    ) {
        let call = self.find_or_insert(id, None, model, record);
        if !call.is_streamed {
            call.tell(figures);
            call.count(record);
        }
    }

    /// The program told its own sum, which holds whatever a call still owes.
    pub(super) fn summed_up(&mut self) {
        for call in &mut self.0 {
            call.counted = call.told;
        }
    }

    /// No sum will come: what the open calls told so far is what is known.
    pub(super) fn count_open(&mut self, record: &mut RunRecord) {
        for call in &mut self.0 {
            call.count(record);
        }
    }

    fn find_or_insert(
        &mut self,
        id: &str,
        parent: Option<String>,
        model: Option<String>,
        record: &mut RunRecord,
    ) -> &mut Call {
        let place = self.0.iter().position(|call| call.id == id);
        let place = place.unwrap_or_else(|| {
            if self.0.len() == Self::KEPT
                && let Some(mut oldest) = self.0.pop_front()
            {
                oldest.count(record);
            }
            self.0.push_back(Call {
                id: id.to_owned(),
                parent,
                model,
                is_streamed: false,
                told: TokenUsage::ZERO,
                counted: TokenUsage::ZERO,
            });
            self.0.len() - 1
        });
        &mut self.0[place]
    }
}
