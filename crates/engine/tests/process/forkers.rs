use std::fs::File;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use workforce_engine::process::{EndedBy, Exit, ProcessGroup, ProcessIdentity};

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
        assert!(outcome.group_empty, "{branches} branches");
        assert!(!is_held(&bench), "a process outlived its run");
        assert_eq!(outcome.ended_by, EndedBy::Itself);
        assert_eq!(outcome.exit, Some(Exit::Code(0)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leftover_that_forks_without_pause_is_killed() {
    let bench = Bench::new();
    compile(&bench);
    let spec = bench.spec("./forker", &["lock", "2", SECONDS]);
    let tag = spec.tag.clone();
    let child = bench.start(spec).await;
    eventually("the lock is held", || is_held(&bench)).await;
    let gone = ProcessIdentity {
        start_ticks: child.identity().start_ticks - 100,
        ..child.identity()
    };
    assert!(ProcessGroup::new(gone, tag).end(Duration::ZERO).await);
    assert!(!is_held(&bench), "a process outlived its run");
}
