//! The REST interface of workforce.
//!
//! A handler names three steps: how the request becomes a command, which use
//! case serves it, and how the answer looks. Everything between them, who
//! asks, one hop to the blocking pool, the transaction, repeated requests and
//! refusals, is `exchange`'s. A route is registered through
//! [`registry::Endpoints`] only, which demands its access rule.

mod access;
mod arrival;
mod body;
mod credential_uses;
mod download;
mod guard;
mod idempotency;
mod metrics;
mod middleware;
mod openapi;
mod paging;
mod precondition;
pub mod problem;
mod query;
mod rate_limit;
mod refusals;
pub mod registry;
mod reply;
mod request_context;
pub mod routes;
mod schema;
pub mod server;
mod state;
mod streams;
mod transfers;
mod upload;

pub use credential_uses::CredentialUses;
pub use guard::AllowedHosts;
pub use idempotency::KEPT_FOR;
pub use openapi::{document, printed};
pub use rate_limit::RateLimit;
pub use server::{Options, serve};
pub use state::{KeyRotation, Ports, State};
pub use streams::{StreamLimits, Streams};
pub use transfers::TransferLimits;
