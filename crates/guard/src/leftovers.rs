//! What is left of a run whose guard is gone.

use std::io;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use workforce_domain::id::RunId;

use crate::environment::RunTag;
use crate::files::GuardFiles;
use crate::process::{ProcessGroup, ProcessIdentity};

/// Whether nothing of a run executes any more, as far as it can be found: by its
/// cgroup, by its group, or by its mark.
///
/// # Errors
///
/// The process table cannot be read.
pub fn is_gone(identity: ProcessIdentity, run: RunId, files: &GuardFiles) -> io::Result<bool> {
    let cgroup = files.cgroup(run);
    let is_empty = cgroup.is_none_or(|cgroup| !cgroup.is_populated() && cgroup.end());
    Ok(is_empty && ProcessGroup::new(identity, RunTag::from(run)).is_empty()?)
}

/// The runs whose mark a process on this host carries, each with such a process: as far as this
/// user may look.
///
/// # Errors
///
/// The process table cannot be read.
pub fn marked() -> io::Result<Vec<(RunId, ProcessIdentity)>> {
    let mut found: Vec<(RunId, ProcessIdentity)> = Vec::new();
    for process in std::fs::read_dir("/proc")? {
        let process = process?;
        let pid = process.file_name().to_str().and_then(|it| it.parse().ok());
        let Some(pid) = pid else { continue };
        // Others end while we look, or are not ours to look at.
        let environ = std::fs::read(process.path().join("environ")).unwrap_or_default();
        let Some(run) = RunTag::in_environ(&environ) else {
            continue;
        };
        if found.iter().any(|(known, _)| *known == run) {
            continue;
        }
        if let Ok(identity) = ProcessIdentity::of(pid) {
            found.push((run, identity));
        }
    }
    Ok(found)
}

/// Ends what is left of a run by force: its guard, and whatever can be found of
/// what it started. Returns whether nothing is left.
pub async fn end_by_force(identity: ProcessIdentity, run: RunId, files: &GuardFiles) -> bool {
    if ProcessIdentity::of(identity.pid).is_ok_and(|now| now.start_ticks == identity.start_ticks) {
        let _ = kill(Pid::from_raw(identity.pid), Signal::SIGKILL);
    }
    let files = files.clone();
    let in_cgroup = move || files.cgroup(run).is_none_or(|cgroup| cgroup.end());
    let is_empty = tokio::task::spawn_blocking(in_cgroup).await;
    let group = ProcessGroup::new(identity, RunTag::from(run));
    group.end(Duration::ZERO).await && is_empty.unwrap_or(false)
}
