//! What the imitation answers over HTTP.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod anthropic;
mod chat;
mod client;
mod connections;
mod control;
mod gemini;
mod refusals;
mod responses;
mod side_requests;
