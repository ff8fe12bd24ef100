//! Whole-API tests: a real server on a real store, asked over loopback.

mod support;

mod agents;
mod callers;
mod companies;
mod costs;
mod edges;
mod idempotency;
mod issues;
mod lists;
mod openapi;
mod projects;
mod runs;
