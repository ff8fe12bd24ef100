//! Approvals: ask the board, decide, send again, withdraw, hire
//! (docs/approvals.md).
//!
//! One transaction holds a decision, its entry in the history, its activity and
//! events, its effects on issues and drafts, and the wake of the requester. Work
//! outside of the store, such as a worktree or a pull request, comes before it, as
//! the steps of an [`execution`].

pub mod advance;
mod cancel;
mod comment;
mod decide;
mod error;
pub mod execution;
mod hire;
mod hire_fields;
mod insert;
mod issue_effects;
mod links;
mod lookup;
mod payload;
mod read;
mod resubmit;
mod revised;
mod submit;
mod view;
mod work;
mod written_plan;

pub use cancel::{CANCEL, cancel};
pub use comment::{add_comment, comments};
pub use decide::{DECIDE, Decide, approve, reject, request_revision};
pub use error::ApprovalError;
pub use hire::{HIRE, HireAgent, Hired, hire};
pub use insert::SubmittedApproval;
pub use read::{get, history, issues, list, of_issue, undecided_plan};
pub use resubmit::{RESUBMIT, resubmit};
pub use submit::{SUBMIT, SubmitApproval, pushed_issue, submit};
pub use view::ApprovalView;
pub use work::{resubmitted_issue, show_again, shown_commit};
pub use written_plan::{UPDATE_ISSUE, update_issue};

pub use crate::approval_records::DRAFT_EDITED;
