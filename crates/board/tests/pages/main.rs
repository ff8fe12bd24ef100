//! The pages as whole requests, without a browser.
#![expect(clippy::unwrap_used, reason = "a test panics where it cannot go on")]

mod agents;
mod approvals;
mod companies;
mod inbox;
mod issues;
mod logs;
mod runs;
mod sign_in;
mod stop;
mod support;
