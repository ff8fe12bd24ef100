//! The use cases around the issues: companies, agents, goals, projects, runs, costs and budgets,
//! and who may ask for what.
#![expect(
    clippy::unwrap_used,
    reason = "what tests share are plain functions, not tests themselves"
)]

mod agents;
mod authentication;
mod breakdowns;
mod budgets;
mod companies;
mod company_budgets;
mod company_switches;
mod conventions;
mod costs;
mod faults;
mod goals;
mod keys;
mod loops;
mod master_key;
mod org;
mod overrides;
mod projects;
mod reach;
mod reporters;
mod revisions;
mod rights;
mod run_ends;
mod runs;
mod secrets;
mod support;
mod switches;
mod timers;
mod wake_ups;
mod workspaces;
