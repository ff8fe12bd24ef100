use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use workforce_agent_programs::UsageBaseline;
use workforce_domain::id::RunId;
use workforce_guard::client::{self, Guard, GuardError, GuardProgram, Prepared};
use workforce_guard::{
    ChildEnvironment, Containment, GuardFiles, JudgedBy, Limits, ProcessIdentity, ResourceLimits,
    RunReport, RunTag, Start,
};

pub(crate) const NO_LIMITS: Limits = Limits {
    wall: None,
    idle: None,
    grace: Duration::from_millis(300),
};

/// A run id that no other test and no other run of the tests uses.
pub(crate) fn new_run() -> RunId {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{:08x}-0000-7000-8000-{number:012x}", std::process::id())
        .parse()
        .expect("a run id")
}

/// A folder for one test, and what is started in it.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
}

/// A run whose program is executed.
pub(crate) struct Running {
    pub(crate) run: RunId,
    pub(crate) identity: ProcessIdentity,
    pub(crate) guard: Guard,
}

impl Running {
    /// The process of the program itself.
    pub(crate) fn program(&self) -> i32 {
        self.identity.process_group
    }

    pub(crate) fn tag(&self) -> RunTag {
        RunTag::from(self.run)
    }

    pub(crate) async fn ended(&mut self) -> RunReport {
        self.guard.ended().await.expect("a report")
    }
}

/// Nothing is left of a run in any case.
impl Drop for Running {
    fn drop(&mut self) {
        use nix::sys::signal::{Signal, kill, killpg};
        use nix::unistd::Pid;
        let _ = killpg(Pid::from_raw(self.identity.process_group), Signal::SIGKILL);
        let _ = kill(Pid::from_raw(self.identity.pid), Signal::SIGKILL);
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn log_path(&self) -> PathBuf {
        self.path("logs/run.log")
    }

    pub(crate) fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.log_path()).expect("a log")).into_owned()
    }

    pub(crate) fn files(&self) -> GuardFiles {
        GuardFiles::of(self.path("guard"))
    }

    pub(crate) fn spec(&self, program: &str, arguments: &[&str]) -> Start {
        Start {
            run: new_run(),
            fence: 1,
            folder: self.path("guard"),
            program: program.into(),
            arguments: arguments.iter().map(OsString::from).collect(),
            cwd: self.folder.path().to_owned(),
            environment: ChildEnvironment::inherit_allowed(std::env::vars_os(), &[]),
            home_files: Vec::new(),
            stdin: None,
            log: self.log_path(),
            log_cap: 1 << 20,
            secrets: Vec::new(),
            judged_by: JudgedBy::ExitCode,
            resumed: None,
            usage_baseline: UsageBaseline::NEW_SESSION,
            preamble: String::new(),
            limits: NO_LIMITS,
            resource_limits: ResourceLimits::default(),
            patience: Duration::from_secs(60),
            containment: Containment::default(),
            memo: Value::Null,
        }
    }

    pub(crate) fn shell(&self, script: &str) -> Start {
        self.spec("/bin/sh", &["-c", script])
    }

    pub(crate) async fn start(&self, start: Start) -> Running {
        self.start_by(&guard_program(), start).await
    }

    pub(crate) async fn start_by(&self, program: &GuardProgram, start: Start) -> Running {
        let run = start.run;
        let prepared = client::start(program, start).await.expect("a guard");
        let identity = prepared.identity();
        let guard = prepared.go().await.expect("a program");
        Running {
            run,
            identity,
            guard,
        }
    }

    pub(crate) async fn run(&self, start: Start, limits: Limits) -> RunReport {
        let start = Start { limits, ..start };
        self.start(start).await.ended().await
    }

    /// Runs a script and gives its output.
    pub(crate) async fn output(&self, start: Start) -> String {
        self.run(start, NO_LIMITS).await;
        self.log()
    }
}

/// Starts a guard whose program waits at its gate.
pub(crate) async fn prepare(start: Start) -> Result<Prepared, GuardError> {
    client::start(&guard_program(), start).await
}

pub(crate) fn guard_program() -> GuardProgram {
    GuardProgram {
        file: env!("CARGO_BIN_EXE_workforce-guard").into(),
        arguments: Vec::new(),
    }
}

/// Whether a process executes: it is there and no zombie.
pub(crate) fn is_live(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        let state = stat
            .rsplit(") ")
            .next()
            .and_then(|rest| rest.chars().next());
        !matches!(state, Some('Z' | 'X'))
    })
}

/// Whether there is neither a process nor a zombie of this id.
pub(crate) fn is_reaped(pid: i32) -> bool {
    !Path::new(&format!("/proc/{pid}")).exists()
}

/// Waits for a condition that another process brings about.
pub(crate) async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(10), "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The process ids that a script wrote to a file, once all are there.
pub(crate) async fn pids_in(path: &Path, count: usize) -> Vec<i32> {
    let mut pids = Vec::new();
    eventually("process ids in a file", || {
        pids = std::fs::read_to_string(path)
            .unwrap_or_default()
            .lines()
            .filter_map(|line| line.parse().ok())
            .collect();
        pids.len() == count
    })
    .await;
    pids
}
