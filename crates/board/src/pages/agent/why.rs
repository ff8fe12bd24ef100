//! Why an agent runs, or does not, and what ends that.

use workforce_app::agents::RuntimeState;
use workforce_domain::agent::AgentState;
use workforce_domain::company::{Company, PauseReason};
use workforce_domain::time::{Month, Timestamp};

use crate::html::money::{Dollars, typed};
use crate::html::when::Exactly;
use crate::links::Links;

/// What ends a standstill.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Nothing that a person could do here.
    Nothing,
    /// The board lets it run again.
    Resume,
    /// A higher limit, or leave to spend more this month.
    Money,
    /// The board ends a wait.
    Lift,
    /// A decision, or another page, behind the link.
    Elsewhere,
}

/// Why an agent runs, or does not.
pub(super) struct Why {
    pub(super) class: &'static str,
    pub(super) icon: &'static str,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) end: End,
    /// Where it ends, or what it does: the word and the address.
    pub(super) link: Option<(&'static str, String)>,
    /// The present limit, to be raised.
    pub(super) limit: String,
}

impl Why {
    fn new(class: &'static str, icon: &'static str, title: &str, text: impl Into<String>) -> Self {
        Self {
            class,
            icon,
            title: title.to_owned(),
            text: text.into(),
            end: End::Nothing,
            link: None,
            limit: String::new(),
        }
    }

    fn ended_by(self, end: End) -> Self {
        Self { end, ..self }
    }

    fn at(self, word: &'static str, address: String) -> Self {
        Self {
            link: Some((word, address)),
            ..self
        }
    }

    /// The first thing that keeps it from running; what it does, or waits for, where nothing does.
    pub(super) fn of(
        state: &RuntimeState,
        company: &Company,
        links: &Links,
        now: Timestamp,
    ) -> Self {
        let lifecycle = state.agent.lifecycle.state();
        match lifecycle {
            AgentState::Terminated => {
                let text = "Its keys are revoked, and its open issues were given back.";
                return Self::new("", "circle-slash", "It is terminated", text);
            }
            AgentState::PendingApproval => {
                let text = "It was proposed, and works once you approve it.";
                let why = Self::new("p-you", "stamp", "It waits for your decision", text);
                let why = why.ended_by(End::Elsewhere);
                return why.at("Show what is proposed", links.approvals());
            }
            AgentState::Enabled | AgentState::Paused => {}
        }
        let stopped = by_budget(state, now).or_else(|| by_hand(state));
        if let Some(run) = state.live.first() {
            let title = match state.live.len() {
                1 => "It runs".to_owned(),
                several => format!("It does {several} runs"),
            };
            let text = match &stopped {
                Some(why) => format!("It is being stopped. {}", why.title),
                None => "Nothing is in its way.".to_owned(),
            };
            let why = Self::new("p-live", "circle-play", &title, text);
            return why
                .ended_by(End::Elsewhere)
                .at("Show the run", links.run(run.id));
        }
        if let Some(why) = stopped {
            return why;
        }
        if !company.is_active() {
            let text = "No agent of it runs until it is resumed.";
            return Self::new("p-you", "circle-pause", "Its company is stopped", text);
        }
        waits(state, now).unwrap_or_else(|| idle(state))
    }
}

fn by_budget(state: &RuntimeState, now: Timestamp) -> Option<Why> {
    let month = Month::of(now);
    let is_paused = state.agent.lifecycle.pause_reason() == Some(PauseReason::Budget);
    let is_used_up = state.usage.exhausted() && !state.agent.may_overspend(month);
    if !is_paused && !is_used_up {
        return None;
    }
    let (spent, limit) = (state.usage.spent, state.usage.budget.limit());
    let of = limit.map_or_else(String::new, |limit| format!(" of {}", Dollars(limit)));
    let lifts = Exactly(month.end());
    let text = format!(
        "{}{of} are spent. It goes on {lifts}, or at once with a higher limit, or if you let it \
         spend more this month.",
        Dollars(spent)
    );
    let title = "It does not run: its budget is used up";
    let mut why = Why::new("p-you", "wallet", title, text).ended_by(End::Money);
    why.limit = typed(state.usage.budget.cents());
    Some(why)
}

fn by_hand(state: &RuntimeState) -> Option<Why> {
    let pause = state.agent.lifecycle.paused()?;
    let who = match pause.reason {
        PauseReason::Manual => "You paused it",
        PauseReason::Budget | PauseReason::System => "workforce paused it",
    };
    let text = format!("{who} {}. What wakes it waits.", Exactly(pause.at));
    let title = "It does not run: it is paused";
    Some(Why::new("", "circle-pause", title, text).ended_by(End::Resume))
}

fn waits(state: &RuntimeState, now: Timestamp) -> Option<Why> {
    if let Some(gate) = &state.gate {
        let reason = gate.reason.to_string().replace('_', " ");
        let until = Exactly(gate.blocked_until);
        let text = format!("Until {until} ({reason}). Other agents of the same account wait too.");
        let title = "It waits: the provider of its model refuses it";
        return Some(Why::new("p-wait", "hourglass", title, text).ended_by(End::Lift));
    }
    let until = state.agent.backoff_until.filter(|until| *until > now)?;
    let failures = state.agent.consecutive_failures;
    let text = format!(
        "{failures} runs failed one after the other. It is tried again {}.",
        Exactly(until)
    );
    let title = "It waits: its last runs failed";
    Some(Why::new("p-bad", "repeat", title, text).ended_by(End::Lift))
}

fn idle(state: &RuntimeState) -> Why {
    if !state.pending.is_empty() {
        let text = "It starts as soon as there is room for another run.";
        return Why::new("p-wait", "hourglass", "It is to start", text);
    }
    let text = match state.timer.next_tick() {
        Some(at) => format!("Its timer looks for work {}.", Exactly(at)),
        None => "It has no timer: an issue or a mention wakes it.".to_owned(),
    };
    Why::new("", "circle-dot", "It rests: nothing waits for it", text)
}
