//! The guards of runs that a test leaves behind.

use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use walkdir::WalkDir;

/// Kills every guard that works in a folder, with its program: a guard outlives
/// its server, but not its test.
pub fn kill_guards(folder: &Path) {
    let runs: Vec<String> = WalkDir::new(folder)
        .into_iter()
        .flatten()
        .filter(|entry| entry.file_name() == "guard.socket")
        .filter_map(|socket| {
            let run = socket.path().parent()?.parent()?.file_name()?;
            Some(format!("WORKFORCE_RUN_ID={}", run.to_str()?))
        })
        .collect();
    if runs.is_empty() {
        return;
    }
    for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        let is_of_run = environment
            .split(|&byte| byte == 0)
            .any(|variable| runs.iter().any(|run| run.as_bytes() == variable));
        let pid = process
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        if let Some(pid) = pid.filter(|_| is_of_run) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}
