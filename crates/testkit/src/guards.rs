//! The guards of runs that a test leaves behind.

use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use walkdir::WalkDir;

/// Kills every guard that works in a folder, with its program: a guard outlives
/// its server, but not its test.
pub fn kill_guards(folder: &Path) {
    let runs = guarded_runs(folder);
    if runs.is_empty() {
        return;
    }
    for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = process
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let Some(pid) = pid else { continue };
        if run_of(pid).is_some_and(|run| runs.contains(&run)) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}

/// The runs that have a guard in a folder.
#[must_use]
pub fn guarded_runs(folder: &Path) -> Vec<String> {
    let sockets = WalkDir::new(folder)
        .into_iter()
        .flatten()
        .filter(|entry| entry.file_name() == "guard.socket");
    sockets
        .filter_map(|socket| {
            let run = socket.path().parent()?.parent()?.file_name()?;
            Some(run.to_str()?.to_owned())
        })
        .collect()
}

/// The run that the environment of a process names: that of each of its processes does.
#[must_use]
pub fn run_of(pid: i32) -> Option<String> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    environment.split(|&byte| byte == 0).find_map(|variable| {
        let run = variable.strip_prefix(b"WORKFORCE_RUN_ID=")?;
        String::from_utf8(run.to_vec()).ok()
    })
}
