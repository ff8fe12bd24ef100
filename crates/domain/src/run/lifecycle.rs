//! Where runs and wakes stand.

use crate::lifecycle::Lifecycle;
use crate::string_enum;

string_enum! {
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

string_enum! {
    /// Where a wake stands.
    pub enum WakeStatus {
        /// Waiting to be answered by a run.
        Pending = "pending",
        /// A run answers it; terminal.
        Dispatched = "dispatched",
        /// Withdrawn; terminal.
        Cancelled = "cancelled",
    }
}

impl Lifecycle for RunStatus {
    const SUBJECT: &'static str = "a run";

    fn successors(self) -> &'static [Self] {
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
}

impl RunStatus {
    /// True while its program runs: it has a token, holds leases and takes a
    /// slot. A queued run does not.
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Running)
    }
}

impl Lifecycle for WakeStatus {
    const SUBJECT: &'static str = "a wake";

    fn successors(self) -> &'static [Self] {
        match self {
            Self::Pending => &[Self::Dispatched, Self::Cancelled],
            Self::Dispatched | Self::Cancelled => &[],
        }
    }
}
