//! What approvals do outside of the store, as the store knows it
//! (docs/tickets.md#steps): the board's approval begins an execution, whoever
//! takes its steps writes each down before and after, and only after the last
//! the approval is decided.

mod begin;
mod complete;
mod steps;

pub(super) use begin::require_idle;
pub use begin::{BEGIN, begin, is_executed};
pub(super) use complete::{Way, announcement, give_worktrees, require_way};
pub use complete::{complete, executed};
pub use steps::{Order, StepRef, abandon, begin_step, fail, finish_step, order, remote_required};

use std::time::Duration;

/// An execution without a sign of life for so long is abandoned. Each step is a
/// sign of life, and takes at most a few minutes.
pub const LEASE: Duration = Duration::from_secs(10 * 60);
