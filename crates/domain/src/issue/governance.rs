//! Which issues are governed: agents do not end them by themselves.

use crate::id::ProjectId;

/// What governs an issue, of its own or from above it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Governance {
    /// Somebody else must agree to its end: it or an issue above it has a plan that
    /// is undecided or approved, or a worktree, or is of a project that demands it.
    pub governed: bool,
    /// The board approved a plan for it or for an issue above it.
    pub has_approved_plan: bool,
    /// The nearest project of it and the issues above it that demands a plan.
    pub demanded_by: Option<ProjectId>,
}

impl Governance {
    /// The project that demands a plan which the board has not approved yet.
    pub const fn missing_plan(self) -> Option<ProjectId> {
        if self.has_approved_plan {
            None
        } else {
            self.demanded_by
        }
    }
}
