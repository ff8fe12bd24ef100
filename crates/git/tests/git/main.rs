//! Tickets from their worktree to their push, with real git, and with agents that
//! try everything.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking, and run git as its users and as agents do"
)]

mod borrowing;
mod configured_programs;
mod filters;
mod flow;
mod http;
mod interrupted;
mod layouts;
mod left_behind;
mod left_in_disorder;
mod lfs;
mod links;
mod locks;
mod merge_drivers;
mod merged;
mod reading;
mod refused;
mod remote_hooks;
mod source;
mod support;
mod tampering;
