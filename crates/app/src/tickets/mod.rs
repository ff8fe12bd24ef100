//! Governed tickets: which worktrees a plan asks for (docs/tickets.md).
//!
//! The use cases of `approvals` call this; nothing here imports from them.

mod advance_view;
mod condition;
mod plan;
mod pull_request;
mod read;
mod ticket_key;
mod trail;
mod wake;
mod watch;
mod worktrees;

pub use advance_view::AdvanceView;
pub use condition::note_condition;
pub use plan::{PlannedWorkspace, planned};
pub(crate) use plan::{RESOLVED, resolve};
pub(crate) use pull_request::{announcement, tell_pull_requests};
pub use read::{LOOK, WorktreeView, worktree};
pub(crate) use trail::{Cause, save_and_tell};
pub(crate) use wake::wake_agent;
pub(crate) use watch::{DRIFT_EVERY, watch_pull_request};
pub(crate) use worktrees::{brought_by, pushed_from, reserved_for, shown, worked_on};
