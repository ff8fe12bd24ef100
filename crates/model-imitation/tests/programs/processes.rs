//! Ends what a program left behind.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Ends every process whose home is `home`.
///
/// Programs start each command in a session of its own, so that no process group holds all of
/// them; what they inherit is the environment.
pub(crate) fn end_all_of(home: &Path) {
    for _ in 0..500 {
        let left = all_of(home);
        if left.is_empty() {
            return;
        }
        for process in left {
            // One that has ended in the meantime is no failure.
            let _ = kill(process, Signal::SIGKILL);
        }
        thread::sleep(Duration::from_millis(10));
    }
    eprintln!("processes with the home {} do not end", home.display());
}

fn all_of(home: &Path) -> Vec<Pid> {
    let wanted = format!("HOME={}", home.display());
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let ids = entries.filter_map(|it| it.ok()?.file_name().to_str()?.parse().ok());
    let is_of_home = |id: &i32| {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|it| it == wanted.as_bytes())
    };
    ids.filter(is_of_home).map(Pid::from_raw).collect()
}
