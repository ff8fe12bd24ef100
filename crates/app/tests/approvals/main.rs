//! What the use cases of approvals promise (docs/approvals.md).
#![expect(
    clippy::unwrap_used,
    reason = "what a test sets up is there, and a test that finds it missing ends"
)]

mod advances;
mod desk;
mod execution_stage;
mod executions;
mod histories;
mod mentions;
mod timers;
mod wakes;
