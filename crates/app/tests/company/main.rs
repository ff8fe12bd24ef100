//! The use cases around the issues: companies, agents, goals, projects, runs, costs and budgets,
//! and who may ask for what.
#![expect(
    clippy::unwrap_used,
    reason = "what tests share are plain functions, not tests themselves"
)]

mod activity;
mod adapter_config;
mod agents;
mod attribution;
mod authentication;
mod breakdowns;
mod budgets;
mod companies;
mod company_budgets;
mod costs;
mod faults;
mod goals;
mod hiring;
mod keys;
mod projects;
mod reach;
mod rights;
mod runs;
mod support;
mod switches;
mod termination;
