//! The REST interface of workforce.
//!
//! A handler names three steps: how the request becomes a command, which use
//! case serves it, and how the answer looks. Everything between them, who
//! asks, one hop to a thread that may block, the transaction, repeated requests and
//! refusals, is `request_context`'s. A route is registered through
//! `endpoints::Endpoints` only, which demands its access rule.

mod access_rules;
mod allowed_hosts;
mod blocking_threads;
mod body;
mod credential_uses;
mod documentation;
pub mod door;
mod download;
mod endpoints;
mod head_timeout;
pub mod headers;
mod idempotency;
mod json;
mod metrics;
mod middleware;
mod missing_objects;
mod paging;
mod precondition;
pub mod problem;
mod query;
mod rate_limit;
mod refusals;
pub mod registry;
mod reply;
mod request_context;
mod request_id;
mod router;
pub mod routes;
pub mod server;
mod sign_ins;
mod slots;
mod state;
mod store_lane;
mod streamed_request;
mod streams;
mod transfers;
mod turn;
mod unknown;
mod upload;
mod waiting_writes;
mod write_lane;

pub use allowed_hosts::AllowedHosts;
pub use credential_uses::CredentialUses;
pub use documentation::DOCUMENT;
pub use idempotency::KEPT_FOR;
pub use rate_limit::RateLimit;
pub use server::{Options, serve};
pub use slots::SlotLimits;
pub use state::{KeyRotation, Ports, State};
pub use streams::{StreamLimits, Streams};
pub use transfers::TransferLimits;
