//! The pages as whole requests, without a browser.
#![expect(clippy::unwrap_used, reason = "a test panics where it cannot go on")]

mod agents;
mod approvals;
mod companies;
mod hostile;
mod inbox;
mod issues;
mod stop;
mod support;
