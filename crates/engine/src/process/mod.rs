//! One child process of an agent, run safely (docs/heartbeats.md#processes).
//!
//! A child starts with an environment built from nothing, is recorded before
//! it may execute its program, lives in a session of its own, and is gone,
//! with everything it started, when its supervision returns.

mod activity;
mod child;
mod child_environment;
mod error;
mod gate;
mod group;
mod identity;
mod last_pid;
mod log_reader;
mod log_times;
mod log_writer;
mod output;
mod process_scan;
mod program;
mod ring;
mod spawn;
mod stat;
mod supervise;

pub use activity::ActivityClock;
pub use child::{Child, Exit};
pub use child_environment::{ChildEnvironment, InvalidVariable, RunTag};
pub use error::SpawnError;
pub use group::ProcessGroup;
pub use identity::ProcessIdentity;
pub use log_reader::{LogPart, read_log};
pub use log_times::{LogTime, read_log_times};
pub use log_writer::{DEFAULT_LOG_CAP, LogSummary, RunLog, TAIL_LEN};
pub use output::{OutputSource, Scrub};
pub use spawn::{ChildSpec, spawn};
pub use supervise::{ChildOutcome, EndedBy, Limits, OutputSinks, supervise};
