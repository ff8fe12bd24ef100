//! The processes of a run, found in the process table.

mod group;
mod identity;
mod last_pid;
mod mark;
mod process_scan;
mod stat;

pub use group::ProcessGroup;
pub use identity::ProcessIdentity;
