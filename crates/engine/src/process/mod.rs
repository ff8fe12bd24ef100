//! One child process of an agent, run safely (docs/heartbeats.md#processes).
//!
//! A child starts with an environment built from nothing, is recorded before
//! it may execute its program, lives in a session of its own, and is gone,
//! with everything it started, when its supervision returns.

mod activity;
mod births;
mod child;
mod environment;
mod gate;
mod group;
mod log;
mod log_reader;
mod look;
mod output;
mod program;
mod ring;
mod spawn;
mod stat;
mod supervise;
mod times;

pub use activity::ActivityClock;
pub use child::{Child, Exit};
pub use environment::{ChildEnvironment, InvalidVariable, RunTag};
pub use group::{ProcessGroup, ProcessIdentity, kill_leftover};
pub use log::{DEFAULT_LOG_CAP, LogSummary, RunLog, TAIL_LEN};
pub use log_reader::{LogSlice, read_log};
pub use output::{OutputSource, Scrub};
pub use spawn::{ChildSpec, SpawnError, spawn};
pub use supervise::{EndedBy, Limits, Outcome, OutputSinks, supervise};
pub use times::{LogTime, read_log_times};
