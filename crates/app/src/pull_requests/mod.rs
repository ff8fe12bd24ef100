//! What becomes of a ticket after its pull request was opened: what the forge tells of
//! it, what moves in its base branch, and when its worktree is removed
//! (docs/tickets.md#after-the-pull-request).
//!
//! It builds on `approvals`, which begin to watch a pull request when they open it.

mod clean_up;
mod drift;
mod idle;
mod watch;

pub use clean_up::{CleanUp, CleanUpOutcome, begin_clean_up, finish_clean_up};
pub use drift::{Drift, DriftOutcome, Obstacle, claim_drift, finish_drift, hold_for_drift};
pub use watch::{FailedCheck, Look, LookOutcome, Question, claim_question, finish_question, hurry};
