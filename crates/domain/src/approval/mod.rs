//! Approvals: what the board must agree to (docs/approvals.md).

mod branch;
mod execution;
mod lifecycle;
mod record;

pub use branch::{ALLOWED_PREFIXES, BranchFault, check_branch, check_work_branch, is_ticket_key};
pub use execution::*;
pub use lifecycle::*;
pub use record::*;
