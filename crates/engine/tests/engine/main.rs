//! The engine against real children and a real store.
#![expect(
    clippy::expect_used,
    reason = "a fixture that cannot be made fails the test that wants it"
)]

mod adapter_checks;
mod agent_programs;
mod callbacks;
mod dispatch;
mod ends;
mod environment;
mod faults;
mod housekeeping;
mod http_agents;
mod instructions;
mod leases;
mod log_events;
mod project_context;
mod recovery;
mod resource_limits;
mod run_as;
mod secrets;
mod shutdown;
mod support;
mod taken_up;
mod tickets;
mod timers;
