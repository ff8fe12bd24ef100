//! The queries, per aggregate: written once, mounted by each database.
//!
//! Recursive queries name the row they come from first and join the table with
//! `CROSS JOIN`: SQLite keeps that order then, where it would otherwise walk
//! through the whole company for each step.

mod activity;
mod advisory;
mod agent_row;
mod agent_secrets;
mod agents;
mod approval_list;
mod approval_rows;
mod approvals;
mod attachment_row;
mod attachments;
mod board_tokens;
mod claim;
mod comments;
mod companies;
mod conventions;
mod cost_events;
mod cost_sums;
mod credentials;
mod engine;
mod event_retention;
mod figures;
mod forecasts;
mod goals;
mod idempotency;
pub(super) mod inspection;
mod instructions;
pub(super) mod invariants;
mod issue_deletion;
mod issue_filter;
mod issue_leases;
mod issue_list;
mod issue_matches;
mod issue_row;
mod issue_search;
pub(super) mod issue_texts;
mod issues;
mod labels;
mod ledger;
mod obsolete_wakes;
mod page;
mod predicates;
mod project_rows;
mod projects;
mod provider_gates;
pub(super) mod repairs;
mod revisions;
mod row;
mod run_completions;
mod run_events;
mod run_row;
mod run_spends;
mod runs;
mod sealed;
mod secret_row;
mod secrets;
mod sessions;
mod spends;
mod start_conditions;
mod stream_tickets;
mod text_index;
mod timers;
mod wakeability;
mod wakes;
