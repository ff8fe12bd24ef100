//! The rules of workforce as plain values: money, months, lifecycles, budgets,
//! mentions, and the ports through which the rest of the system reaches a
//! store.
//!
//! The crate is `no_std` and does no I/O. It knows neither a clock (`now` is
//! an argument) nor randomness (ids are arguments), so that another program
//! can embed it, with or without a store.
//!
//! # Values alone
//!
//! A program may keep the values wherever it likes, and do what the decisions
//! say; `examples/embedded.rs` drives an issue and a budget in this way.
//!
//! ```
//! use workforce_domain::budget::decide_agent;
//! use workforce_domain::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let now = Timestamp::parse("2026-11-02T09:00:00Z")?;
//! let progress = Progress::begin(IssueStatus::Todo, now);
//! let refused = progress.transition_to(Mover::Agent, IssueStatus::Done, now);
//! assert!(refused.is_err(), "an agent must not skip the work");
//!
//! let usage = BudgetUsage {
//!     spent: Cents::parse("80.5")?,
//!     budget: Budget::from_cents(100)?,
//! };
//! let decision = decide_agent(usage, RaisedAlerts::default(), AgentPause::Running);
//! assert_eq!(decision.alerts, [Threshold::Soft]);
//! # Ok(())
//! # }
//! ```
//!
//! # Behind the ports
//!
//! A program that has a store reaches it through the traits of [`port`]: a
//! [`Tx`](port::Tx) hands out what reads and writes each aggregate, and locks
//! what is changed. With the feature `mocks` each of them has its mock, and so
//! have the services (`MockClock`, `MockIds`, `MockVault`), so that such a
//! program is tested without the store; the module `mocks` shows how.
//! `examples/behind_ports` embeds the lifecycles of issues and approvals and
//! the rules of budgets in this way, with its tests:
//!
//! ```text
//! cargo run -p workforce-domain --features mocks --example behind_ports
//! cargo test -p workforce-domain --features mocks --example behind_ports
//! ```
//!
//! # Names
//!
//! `new` takes parts that are what they should be, and cannot fail; `parse` reads a text, and says
//! what is wrong with it; `restore` takes what a store kept. The [`prelude`] has what most need.
// The schemas of `openapi` and the mocks are derived by code that needs std.
#![cfg_attr(not(any(feature = "mocks", feature = "openapi")), no_std)]

extern crate alloc;
#[cfg(all(test, not(any(feature = "mocks", feature = "openapi"))))]
extern crate std;

pub mod activity;
pub mod actor;
pub mod adapter_check;
pub mod agent;
pub mod approval;
pub mod attachment;
pub mod board;
pub mod board_session;
pub mod budget;
pub mod change;
pub mod company;
pub mod conventions;
pub mod corrupt;
pub mod cost;
pub mod dashboard;
mod document;
pub mod execution_workspace;
mod fields;
pub mod forge;
pub mod goal;
pub mod id;
pub mod instance_figures;
pub mod instructions;
pub mod issue;
pub mod json_text;
pub mod label;
pub mod lifecycle;
pub mod mention;
#[cfg(feature = "mocks")]
pub mod mocks;
pub mod money;
pub mod number;
mod object;
#[cfg(feature = "openapi")]
pub mod openapi;
pub mod page;
pub mod port;
pub mod prelude;
pub mod project;
pub mod revision;
pub mod run;
pub mod search;
pub mod secret;
pub mod session;
pub mod string_enum;
pub mod text;
pub mod ticket;
pub mod time;
pub mod timer;
pub mod wake;

pub use document::{Document, JsonMap};
pub use object::ObjectOnly;
