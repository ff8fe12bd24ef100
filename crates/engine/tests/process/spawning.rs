use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::time::{sleep, timeout};
use workforce_guard::client::GuardError;
use workforce_guard::{Exit, LaunchError, Start};

use crate::support::{Bench, NO_LIMITS, eventually, is_live, is_reaped, prepare};

/// Why a program was not prepared.
async fn refusal(start: Start) -> LaunchError {
    match prepare(start).await {
        Err(GuardError::Refused(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn nothing_is_executed_before_the_process_is_recorded() {
    let bench = Bench::new();
    let trace = bench.path("trace");

    let prepared = prepare(bench.shell("touch trace")).await.expect("a guard");
    let identity = prepared.identity();
    sleep(Duration::from_millis(100)).await;
    assert!(
        is_live(identity.pid) && is_live(identity.process_group),
        "they wait"
    );
    assert!(identity.start_ticks > 0);
    assert!(!trace.exists(), "it has done nothing yet");

    let report = prepared.go().await.expect("a program").ended().await;
    assert_eq!(report.and_then(|report| report.exit), Some(Exit::Code(0)));
    assert!(trace.exists());
}

#[tokio::test]
async fn a_start_that_is_given_up_leaves_nothing() {
    let bench = Bench::new();
    let prepared = prepare(bench.shell("touch trace")).await.expect("a guard");
    let identity = prepared.identity();
    drop(prepared);
    eventually("both are gone", || {
        is_reaped(identity.pid) && is_reaped(identity.process_group)
    })
    .await;
    assert!(!bench.path("trace").exists());
}

#[tokio::test]
async fn a_program_that_is_killed_at_the_gate_has_ended() {
    let bench = Bench::new();
    let prepared = prepare(bench.shell("touch trace")).await.expect("a guard");
    let program = Pid::from_raw(prepared.identity().process_group);
    kill(program, Signal::SIGKILL).expect("its end");
    let report = prepared.go().await.expect("a guard").ended().await;
    assert_eq!(report.and_then(|report| report.exit), Some(Exit::Signal(9)));
    assert!(!bench.path("trace").exists());
}

#[tokio::test]
async fn programs_that_start_together_do_not_wait_for_each_other() {
    let slow = Bench::new();
    let _waits = prepare(slow.shell("exit 0")).await.expect("a guard");
    let quick: Vec<_> = (0..20)
        .map(|number| {
            tokio::spawn(async move {
                let bench = Bench::new();
                let start = bench.shell(&format!("exit {number}"));
                bench.run(start, NO_LIMITS).await.exit
            })
        })
        .collect();
    for (start, number) in quick.into_iter().zip(0..) {
        let exit = timeout(Duration::from_secs(20), start).await;
        assert_eq!(
            exit.expect("in time").expect("no panic"),
            Some(Exit::Code(number))
        );
    }
}

#[tokio::test]
async fn a_program_that_is_missing_or_no_program_is_named() {
    let bench = Bench::new();
    std::fs::write(bench.path("data"), "no program").expect("a file");
    for program in ["no-such-program", "./no-such-program", ""] {
        let missing = LaunchError::ProgramNotFound {
            program: program.into(),
        };
        assert_eq!(refusal(bench.spec(program, &[])).await, missing);
    }
    for program in ["./data", "/"] {
        match refusal(bench.spec(program, &[])).await {
            LaunchError::ProgramNotExecutable { program: named, .. } => {
                assert_eq!(named, program);
            }
            other => panic!("{other:?}"),
        }
    }
    let refused = refusal(bench.spec("echo", &["a\0b"])).await;
    assert!(matches!(refused, LaunchError::NulByte { .. }));
}

#[tokio::test]
async fn programs_are_not_looked_for_in_the_working_directory() {
    let bench = Bench::new();
    let planted = bench.path("planted");
    std::fs::write(&planted, "#!/bin/sh\ntouch trace\n").expect("a file");
    std::fs::set_permissions(&planted, PermissionsExt::from_mode(0o755)).expect("a mode");
    let mut start = bench.spec("planted", &[]);
    start
        .environment
        .set("PATH", ".::/bin")
        .expect("a variable");
    let refused = refusal(start).await;
    assert!(matches!(refused, LaunchError::ProgramNotFound { .. }));
}

#[tokio::test]
async fn a_working_directory_that_cannot_be_used_is_named() {
    let bench = Bench::new();
    std::fs::write(bench.path("file"), "").expect("a file");
    for (name, told) in [("missing", "No such file"), ("file", "not a directory")] {
        let mut start = bench.shell("touch trace");
        start.cwd = bench.path(name);
        match refusal(start).await {
            LaunchError::Cwd { cwd, cause, .. } => {
                assert_eq!(cwd, bench.path(name));
                assert!(cause.contains(told), "{cause}");
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
    let prepared = prepare(bench.spec("./script", &[])).await.expect("a guard");
    let identity = prepared.identity();
    match prepared.go().await {
        Err(GuardError::Refused(LaunchError::Exec { cwd, cause, .. })) => {
            assert_eq!(cwd, bench.folder.path());
            assert!(cause.contains("No such file"), "{cause}");
        }
        other => panic!("{other:?}"),
    }
    eventually("both are gone", || {
        is_reaped(identity.pid) && is_reaped(identity.process_group)
    })
    .await;
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
    spec.stdin = Some("what is to be done".repeat(20_000));
    let outcome = bench.run(spec, NO_LIMITS).await;
    assert_eq!(outcome.log.total_bytes, 18 * 20_000);
}

#[tokio::test]
async fn a_child_that_does_not_read_its_input_ends_all_the_same() {
    let bench = Bench::new();
    let mut spec = bench.shell("exit 3");
    spec.stdin = Some("x".repeat(1 << 20));
    let outcome = bench.run(spec, NO_LIMITS).await;
    assert_eq!(outcome.exit, Some(Exit::Code(3)));
}
