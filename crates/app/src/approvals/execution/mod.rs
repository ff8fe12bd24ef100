//! What approvals do outside of the store, as the store knows it
//! (docs/tickets.md#steps): the board's approval begins an execution, whoever
//! takes its steps writes each down before and after, and only after the last
//! the approval is decided.

mod begin;
mod complete;
mod lease;
mod live;
mod steps;

pub use begin::{BEGIN, begin, is_executed};
pub(super) use begin::{live_end_of, require_idle};
pub(super) use complete::{Way, announcement, give_worktrees, require_way};
pub use complete::{complete, executed, overtaken};
pub use lease::{LEASE, RENEW_EVERY, abandon, interrupt, renew};
pub(super) use live::lock_live;
pub use steps::{Order, StepRef, begin_step, fail, finish_step, order, remote_required};
