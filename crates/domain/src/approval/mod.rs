//! Approvals: what the board must agree to.

mod branch;
mod execution;
mod lifecycle;
mod record;

pub use branch::{
    ALLOWED_PREFIXES, BranchFault, check_branch, check_work_branch, is_ticket_key, may_name_ticket,
};
pub use execution::*;
pub use lifecycle::*;
pub use record::*;
