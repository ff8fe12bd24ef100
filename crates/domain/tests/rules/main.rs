//! The rules of the domain as its callers see them.
#![expect(
    clippy::unwrap_used,
    reason = "a case that cannot be built is a failed test"
)]

mod approvals;
mod attachments;
mod branches;
mod budgets;
mod checkouts;
mod forecasts;
mod ids;
mod issues;
mod lifecycles;
mod mentions;
mod money;
mod run_ends;
mod runs;
mod secrets;
mod sessions;
mod table;
mod texts;
mod timers;
mod times;
