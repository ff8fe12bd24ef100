//! The use cases around the issues: companies, agents, goals, projects, runs, costs and budgets,
//! and who may ask for what.
#![expect(
    clippy::unwrap_used,
    reason = "what tests share are plain functions, not tests themselves"
)]

mod agents;
mod budgets;
mod collisions;
mod companies;
mod faults;
mod goals;
mod projects;
mod reach;
mod rights;
mod runs;
mod secrets;
mod support;
