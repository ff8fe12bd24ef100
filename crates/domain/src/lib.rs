//! The rules of workforce as plain values: money, months, lifecycles, budgets,
//! mentions, and the ports through which the rest of the system reaches a
//! store.
//!
//! The crate is `no_std` and does no I/O. It knows neither a clock (`now` is
//! an argument) nor randomness (ids are arguments), so that another program
//! can embed it; `examples/embedded.rs` drives an issue through its life
//! without any database.
// The schemas of `openapi` are derived by code that needs the prelude of std.
#![cfg_attr(not(feature = "openapi"), no_std)]

extern crate alloc;
#[cfg(all(test, not(feature = "openapi")))]
extern crate std;

pub mod activity;
pub mod actor;
pub mod adapter_check;
pub mod agent;
pub mod approval;
pub mod attachment;
pub mod board;
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
pub mod goal;
pub mod id;
pub mod instructions;
pub mod issue;
pub mod json_text;
pub mod label;
pub mod lifecycle;
pub mod mention;
pub mod money;
pub mod number;
mod object;
#[cfg(feature = "openapi")]
pub mod openapi;
pub mod page;
pub mod port;
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
