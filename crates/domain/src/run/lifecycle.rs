//! Where runs and wakes stand (contract section 10.1).

use crate::word::{Listed, Word};
use crate::words;

words! {
    /// Where a run stands.
    pub enum RunStatus {
        /// Waiting to be started.
        Queued = "queued",
        /// Its program runs.
        Running = "running",
        /// Its program ended well; terminal.
        Succeeded = "succeeded",
        /// It ended otherwise; terminal.
        Failed = "failed",
        /// Somebody stopped it; terminal.
        Cancelled = "cancelled",
        /// It exceeded a time limit; terminal.
        TimedOut = "timed_out",
    }
}

words! {
    /// Where a wake stands.
    pub enum WakeStatus {
        /// Waiting to be answered by a run.
        Pending = "pending",
        /// A run answers it; terminal.
        Dispatched = "dispatched",
        /// There was nothing to do; terminal.
        Skipped = "skipped",
        /// Withdrawn; terminal.
        Cancelled = "cancelled",
    }
}

/// The lifecycle of runs does not lead from one status to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a run cannot go from {from} to {to}; from {from} it can go to {}", Listed(.allowed))]
pub struct IllegalRunTransition {
    /// Where the run stands.
    pub from: RunStatus,
    /// What was asked for.
    pub to: RunStatus,
    /// What could have been asked for.
    pub allowed: &'static [RunStatus],
}

/// The lifecycle of wakes does not lead from one status to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a wake cannot go from {from} to {to}; from {from} it can go to {}", Listed(.allowed))]
pub struct IllegalWakeTransition {
    /// Where the wake stands.
    pub from: WakeStatus,
    /// What was asked for.
    pub to: WakeStatus,
    /// What could have been asked for.
    pub allowed: &'static [WakeStatus],
}

impl RunStatus {
    /// What this status may become: the one transition table of runs.
    pub const fn successors(self) -> &'static [Self] {
        match self {
            Self::Queued => &[Self::Running, Self::Failed, Self::Cancelled],
            Self::Running => &[
                Self::Succeeded,
                Self::Failed,
                Self::Cancelled,
                Self::TimedOut,
            ],
            Self::Succeeded | Self::Failed | Self::Cancelled | Self::TimedOut => &[],
        }
    }

    /// The statuses that may become this one: what a conditional update must
    /// ask for.
    pub fn predecessors(self) -> impl Iterator<Item = Self> {
        Self::ALL
            .iter()
            .copied()
            .filter(move |from| from.successors().contains(&self))
    }

    /// True when the run has ended.
    pub const fn is_terminal(self) -> bool {
        self.successors().is_empty()
    }

    /// True while its program runs: it has a token, holds leases and takes a
    /// slot. A queued run does not.
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Running)
    }

    /// This status changed to `to`.
    ///
    /// # Errors
    /// When the lifecycle does not lead there; to stay is no step of it.
    pub fn go(self, to: Self) -> Result<Self, IllegalRunTransition> {
        let allowed = self.successors();
        if allowed.contains(&to) {
            Ok(to)
        } else {
            Err(IllegalRunTransition {
                from: self,
                to,
                allowed,
            })
        }
    }
}

impl WakeStatus {
    /// What this status may become: the one transition table of wakes.
    pub const fn successors(self) -> &'static [Self] {
        match self {
            Self::Pending => &[Self::Dispatched, Self::Skipped, Self::Cancelled],
            Self::Dispatched | Self::Skipped | Self::Cancelled => &[],
        }
    }

    /// True when the wake asks for nothing any more.
    pub const fn is_terminal(self) -> bool {
        self.successors().is_empty()
    }

    /// This status changed to `to`.
    ///
    /// # Errors
    /// When the lifecycle does not lead there; to stay is no step of it.
    pub fn go(self, to: Self) -> Result<Self, IllegalWakeTransition> {
        let allowed = self.successors();
        if allowed.contains(&to) {
            Ok(to)
        } else {
            Err(IllegalWakeTransition {
                from: self,
                to,
                allowed,
            })
        }
    }
}
