//! The pages as whole requests, without a browser.
#![expect(clippy::unwrap_used, reason = "a test panics where it cannot go on")]

mod agents;
mod approvals;
mod companies;
mod configuration;
mod inbox;
mod instructions;
mod issues;
mod keys;
mod secrets;
mod stop;
mod support;
