//! The queries, per aggregate: written once, mounted by each database.

mod activity;
mod advisory;
mod agents;
mod approvals;
mod claim;
mod comments;
mod companies;
mod cost_events;
mod credentials;
mod engine;
mod goals;
mod idempotency;
mod issue_deletion;
mod issue_list;
mod issues;
mod leases;
mod ledger;
mod page;
mod projects;
mod row;
mod runs;
mod wakes;
