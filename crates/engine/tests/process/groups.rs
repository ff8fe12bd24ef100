use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use workforce_engine::process::{EndedBy, Exit, ProcessGroup, ProcessIdentity, RunTag};

use crate::support::{Bench, NO_LIMITS, eventually, is_live, new_run, pids_in};

#[tokio::test]
async fn whatever_a_leader_leaves_behind_is_gone_when_supervision_returns() {
    let bench = Bench::new();
    // One ignores the polite signal, one leaves the session, one does both,
    // one leaves the group and takes off the tag.
    let script = "
        (trap '' TERM; exec sleep 60) & echo $! >> pids
        setsid sh -c 'echo $$ >> pids; exec sleep 60' &
        setsid sh -c 'trap \"\" TERM; echo $$ >> pids; exec sleep 60' &
        set -m
        env -i sleep 60 & echo $! >> pids
        while [ $(wc -l < pids) -lt 4 ]; do sleep 0.01; done
    ";
    let child = bench.start(bench.shell(script)).await;
    let pids = pids_in(&bench.path("pids"), 4).await;
    let outcome = bench.supervise(child, NO_LIMITS).await;

    assert_eq!(outcome.exit, Some(Exit::Code(0)));
    assert_eq!(outcome.ended_by, EndedBy::Itself);
    assert!(outcome.group_empty);
    for pid in pids {
        assert!(!is_live(pid), "{pid} is still there");
    }
}

#[tokio::test]
async fn who_becomes_one_program_after_another_is_found() {
    let bench = Bench::new();
    let again = bench.path("again");
    std::fs::write(&again, "#!/bin/sh\nexec ./again\n").expect("a file");
    std::fs::set_permissions(&again, PermissionsExt::from_mode(0o755)).expect("a mode");
    let script = "setsid sh -c 'echo $$ >> pids; exec ./again' & echo $$ >> pids; wait";

    for _ in 0..5 {
        let child = bench.start(bench.shell(script)).await;
        let pids = pids_in(&bench.path("pids"), 2).await;
        assert!(child.group().end(NO_LIMITS.grace).await);
        assert!(pids.iter().all(|&pid| !is_live(pid)));
        std::fs::remove_file(bench.path("pids")).expect("a file");
    }
}

#[tokio::test]
async fn a_leader_without_descendants_is_not_waited_for() {
    let bench = Bench::new();
    let mut limits = NO_LIMITS;
    limits.grace = Duration::from_secs(60);
    let start = Instant::now();
    let outcome = bench.run(bench.shell("echo done"), limits).await;
    assert!(outcome.group_empty);
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn output_held_open_by_somebody_unknown_does_not_hold_up_the_end() {
    let bench = Bench::new();
    let script = "env -i setsid sleep 3 & echo started";
    let start = Instant::now();
    let outcome = bench.run(bench.shell(script), NO_LIMITS).await;
    assert!(start.elapsed() < Duration::from_millis(2500));
    assert_eq!(bench.log(), "started\n");
    assert!(outcome.group_empty);
}

#[tokio::test]
async fn a_child_that_is_dropped_is_killed_with_its_descendants() {
    let bench = Bench::new();
    let script = "setsid sh -c 'echo $$ >> pids; exec sleep 60' & echo $$ >> pids; wait";
    let child = bench.start(bench.shell(script)).await;
    let pids = pids_in(&bench.path("pids"), 2).await;
    assert!(pids.iter().all(|&pid| is_live(pid)));
    drop(child);
    eventually("all are gone", || pids.iter().all(|&pid| !is_live(pid))).await;
}

#[tokio::test]
async fn supervision_that_is_dropped_kills() {
    let bench = Bench::new();
    let child = bench.start(bench.shell("exec sleep 60")).await;
    let pid = child.identity().pid;
    let supervision = bench.supervise(child, NO_LIMITS);
    let given_up = tokio::time::timeout(Duration::from_millis(100), supervision).await;
    assert!(given_up.is_err());
    eventually("it is gone", || !is_live(pid)).await;
}

#[tokio::test]
async fn a_leftover_is_killed_by_the_identity_of_its_leader() {
    let bench = Bench::new();
    let child = bench.start(bench.shell("trap '' TERM; sleep 60")).await;
    let identity = child.identity();
    assert!(
        ProcessGroup::new(identity, RunTag::from(new_run()))
            .end(Duration::ZERO)
            .await
    );
    assert!(!is_live(identity.pid));
}

#[tokio::test]
async fn a_process_that_was_given_a_used_id_is_left_alone() {
    let bench = Bench::new();
    let child = bench.start(bench.shell("exec sleep 60")).await;
    let identity = child.identity();
    for start_ticks in [identity.start_ticks - 100, identity.start_ticks + 100] {
        let stale = ProcessIdentity {
            start_ticks,
            ..identity
        };
        assert!(
            ProcessGroup::new(stale, RunTag::from(new_run()))
                .end(Duration::ZERO)
                .await
        );
        assert!(is_live(identity.pid), "it is not the one that was recorded");
    }
}

#[tokio::test]
async fn a_leftover_whose_leader_is_gone_is_found_by_its_tag() {
    let bench = Bench::new();
    let spec = bench.shell("(trap '' TERM; sleep 60) & echo $! >> pids; wait");
    let tag = spec.tag.clone();
    let child = bench.start(spec).await;
    let pids = pids_in(&bench.path("pids"), 1).await;
    let gone = ProcessIdentity {
        start_ticks: child.identity().start_ticks - 100,
        ..child.identity()
    };

    assert!(
        !ProcessGroup::new(gone, tag.clone())
            .is_empty()
            .expect("a look")
    );
    assert!(
        ProcessGroup::new(gone, tag.clone())
            .end(Duration::ZERO)
            .await
    );

    assert!(!is_live(pids[0]));
    assert!(ProcessGroup::new(gone, tag).is_empty().expect("a look"));
}
