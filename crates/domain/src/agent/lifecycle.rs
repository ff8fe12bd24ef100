//! Where an agent stands and since when.

use crate::company::{Pause, PauseReason};
use crate::corrupt::Corrupt;
use crate::lifecycle::{IllegalTransition, Lifecycle};
use crate::string_enum;
use crate::time::Timestamp;

string_enum! {
    /// What the board or a budget decided about an agent.
    pub enum AgentState {
        /// May run.
        Enabled = "enabled",
        /// May not start runs.
        Paused = "paused",
        /// A draft waiting for the board; has no keys and no wakes.
        PendingApproval = "pending_approval",
        /// Gone for good; terminal.
        Terminated = "terminated",
    }
}

impl Lifecycle for AgentState {
    const SUBJECT: &'static str = "an agent";

    fn successors(self) -> &'static [Self] {
        match self {
            Self::Enabled => &[Self::Paused, Self::Terminated],
            Self::Paused | Self::PendingApproval => &[Self::Enabled, Self::Terminated],
            Self::Terminated => &[],
        }
    }
}

/// The administrative part of an agent's state, which only the steps of its
/// lifecycle change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentLifecycle(Stage);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Enabled,
    Paused(Pause),
    PendingApproval,
    Terminated(Timestamp),
}

/// An [`AgentLifecycle`] as a store keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentLifecycleRecord {
    /// Where the agent stands.
    pub state: AgentState,
    /// Why it is paused; present exactly while it is.
    pub pause_reason: Option<PauseReason>,
    /// Since when it is paused or terminated; present exactly while it is.
    pub since: Option<Timestamp>,
}

impl AgentLifecycle {
    /// An agent that may run from the start.
    pub const ENABLED: Self = Self(Stage::Enabled);

    /// An agent that waits for the board's approval.
    pub const DRAFT: Self = Self(Stage::PendingApproval);

    /// The lifecycle that a store kept.
    ///
    /// # Errors
    /// When the reason or the instant does not fit the state.
    pub fn restore(record: AgentLifecycleRecord) -> Result<Self, Corrupt> {
        let AgentLifecycleRecord {
            state,
            pause_reason,
            since,
        } = record;
        match (state, pause_reason, since) {
            (AgentState::Enabled, None, None) => Ok(Self(Stage::Enabled)),
            (AgentState::Paused, Some(reason), Some(at)) => {
                Ok(Self(Stage::Paused(Pause { reason, at })))
            }
            (AgentState::PendingApproval, None, None) => Ok(Self(Stage::PendingApproval)),
            (AgentState::Terminated, None, Some(at)) => Ok(Self(Stage::Terminated(at))),
            _ => Err(Corrupt::new(
                "agent",
                "its lifecycle and its instants disagree",
            )),
        }
    }

    /// This lifecycle as a store keeps it.
    pub fn record(self) -> AgentLifecycleRecord {
        AgentLifecycleRecord {
            state: self.state(),
            pause_reason: self.pause_reason(),
            since: match self.0 {
                Stage::Paused(pause) => Some(pause.at),
                Stage::Terminated(at) => Some(at),
                Stage::Enabled | Stage::PendingApproval => None,
            },
        }
    }

    /// Where the agent stands.
    pub const fn state(self) -> AgentState {
        match self.0 {
            Stage::Enabled => AgentState::Enabled,
            Stage::Paused(_) => AgentState::Paused,
            Stage::PendingApproval => AgentState::PendingApproval,
            Stage::Terminated(_) => AgentState::Terminated,
        }
    }

    /// Why the agent is paused and since when, while it is.
    pub const fn paused(self) -> Option<Pause> {
        match self.0 {
            Stage::Paused(pause) => Some(pause),
            Stage::Enabled | Stage::PendingApproval | Stage::Terminated(_) => None,
        }
    }

    /// Why the agent is paused, while it is.
    pub const fn pause_reason(self) -> Option<PauseReason> {
        match self.paused() {
            Some(pause) => Some(pause.reason),
            None => None,
        }
    }

    /// Pauses the agent. A paused one stays as it is, except that the board's
    /// pause takes the place of any other.
    ///
    /// # Errors
    /// For drafts and terminated agents.
    pub fn pause(
        self,
        reason: PauseReason,
        now: Timestamp,
    ) -> Result<Self, IllegalTransition<AgentState>> {
        let paused = Self(Stage::Paused(Pause { reason, at: now }));
        match self.pause_reason() {
            None => self.transition(paused),
            Some(present) if reason == PauseReason::Manual && present != reason => Ok(paused),
            Some(_) => Ok(self),
        }
    }

    /// Lets the agent run: a paused one again, a draft for the first time.
    ///
    /// # Errors
    /// For those that may run already and for terminated agents.
    pub fn enable(self) -> Result<Self, IllegalTransition<AgentState>> {
        self.transition(Self::ENABLED)
    }

    /// Ends the agent for good.
    ///
    /// # Errors
    /// When it is terminated already.
    pub fn terminate(self, now: Timestamp) -> Result<Self, IllegalTransition<AgentState>> {
        self.transition(Self(Stage::Terminated(now)))
    }

    fn transition(self, next: Self) -> Result<Self, IllegalTransition<AgentState>> {
        self.state().transition_to(next.state())?;
        Ok(next)
    }
}
