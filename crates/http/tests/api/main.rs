//! Whole-API tests: a real server on a real store, asked over loopback.
#![expect(clippy::unwrap_used, reason = "a test panics where it cannot go on")]

mod answers;
mod sse;
mod support;
mod uploads;

mod access;
mod agents;
mod approval_plans;
mod approval_races;
mod approvals;
mod attachment_contents;
mod attachment_faults;
mod attachment_names;
mod attachments;
mod board_tokens;
mod bodies;
mod callers;
mod companies;
mod conventions;
mod costs;
mod databases;
mod deletes;
mod edges;
mod event_streams;
mod events;
mod hires;
mod idempotency;
mod instructions;
mod issues;
mod labels;
mod lists;
mod log_streams;
mod openapi;
mod overview;
mod projects;
mod rate_limit;
mod revisions;
mod runs;
mod search;
mod secrets;
mod switches;
