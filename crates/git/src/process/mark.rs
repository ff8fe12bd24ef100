//! Finds the processes that a command started, also those that left its group.

use std::ffi::OsString;
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The variable that a command hands down to all that it starts.
const VARIABLE: &str = "WORKFORCE_GIT_COMMAND";
/// Looks are taken until one finds nobody, but not more: each may have started others
/// before it was ended.
const LOOKS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(2);

/// What the environment of one command's processes says.
#[derive(Debug)]
pub(super) struct Mark(String);

impl Mark {
    pub(super) fn new() -> Self {
        // Another server may have the same process id, in a container.
        let random = RandomState::new().build_hasher().finish();
        Self(format!("{}-{random:016x}", std::process::id()))
    }

    pub(super) fn variable(&self) -> (OsString, OsString) {
        (VARIABLE.into(), (&self.0).into())
    }

    /// Ends all processes that carry it. Those whose environment was changed are not
    /// found.
    pub(super) fn end_all(&self) {
        let record = format!("{VARIABLE}={}", self.0);
        for _ in 0..LOOKS {
            let mut is_found = false;
            for pid in processes() {
                // What is of another user, or gone, cannot be read.
                let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                if environment
                    .split(|&b| b == 0)
                    .any(|v| v == record.as_bytes())
                {
                    is_found |= kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok();
                }
            }
            if !is_found {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

fn processes() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pid = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    entries.flatten().filter_map(pid).collect()
}
