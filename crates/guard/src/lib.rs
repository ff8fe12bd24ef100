//! The guard: the process that stays with one run of an agent to its end
//! (docs/heartbeats.md#processes).
//!
//! A server starts one guard for each run, and the guard starts the program.
//! Everything that the program starts has the guard as its ancestor, and the
//! guard ends only when nothing of that executes any more. It writes the output
//! into the run's log and how the run ended into a file, so that the server may
//! end and begin anew meanwhile: [`client::find`] takes a run up again.

mod cgroup;
pub mod client;
mod containment;
mod environment;
mod files;
mod first_process;
mod guard;
mod launch;
pub mod leftovers;
mod log;
mod mount_table;
mod process;
mod protocol;
mod resource_limits;
mod run_as;
mod survey;
mod wire;

pub use containment::{Containment, Means, Shown, names as containment_names};
pub use environment::{ChildEnvironment, InvalidVariable, RunTag};
pub use files::{GuardFiles, NumberedUse};
pub use guard::main;
pub use launch::LaunchError;
pub use log::{
    DEFAULT_LOG_CAP, LogNote, LogPart, LogSummary, RunLog, TAIL_LEN, pack_log, read_log,
    read_log_notes,
};
pub use process::{ProcessGroup, ProcessIdentity};
pub use protocol::{
    Description, Ending, Exit, HomeFile, JudgedBy, Limits, ModelUsage, RunReport, Start,
};
pub use resource_limits::ResourceLimits;
pub use run_as::{RunAs, RunAsError};
pub use survey::Survey;
