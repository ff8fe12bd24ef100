//! The processes that may be killed, as `/proc` shows them.

use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use workforce_testkit::guards::run_of;

/// A process of a run.
#[derive(Clone, Debug)]
pub(super) struct RunProcess {
    pub(super) pid: i32,
    pub(super) run: String,
    pub(super) kind: RunProcessKind,
}

/// What a process is to its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunProcessKind {
    Guard,
    /// What the guard started.
    Program,
    /// What the program started.
    Tool,
}

/// Every process that carries the mark of one of these runs. Others belong to somebody else.
pub(super) fn of_runs(runs: &[String]) -> Vec<RunProcess> {
    let processes: Vec<(i32, String)> = pids()
        .filter_map(|pid| Some((pid, run_of(pid)?)))
        .filter(|(_, run)| runs.contains(run))
        .collect();
    let is_guard = |pid: i32| {
        let parent = parent(pid);
        let parent_is_marked = processes.iter().any(|&(other, _)| Some(other) == parent);
        !parent_is_marked && arguments(pid).get(1).is_some_and(|it| it == "guard")
    };
    let guards: Vec<i32> = processes
        .iter()
        .map(|it| it.0)
        .filter(|&it| is_guard(it))
        .collect();
    let kind = |pid: i32| match () {
        () if guards.contains(&pid) => RunProcessKind::Guard,
        () if parent(pid).is_some_and(|it| guards.contains(&it)) => RunProcessKind::Program,
        () => RunProcessKind::Tool,
    };
    processes
        .iter()
        .map(|(pid, run)| RunProcess {
            pid: *pid,
            run: run.clone(),
            kind: kind(*pid),
        })
        .collect()
}

/// The processes of PostgreSQL that serve connections to a database.
pub(super) fn backends(database: &str) -> Vec<i32> {
    let serves = |pid: &i32| {
        let title = arguments(*pid).join(" ");
        title.starts_with("postgres: ") && title.split(' ').any(|word| word == database)
    };
    pids().filter(serves).collect()
}

/// Kills at once; false when there was nobody any more.
pub(super) fn kill_now(pid: i32) -> bool {
    kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok()
}

fn pids() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn arguments(pid: i32) -> Vec<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let arguments = line.split(|&byte| byte == 0);
    arguments
        .map(|it| String::from_utf8_lossy(it).into_owned())
        .collect()
}

fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}
