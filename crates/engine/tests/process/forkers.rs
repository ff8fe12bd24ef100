use std::fs::File;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use workforce_guard::{Ending, Exit, ProcessGroup, ProcessIdentity};

use crate::support::{Bench, NO_LIMITS, eventually};

/// Longer than any of these tests takes, so that none waits for it.
const SECONDS: &str = "60";

/// The C compiler is the one that the project itself is built with.
fn compile(bench: &Bench) -> PathBuf {
    let program = bench.path("forker");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/process/forker.c");
    #[expect(
        clippy::disallowed_methods,
        reason = "a compiler is no agent's process"
    )]
    let mut compiler = Command::new("cc");
    let status = compiler
        .args(["-O2", "-o"])
        .arg(&program)
        .arg(source)
        .status()
        .expect("a C compiler");
    assert!(status.success());
    program
}

/// Whether anybody holds the lock that every generation inherits.
fn is_held(bench: &Bench) -> bool {
    File::open(bench.path("lock")).is_ok_and(|file| file.try_lock().is_err())
}

#[tokio::test(flavor = "multi_thread")]
async fn who_forks_without_pause_is_gone_when_supervision_returns() {
    let bench = Bench::new();
    compile(&bench);
    for branches in ["1", "1", "1", "2", "4"] {
        let script = format!(
            "./forker lock {branches} {SECONDS}; while flock -n lock true; do :; done; exit 0"
        );
        let outcome = bench.run(bench.shell(&script), NO_LIMITS).await;
        assert!(
            !is_held(&bench),
            "a process outlived its run: {branches} branches"
        );
        assert_eq!(outcome.ended_by, Ending::Itself);
        assert_eq!(outcome.exit, Some(Exit::Code(0)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_forks_without_pause_and_takes_the_tag_off_is_gone_as_well() {
    let bench = Bench::new();
    compile(&bench);
    let script =
        format!("setsid env -i ./forker lock 2 {SECONDS}; while flock -n lock true; do :; done");
    bench.run(bench.shell(&script), NO_LIMITS).await;
    assert!(!is_held(&bench), "a process outlived its run");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leftover_that_forks_without_pause_is_killed() {
    let bench = Bench::new();
    compile(&bench);
    let mut running = bench
        .start(bench.spec("./forker", &["lock", "2", SECONDS]))
        .await;
    eventually("the lock is held", || is_held(&bench)).await;
    let gone = ProcessIdentity {
        start_ticks: running.identity.start_ticks - 100,
        ..running.identity
    };
    assert!(
        ProcessGroup::new(gone, running.tag())
            .end(Duration::ZERO)
            .await
    );
    assert!(!is_held(&bench), "a process outlived its run");
    assert_eq!(
        running.guard.ended().await,
        None,
        "its guard has the tag too"
    );
}
