//! The contract of the store's ports, held to on both databases.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "the bodies of tests are plain functions here, shared by both databases"
)]

mod agents;
mod attachments;
mod board_sessions;
mod board_tokens;
mod claim;
mod claim_conditions;
mod companies;
mod conventions;
mod credentials;
mod engine;
mod event_retention;
mod explain;
mod feed;
mod figures;
mod forecasts;
mod goals_and_projects;
mod governance;
mod idempotency;
mod instance_figures;
mod instructions;
mod issue_list;
mod issues;
mod labels;
mod ledger;
mod lists;
mod prepared;
mod recorder;
mod runs;
mod scopes;
mod search;
mod search_pages;
mod secrets;
mod sessions;
mod start_conditions;
mod stream_tickets;
mod timers;
mod wakeability;
mod witnesses;
mod world;
