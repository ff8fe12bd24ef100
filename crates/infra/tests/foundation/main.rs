//! What the rules rely on: tables, constraints, transactions, and what lies around them.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

mod company;
mod constraints;
mod contention;
mod deletion;
mod invariants;
mod journal;
mod live_schema;
mod lost_commits;
mod migrations;
mod opening;
mod raw;
mod references;
mod row;
mod rows;
mod sql_words;
mod vault;
