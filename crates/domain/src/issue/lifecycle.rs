//! Where issues can stand and what they may become.

mod progress;

pub use progress::{Moved, Progress, ProgressRecord, StatusMismatch};

use crate::lifecycle::Lifecycle;
use crate::string_enum;

string_enum! {
    /// Where an issue stands.
    pub enum IssueStatus {
        /// Parked: assigning it wakes nobody.
        Backlog = "backlog",
        /// Ready to be worked on.
        Todo = "todo",
        /// Somebody works on it.
        InProgress = "in_progress",
        /// Waiting for a reviewer.
        InReview = "in_review",
        /// Finished; terminal.
        Done = "done",
        /// Cannot go on for now.
        Blocked = "blocked",
        /// Given up; terminal.
        Cancelled = "cancelled",
    }
}

string_enum! {
    /// How urgent an issue is, most urgent first.
    pub enum Priority {
        /// Before everything else.
        Critical = "critical",
        /// Before the ordinary.
        High = "high",
        /// The ordinary, and the default.
        Medium = "medium",
        /// When nothing else is to be done.
        Low = "low",
    }
}

impl Priority {
    /// The place in the order of urgency: 0 for critical to 3 for low.
    pub const fn rank(self) -> i16 {
        match self {
            Self::Critical => 0,
            Self::High => 1,
            Self::Medium => 2,
            Self::Low => 3,
        }
    }

    /// The priority with this [`rank`](Self::rank).
    pub const fn from_rank(rank: i16) -> Option<Self> {
        match rank {
            0 => Some(Self::Critical),
            1 => Some(Self::High),
            2 => Some(Self::Medium),
            3 => Some(Self::Low),
            _ => None,
        }
    }
}

/// Whose transition table applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mover {
    /// An agent, which keeps to the lifecycle.
    Agent,
    /// The board, which is sovereign except that a terminal state is left
    /// only by reopening.
    Board,
}

impl Mover {
    /// Every mover.
    pub const ALL: &'static [Self] = &[Self::Agent, Self::Board];
}

impl Lifecycle for IssueStatus {
    const SUBJECT: &'static str = "an issue";

    /// The table that agents keep to; the board has one of its own. What ends is left only by
    /// reopening.
    fn successors(self) -> &'static [Self] {
        match self {
            Self::Backlog => &[Self::Todo, Self::InProgress, Self::Cancelled],
            Self::Todo => &[
                Self::Backlog,
                Self::InProgress,
                Self::Blocked,
                Self::Cancelled,
            ],
            Self::InProgress => &[
                Self::Todo,
                Self::InReview,
                Self::Done,
                Self::Blocked,
                Self::Cancelled,
            ],
            Self::InReview => &[Self::InProgress, Self::Done, Self::Blocked, Self::Cancelled],
            Self::Blocked => &[Self::Todo, Self::InProgress, Self::Cancelled],
            Self::Done | Self::Cancelled => &[],
        }
    }
}

impl IssueStatus {
    /// What a reopened issue may become.
    pub const REOPENED: &'static [Self] = &[Self::Backlog, Self::Todo];

    /// What `mover` may change this status to. The status itself is never listed.
    pub fn successors_for(self, mover: Mover) -> &'static [Self] {
        match mover {
            Mover::Agent => self.successors(),
            Mover::Board => self.successors_for_board(),
        }
    }

    const fn successors_for_board(self) -> &'static [Self] {
        use IssueStatus::{Backlog, Blocked, Cancelled, Done, InProgress, InReview, Todo};
        match self {
            Backlog => &[Todo, InProgress, InReview, Done, Blocked, Cancelled],
            Todo => &[Backlog, InProgress, InReview, Done, Blocked, Cancelled],
            InProgress => &[Backlog, Todo, InReview, Done, Blocked, Cancelled],
            InReview => &[Backlog, Todo, InProgress, Done, Blocked, Cancelled],
            Blocked => &[Backlog, Todo, InProgress, InReview, Done, Cancelled],
            Done | Cancelled => Self::REOPENED,
        }
    }
}
