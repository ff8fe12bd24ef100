//! The processes of a run, found in the process table.

mod collect;
mod group;
mod identity;
mod last_pid;
mod mark;
mod process_scan;
mod reach;
mod stat;

pub(crate) use collect::{Collected, collect};
pub use group::ProcessGroup;
pub use identity::ProcessIdentity;
pub(crate) use reach::{ProgramEnd, Reach};
