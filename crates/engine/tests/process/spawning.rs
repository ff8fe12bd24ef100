use std::future::pending;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::time::{sleep, timeout};
use workforce_engine::process::{Exit, SpawnError, spawn};

use crate::support::{Bench, NO_LIMITS, eventually, is_live, is_reaped, recorded};

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the store is away")]
struct StoreAway;

#[tokio::test]
async fn nothing_is_executed_before_the_child_is_recorded() {
    let bench = Bench::new();
    let trace = bench.path("trace");

    let child = spawn(bench.shell("touch trace"), |identity| {
        let trace = trace.clone();
        async move {
            sleep(Duration::from_millis(100)).await;
            assert!(is_live(identity.pid), "the child waits");
            assert_eq!(identity.process_group, identity.pid, "it leads its group");
            assert!(identity.start_ticks > 0);
            assert!(!trace.exists(), "it has done nothing yet");
            Ok::<_, StoreAway>(())
        }
    })
    .await
    .expect("a child");
    let outcome = bench.supervise(child, NO_LIMITS).await;

    assert_eq!(outcome.exit, Some(Exit::Code(0)));
    assert!(trace.exists());
}

#[tokio::test]
async fn a_child_that_cannot_be_recorded_is_gone_without_a_trace() {
    let bench = Bench::new();
    let pid = AtomicI32::new(0);

    let refused = spawn(bench.shell("touch trace"), async |identity| {
        pid.store(identity.pid, Ordering::Relaxed);
        Err(StoreAway)
    })
    .await;

    match refused {
        Err(SpawnError::Record { source, .. }) => {
            assert_eq!(source.downcast_ref::<StoreAway>(), Some(&StoreAway));
        }
        other => panic!("{other:?}"),
    }
    assert!(is_reaped(pid.into_inner()));
    assert!(!bench.path("trace").exists());
}

#[tokio::test]
async fn a_start_that_is_given_up_leaves_no_child() {
    let bench = Bench::new();
    let pid = AtomicI32::new(0);

    let start = spawn(bench.shell("touch trace"), async |identity| {
        pid.store(identity.pid, Ordering::Relaxed);
        pending::<Result<(), StoreAway>>().await
    });
    assert!(timeout(Duration::from_millis(200), start).await.is_err());

    let pid = pid.into_inner();
    assert_ne!(pid, 0, "it was at the gate");
    eventually("the child is gone", || is_reaped(pid)).await;
    assert!(!bench.path("trace").exists());
}

#[tokio::test]
async fn a_child_that_is_killed_at_the_gate_is_an_ended_child() {
    let bench = Bench::new();
    let child = spawn(bench.shell("touch trace"), async |identity| {
        kill(Pid::from_raw(identity.pid), Signal::SIGKILL)
    })
    .await
    .expect("a child");
    let outcome = bench.supervise(child, NO_LIMITS).await;
    assert_eq!(outcome.exit, Some(Exit::Signal(9)));
    assert!(!bench.path("trace").exists());
}

#[tokio::test]
async fn children_that_start_together_do_not_wait_for_each_other() {
    let bench = Bench::new();
    let slow = tokio::spawn({
        let spec = bench.shell("exit 0");
        async move {
            spawn(spec, |_| pending::<Result<(), StoreAway>>())
                .await
                .is_ok()
        }
    });
    let quick: Vec<_> = (0..20)
        .map(|number| {
            let spec = bench.shell(&format!("exit {number}"));
            tokio::spawn(spawn(spec, recorded))
        })
        .collect();
    for start in quick {
        let child = timeout(Duration::from_secs(10), start)
            .await
            .expect("in time")
            .expect("no panic");
        assert!(child.is_ok());
    }
    slow.abort();
}

#[tokio::test]
async fn a_program_that_is_missing_or_no_program_is_named() {
    let bench = Bench::new();
    std::fs::write(bench.path("data"), "no program").expect("a file");
    let unrecorded = async |_| -> Result<(), StoreAway> { panic!("there is nothing to record") };

    for program in ["no-such-program", "./no-such-program", ""] {
        match spawn(bench.spec(program, &[]), unrecorded).await {
            Err(SpawnError::ProgramNotFound { program: named }) => assert_eq!(named, program),
            other => panic!("{other:?}"),
        }
    }
    for program in ["./data", "/"] {
        match spawn(bench.spec(program, &[]), unrecorded).await {
            Err(SpawnError::ProgramNotExecutable { program: named, .. }) => {
                assert_eq!(named, program);
            }
            other => panic!("{other:?}"),
        }
    }
    let refused = spawn(bench.spec("echo", &["a\0b"]), unrecorded).await;
    assert!(matches!(refused, Err(SpawnError::NulByte { .. })));
}

