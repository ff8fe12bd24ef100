//! Governed tickets: which worktrees a plan asks for (docs/tickets.md).
//!
//! The use cases of `approvals` call this; nothing here imports from them.

mod plan;
mod ticket_key;

pub use plan::{PlannedWorkspace, planned};
pub(crate) use plan::{RESOLVED, resolve};
