//! Tickets from their worktree to their push, with real git, and with agents that
//! try everything.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests run git as its users and as agents do"
)]

mod flow;
mod support;
