//! What the programs of a run may use of the computer.

use nix::unistd::geteuid;
use workforce_guard::client::{GuardError, probe};
use workforce_guard::{
    Containment, Exit, LaunchError, Means, ResourceLimits, RunAs, RunReport, Start,
};

use crate::containment::{as_nobody, give_away};
use crate::support::{Bench, NO_LIMITS, eventually, guard_program, prepare};

const MIB: u64 = 1 << 20;

fn limited(start: Start, resource_limits: ResourceLimits) -> Start {
    Start {
        resource_limits,
        ..start
    }
}

async fn run(bench: &Bench, start: Start) -> RunReport {
    bench.run(start, NO_LIMITS).await
}

#[tokio::test]
async fn a_file_does_not_grow_beyond_its_limit() {
    let bench = Bench::new();
    let limits = ResourceLimits {
        file_size: Some(MIB),
        ..ResourceLimits::default()
    };
    let write = |mebibytes: u32| {
        let script = format!("exec head -c {mebibytes}M /dev/zero > file");
        limited(bench.shell(&script), limits)
    };
    let report = run(&bench, write(1)).await;
    assert_eq!(report.exit, Some(Exit::Code(0)));
    let report = run(&bench, write(2)).await;
    assert_eq!(report.exit, Some(Exit::Signal(nix::libc::SIGXFSZ)));
    let len = bench.path("file").metadata().expect("a file").len();
    assert_eq!(len, MIB);
}

#[tokio::test]
async fn a_process_does_not_get_more_memory_than_its_limit() {
    let bench = Bench::new();
    let limits = ResourceLimits {
        memory: Some(64 * MIB),
        ..ResourceLimits::default()
    };
    // Holds one block of this size in memory.
    let hold = |mebibytes: u32| {
        let script = format!("dd if=/dev/zero of=/dev/null bs={mebibytes}M count=1 2> /dev/null");
        limited(bench.shell(&script), limits)
    };
    let report = run(&bench, hold(16)).await;
    assert_eq!(report.exit, Some(Exit::Code(0)));
    let report = run(&bench, hold(128)).await;
    assert_eq!(report.exit, Some(Exit::Code(1)));
}

#[tokio::test]
async fn a_limit_is_not_lifted_by_who_has_it() {
    let bench = Bench::new();
    let limits = ResourceLimits {
        memory: Some(64 * MIB),
        file_size: Some(MIB),
        ..ResourceLimits::default()
    };
    let script = "ulimit -Hf; (ulimit -f unlimited) 2> /dev/null && echo lifted
        (ulimit -d unlimited) 2> /dev/null && echo lifted; ulimit -Hd";
    let output = bench.output(limited(bench.shell(script), limits)).await;
    assert_eq!(output, "2048\n65536\n");
}

fn with_processes(start: Start, containment: Containment, processes: u64) -> Start {
    let limits = ResourceLimits {
        processes: Some(processes),
        ..ResourceLimits::default()
    };
    Start {
        containment,
        ..limited(start, limits)
    }
}

#[tokio::test]
async fn one_run_that_forks_without_end_does_not_take_the_room_of_another() {
    let has = probe(&guard_program(), None).await.expect("an answer");
    if !geteuid().is_root() || !has.namespaces {
        eprintln!("LEFT OUT: it takes root, and namespaces");
        return;
    }
    let containment = Containment {
        means: Means {
            namespaces: true,
            ..Means::NONE
        },
        run_as: Some(RunAs::resolve("nobody").expect("a user")),
        ..Containment::default()
    };
    let (storm, calm) = (Bench::new(), Bench::new());
    let storm_script = "for i in $(seq 40); do sleep 60 & echo $i; done; echo all; sleep 60";
    for bench in [&storm, &calm] {
        std::fs::set_permissions(
            bench.folder.path(),
            std::os::unix::fs::PermissionsExt::from_mode(0o755),
        )
        .expect("a mode");
    }
    let stormy = with_processes(storm.shell(storm_script), containment.clone(), 20);
    let mut running = storm
        .start(Start {
            limits: NO_LIMITS,
            ..stormy
        })
        .await;
    let forked = || {
        storm
            .log()
            .lines()
            .filter(|line| line.parse::<u32>().is_ok())
            .count()
    };
    eventually("it is at its limit", || forked() >= 15).await;
    let calm_start = with_processes(
        calm.shell("for i in 1 2 3; do sleep 0.1 & done; wait; echo all"),
        containment,
        20,
    );
    let output = calm.output(calm_start).await;
    assert_eq!(output, "all\n", "the limit is that of one run");
    running.guard.kill().await;
    running.ended().await;
    assert!(forked() < 20, "{}", storm.log());
    assert!(!storm.log().contains("all\n"));
}

/// There the first process of the namespace is of the same user, and does not count.
#[tokio::test]
async fn a_server_that_is_not_root_bounds_processes_in_namespaces() {
    if !geteuid().is_root() {
        eprintln!("LEFT OUT: only root may start a guard as another user");
        return;
    }
    let bench = Bench::new();
    let copy = bench.path("guard-program");
    std::fs::copy(guard_program().file, &copy).expect("a copy");
    give_away(bench.folder.path());
    let guard = as_nobody(&copy);
    if !probe(&guard, None).await.expect("an answer").namespaces {
        eprintln!("LEFT OUT: this kernel gives other users no namespaces");
        return;
    }
    let containment = Containment {
        means: Means {
            namespaces: true,
            ..Means::NONE
        },
        ..Containment::default()
    };
    let script =
        "exec 2> /dev/null; sleep 60 & sleep 60 & echo three; sleep 60 & echo four; kill -9 0";
    for (processes, told) in [(4, "three\nfour\n"), (3, "three\n")] {
        let start = with_processes(bench.shell(script), containment.clone(), processes);
        let mut running = bench.start_by(&guard, start).await;
        running.ended().await;
        let log = bench.log();
        assert!(log.starts_with(told), "{processes}: {log}");
        assert_eq!(log.contains("four"), told.contains("four"), "{log}");
        std::fs::remove_file(bench.log_path()).expect("a log");
    }
}

/// The kernel does not bound the processes of root, and counts those of any other
/// user for all runs together.
#[tokio::test]
async fn processes_that_nothing_bounds_are_refused() {
    let has = probe(&guard_program(), None).await.expect("an answer");
    let all = Means {
        namespaces: has.namespaces && geteuid().is_root(),
        ..Means::NONE
    };
    for means in [Means::NONE, all] {
        let bench = Bench::new();
        let containment = Containment {
            means,
            ..Containment::default()
        };
        let start = with_processes(bench.shell("touch trace"), containment, 100);
        match prepare(start).await {
            Err(GuardError::Refused(error @ LaunchError::ProcessesUnbounded)) => {
                assert!(error.to_string().contains("maxProcesses"), "{error}");
            }
            other => panic!("{other:?}"),
        }
        assert!(!bench.path("trace").exists());
    }
}
