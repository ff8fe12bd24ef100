//! What makes agents run: the dispatcher that claims due wakes, and the tasks that
//! stay with their runs, each of which has a guard.
//!
//! The crate reaches the store only through the ports of the domain. It never
//! sees a database, a web framework or a configuration file.

mod adapter;
mod adapter_check;
mod agenda;
mod config;
mod containment;
mod default_cap;
mod disk_watch;
mod dispatcher;
mod execution_result;
mod external_secrets;
mod guarded_run;
mod handle;
mod housekeeping;
mod instructions;
mod live;
mod log_packing;
mod log_publisher;
mod log_store;
mod outage;
mod private_files;
mod process_cleanup;
mod program_run;
mod recovery;
mod renewal;
mod retention;
mod retry_time;
mod run_context;
mod run_end;
mod run_environment;
mod run_metering;
mod run_owner;
mod run_task;
mod run_verdict;
mod secret_resolution;
mod state;
pub mod steps;
mod stuck_issues;
mod tickets;
mod transactions;
mod wake_payload;

pub use adapter::agent_program;
pub use config::{AgentHome, EngineConfig, Ports};
pub use containment::{ContainmentMode, ContainmentPlan, NotContained};
pub use handle::{Engine, EngineHandle};
pub use instructions::run_folders;
pub use log_store::FileRunLogs;
pub use tickets::{CommitIdentity, TicketSettings, WebhookSecret};
pub use workforce_http_caller::AddressRange;
