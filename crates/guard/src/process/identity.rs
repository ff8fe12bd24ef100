use std::io;

use serde::{Deserialize, Serialize};

use super::stat::ProcStat;

/// What tells a child from every other process, also after its id was given to
/// another one. Valid for one boot of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Process id of the leader.
    pub pid: i32,
    /// Its process group and session, which it leads.
    pub process_group: i32,
    /// Start time of the leader in clock ticks since boot (field 22 of
    /// `/proc/<pid>/stat`).
    pub start_ticks: i64,
}

impl ProcessIdentity {
    pub(crate) fn of(pid: i32) -> io::Result<Self> {
        let stat = ProcStat::read(pid)?;
        Ok(Self {
            pid,
            process_group: stat.group,
            start_ticks: stat.start_ticks,
        })
    }
}
