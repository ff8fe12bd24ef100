//! What the programs of a run may use of the computer
//! (docs/operations.md#resource-limits).

use std::io;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};

use crate::cgroup::Cgroup;
use crate::containment::{Containment, narrow_resources};
use crate::launch::LaunchError;

/// The first kernel that counts the processes of each user namespace by itself.
const COUNTS_BY_NAMESPACE: (u32, u32) = (5, 14);

/// What the programs of a run may use; without limit where `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceLimits {
    /// Bytes of memory: of the whole run by its cgroup, else of each process.
    pub memory: Option<u64>,
    /// Processes and threads of the run at once.
    pub processes: Option<u64>,
    /// Bytes of each file that is written.
    pub file_size: Option<u64>,
}

/// What of it each process is told, rather than the cgroup.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProcessLimits(ResourceLimits);

impl ResourceLimits {
    /// Tells the cgroup of the run what it can keep, and gives the rest.
    ///
    /// # Errors
    ///
    /// Nothing here bounds the number of processes of one run.
    pub(crate) fn divide(
        self,
        containment: &Containment,
        cgroup: Option<&Cgroup>,
    ) -> Result<ProcessLimits, LaunchError> {
        let mut rest = self;
        if let Some(cgroup) = cgroup {
            rest.memory = rest.memory.filter(|&bytes| !cgroup.limit_memory(bytes));
            rest.processes = rest
                .processes
                .filter(|&count| !cgroup.limit_processes(count));
        }
        if rest.processes.is_some() && !is_counted_alone(containment) {
            return Err(LaunchError::ProcessesUnbounded);
        }
        if containment.run_as.is_none() {
            // The first process of the namespace is of the same user.
            rest.processes = rest.processes.map(|count| count.saturating_add(1));
        }
        Ok(ProcessLimits(rest))
    }
}

/// Whether the kernel counts the processes of a run apart from all others of its
/// user, and lets nobody in it exceed the limit, as root may.
fn is_counted_alone(containment: &Containment) -> bool {
    let is_root = geteuid().is_root() && containment.run_as.is_none();
    containment.means.namespaces && !is_root && kernel() >= COUNTS_BY_NAMESPACE
}

fn kernel() -> (u32, u32) {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split('.').map_while(|number| number.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

impl ProcessLimits {
    /// Limits this process and all that it will start, for good.
    ///
    /// # Errors
    ///
    /// The kernel does not allow it.
    pub(crate) fn apply(self, is_root_here: bool) -> io::Result<()> {
        let Self(limits) = self;
        let limits = [
            // Address space that is only reserved does not count, of which JavaScript
            // engines take terabytes.
            (Resource::RLIMIT_DATA, limits.memory),
            (Resource::RLIMIT_NPROC, limits.processes),
            (Resource::RLIMIT_FSIZE, limits.file_size),
        ];
        let mut is_limited = false;
        for (resource, limit) in limits {
            let Some(limit) = limit else {
                continue;
            };
            let (_, highest) = getrlimit(resource)?;
            let limit = limit.min(highest);
            setrlimit(resource, limit, limit)?;
            is_limited = true;
        }
        if is_limited && is_root_here {
            narrow_resources()?;
        }
        Ok(())
    }
}
