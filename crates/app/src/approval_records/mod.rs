//! How approvals are written down, and what becomes of undecided ones when
//! their issues or drafts change.
//!
//! The use cases of `issues` and `agents` call this, and those of `approvals`
//! call them: nothing here may import one of the three.

mod cancellation;
pub(crate) mod draft_snapshot;
pub(crate) mod history;
pub(crate) mod linked_issues;
pub(crate) mod review_flags;
mod save;
mod worktrees;

pub(crate) use cancellation::{
    append_cancelled, cancel_for_terminated_draft, cancel_orphaned, cancel_replaced_ends,
    cancel_replaced_plans,
};
pub use draft_snapshot::DRAFT_EDITED;
pub(crate) use draft_snapshot::draft_edited;
pub(crate) use save::save_transition;
pub(crate) use worktrees::release_worktrees;
