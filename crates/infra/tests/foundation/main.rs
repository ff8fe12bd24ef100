//! What the rules rely on: tables, constraints, transactions, and what lies around them.

mod company;
mod constraints;
mod contention;
mod deletion;
mod journal;
mod live_schema;
mod migrations;
mod opening;
mod raw;
mod rows;
mod vault;
