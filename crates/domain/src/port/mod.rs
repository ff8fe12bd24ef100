//! The ports: what the rules and use cases ask of a store, a clock and a
//! source of randomness.

mod agents;
mod approvals;
mod attachments;
mod board_tokens;
mod companies;
mod engine;
mod environment;
mod feed;
mod goals;
mod instructions;
mod issues;
mod labels;
mod ledger;
mod objects;
mod projects;
mod record;
mod revisions;
mod runs;
mod sealed;
mod secrets;
mod store;
mod stream_tickets;

pub use agents::*;
pub use approvals::*;
pub use attachments::*;
pub use board_tokens::*;
pub use companies::*;
pub use engine::*;
pub use environment::*;
pub use feed::*;
pub use goals::*;
pub use instructions::*;
pub use issues::*;
pub use labels::*;
pub use ledger::*;
pub use objects::*;
pub use projects::*;
pub use record::*;
pub use revisions::*;
pub use runs::*;
pub use sealed::*;
pub use secrets::*;
pub use store::*;
pub use stream_tickets::*;
