//! The program of a run whose agent is called by HTTP
//! (docs/heartbeats.md#http-adapter).
//!
//! It is a process of its run like any other program of an agent: a guard starts it
//! and keeps its clocks, its log and its end. It reads one [`Call`] from its standard
//! input, makes it, prints what comes back to its standard output, and says what
//! became of it on its standard error. The engine, which starts it, makes no request
//! itself.

mod address_range;
mod address_rules;
mod answer;
mod call;
mod exchange;
mod program;
mod resolver;

pub use address_range::{AddressRange, NotARange};
pub use address_rules::AddressRules;
pub use call::{Call, Method};
pub use exchange::tls_config;
pub use program::{SUBCOMMAND, main};
pub use resolver::{NoAddress, look_up};
