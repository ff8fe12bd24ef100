//! What there is to do by itself, and when.

use crate::time::Timestamp;

/// What an agenda is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgendaTerms {
    /// The present instant.
    pub now: Timestamp,
    /// Worktrees of tickets that ended by then may be removed.
    pub ended_by: Timestamp,
}

/// When there is something to do next, of each kind. An instant that has come says that there is
/// something now, and `None` that nothing comes by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agenda {
    /// A condition of a start may come to hold. Always later than the present: what holds by
    /// now is found by a claim.
    pub start: Option<Timestamp>,
    /// The lease of a run ends.
    pub lease: Option<Timestamp>,
    /// A timer that does not rest beats.
    pub beat: Option<Timestamp>,
    /// Timers are to be set anew, or rest although something waits for their agents.
    pub has_timers_to_set: bool,
    /// Wakes are pending that nobody will ever answer.
    pub has_obsolete_wakes: bool,
    /// The attempt to carry out an approval is given up.
    pub attempt: Option<Timestamp>,
    /// A ticket is brought before the board.
    pub advance: Option<Timestamp>,
    /// A forge is asked about a pull request.
    pub question: Option<Timestamp>,
    /// The base branch of a pull request is looked at.
    pub drift: Option<Timestamp>,
    /// A worktree of a ticket that ended early enough is removed.
    pub clean_up: Option<Timestamp>,
    /// When the first of the other tickets with a worktree ended.
    pub ticket_ended: Option<Timestamp>,
}
