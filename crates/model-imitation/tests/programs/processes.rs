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

#[test]
fn what_left_its_session_ends_with_its_home() {
    let home = tempfile::tempdir().unwrap();
    let started = home.path().join("started");
    #[expect(
        clippy::disallowed_methods,
        reason = "the program under test belongs to no company"
    )]
    let mut leader = std::process::Command::new("sh")
        .args([
            "-c",
            "setsid sh -c 'echo >\"$HOME/started\"; sleep 600' & wait",
        ])
        .env("HOME", home.path())
        .spawn()
        .unwrap();
    while !started.exists() {
        thread::sleep(Duration::from_millis(5));
    }

    end_all_of(home.path());

    assert_eq!(all_of(home.path()), []);
    assert!(!leader.wait().unwrap().success());
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
