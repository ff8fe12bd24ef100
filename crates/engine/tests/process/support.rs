use std::convert::Infallible;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::sync::watch;
use workforce_domain::id::RunId;
use workforce_engine::process::{
    ActivityClock, Child, ChildEnvironment, ChildOutcome, ChildSpec, Limits, OutputSinks,
    ProcessIdentity, RunLog, RunTag, spawn, supervise,
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

    pub(crate) fn spec(&self, program: &str, arguments: &[&str]) -> ChildSpec {
        ChildSpec {
            program: program.into(),
            arguments: arguments.iter().map(OsString::from).collect(),
            cwd: self.folder.path().to_owned(),
            environment: ChildEnvironment::inherit_allowed(std::env::vars_os(), &[]),
            tag: RunTag::from(new_run()),
            stdin: None,
        }
    }

    pub(crate) fn shell(&self, script: &str) -> ChildSpec {
        self.spec("/bin/sh", &["-c", script])
    }

    pub(crate) async fn start(&self, spec: ChildSpec) -> Child {
        spawn(spec, recorded).await.expect("a child")
    }

    pub(crate) fn run_log(&self) -> RunLog {
        RunLog::open(&self.log_path(), 1 << 20).expect("a log")
    }

    /// Supervises without a stop.
    pub(crate) async fn supervise(&self, child: Child, limits: Limits) -> ChildOutcome<()> {
        self.supervise_with(child, limits, Arc::default()).await
    }

    pub(crate) async fn supervise_with(
        &self,
        child: Child,
        limits: Limits,
        activity: Arc<ActivityClock>,
    ) -> ChildOutcome<()> {
        let (_sender, stop) = watch::channel(None);
        let sinks = OutputSinks {
            log: self.run_log(),
            scrub: None,
            on_stdout: &mut |_| (),
        };
        supervise(child, limits, sinks, activity, stop).await
    }

    pub(crate) async fn run(&self, spec: ChildSpec, limits: Limits) -> ChildOutcome<()> {
        let child = self.start(spec).await;
        self.supervise(child, limits).await
    }

    /// Runs a script and gives its output.
    pub(crate) async fn output(&self, spec: ChildSpec) -> String {
        self.run(spec, NO_LIMITS).await;
        self.log()
    }
}

/// A recording step that has nothing to record.
pub(crate) async fn recorded(_: ProcessIdentity) -> Result<(), Infallible> {
    Ok(())
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
