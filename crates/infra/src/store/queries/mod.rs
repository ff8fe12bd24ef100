//! The queries of each aggregate: the traits of the ports, implemented on a transaction.
//!
//! Conditions that a partial index covers are written as literals or as bare columns, never as
//! bound values, or neither database uses the index: `.filter(cost_events::counted)`.

mod activity;
mod advisory;
mod agents;
mod approvals;
mod comments;
mod companies;
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