#[tokio::test]
async fn programs_are_not_looked_for_in_the_working_directory() {
    let bench = Bench::new();
    let planted = bench.path("planted");
    std::fs::write(&planted, "#!/bin/sh\ntouch trace\n").expect("a file");
    std::fs::set_permissions(&planted, PermissionsExt::from_mode(0o755)).expect("a mode");
    let mut spec = bench.spec("planted", &[]);
    spec.environment.set("PATH", ".::/bin").expect("a variable");

    let refused = spawn(spec, recorded).await;

    assert!(matches!(refused, Err(SpawnError::ProgramNotFound { .. })));
}

#[tokio::test]
async fn a_working_directory_that_cannot_be_used_is_named() {
    let bench = Bench::new();
    std::fs::write(bench.path("file"), "").expect("a file");
    for (name, kind) in [
        ("missing", ErrorKind::NotFound),
        ("file", ErrorKind::NotADirectory),
    ] {
        let mut spec = bench.shell("touch trace");
        spec.cwd = bench.path(name);
        match spawn(spec, recorded).await {
            Err(SpawnError::Cwd { cwd, source, .. }) => {
                assert_eq!((cwd, source.kind()), (bench.path(name), kind));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_file_that_the_system_refuses_to_execute_leaves_no_process() {
    let bench = Bench::new();
    let script = bench.path("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").expect("a file");
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).expect("a mode");
    let pid = AtomicI32::new(0);

    let refused = spawn(bench.spec("./script", &[]), async |identity| {
        pid.store(identity.pid, Ordering::Relaxed);
        Ok::<_, StoreAway>(())
    })
    .await;

    match refused {
        Err(SpawnError::Exec { cwd, source, .. }) => {
            assert_eq!(cwd, bench.folder.path());
            assert_eq!(source.kind(), ErrorKind::NotFound);
        }
        other => panic!("{other:?}"),
    }
    assert!(is_reaped(pid.into_inner()));
}

#[tokio::test]
async fn arguments_reach_the_program_as_they_are() {
    let bench = Bench::new();
    let arguments = ["%s\\n", "$HOME; touch trace", "`id`", "* 'quoted'"];
    let output = bench.output(bench.spec("printf", &arguments)).await;
    assert_eq!(output, "$HOME; touch trace\n`id`\n* 'quoted'\n");
    assert!(!bench.path("trace").exists());
}

#[tokio::test]
async fn a_child_has_no_files_but_its_three_streams() {
    let bench = Bench::new();
    // Without the flag that closes it when a program is executed.
    let leaked = nix::unistd::dup(std::io::stderr()).expect("a descriptor");
    let output = bench.output(bench.spec("ls", &["/proc/self/fd"])).await;
    drop(leaked);
    // The fourth is the folder that is being listed.
    assert_eq!(output, "0\n1\n2\n3\n");
}

#[tokio::test]
async fn a_child_reads_what_it_is_given_and_nothing_otherwise() {
    let bench = Bench::new();
    let outcome = bench.run(bench.spec("cat", &[]), NO_LIMITS).await;
    assert_eq!(outcome.exit, Some(Exit::Code(0)));
    assert_eq!(outcome.log.total_bytes, 0);

    let mut spec = bench.spec("cat", &[]);
    spec.stdin = Some("what is to be done".repeat(20_000).into_bytes());
    let outcome = bench.run(spec, NO_LIMITS).await;
    assert_eq!(outcome.log.total_bytes, 18 * 20_000);
}

#[tokio::test]
async fn a_child_that_does_not_read_its_input_ends_all_the_same() {
    let bench = Bench::new();
    let mut spec = bench.shell("exit 3");
    spec.stdin = Some(vec![b'x'; 1 << 20]);
    let outcome = bench.run(spec, NO_LIMITS).await;
    assert_eq!(outcome.exit, Some(Exit::Code(3)));
}

/// The test starts itself as a server that is killed while its child runs.
#[tokio::test]
async fn a_child_does_not_outlive_a_killed_server() {
    const ROLE: &str = "TEST_ROLE";
    let bench = Bench::new();
    if std::env::var_os(ROLE).is_some() {
        let child = bench.start(bench.spec("sleep", &["60"])).await;
        println!("child {}", child.identity().pid);
        kill(Pid::this(), Signal::SIGKILL).expect("its own end");
    }
    let own = std::env::current_exe().expect("the test's program");
    let name = "spawning::a_child_does_not_outlive_a_killed_server";
    let mut spec = bench.spec(&own.to_string_lossy(), &["--exact", name, "--nocapture"]);
    spec.environment.set(ROLE, "server").expect("a variable");

    let outcome = bench.run(spec, NO_LIMITS).await;

    assert_eq!(outcome.exit, Some(Exit::Signal(9)));
    let pid = bench
        .log()
        .lines()
        .find_map(|line| line.split_once("child ")?.1.parse().ok())
        .expect("the child's process id");
    eventually("the child is gone", || !is_live(pid)).await;
}
