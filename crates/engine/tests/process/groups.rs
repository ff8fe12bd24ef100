use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use workforce_guard::client::{Found, find};
use workforce_guard::leftovers::end_by_force;
use workforce_guard::{Ending, Exit, ProcessGroup, ProcessIdentity, RunTag};

use crate::support::{Bench, NO_LIMITS, eventually, is_live, is_reaped, new_run, pids_in};

#[tokio::test]
async fn whatever_a_leader_leaves_behind_is_gone_when_supervision_returns() {
    let bench = Bench::new();
    // One ignores the polite signal, one leaves the session, one does both,
    // one leaves the group and takes off the tag, one leaves everything.
    let script = "
        (trap '' TERM; exec sleep 60) & echo $! >> pids
        setsid sh -c 'echo $$ >> pids; exec sleep 60' &
        setsid sh -c 'trap \"\" TERM; echo $$ >> pids; exec sleep 60' &
        (setsid env -i sh -c 'trap \"\" TERM; echo $$ >> pids; exec sleep 60' &)
        set -m
        env -i sleep 60 & echo $! >> pids
        while [ $(wc -l < pids) -lt 5 ]; do sleep 0.01; done
    ";
    let mut child = bench.start(bench.shell(script)).await;
    let pids = pids_in(&bench.path("pids"), 5).await;
    let outcome = child.ended().await;

    assert_eq!(outcome.exit, Some(Exit::Code(0)));
    assert_eq!(outcome.ended_by, Ending::Itself);
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
        let mut child = bench.start(bench.shell(script)).await;
        let pids = pids_in(&bench.path("pids"), 2).await;
        child.guard.kill().await;
        child.ended().await;
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
    bench.run(bench.shell("echo done"), limits).await;
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn who_holds_the_output_open_does_not_outlive_the_run() {
    let bench = Bench::new();
    let script = "(env -i setsid sleep 60 &) ; echo started";
    let start = Instant::now();
    bench.run(bench.shell(script), NO_LIMITS).await;
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(bench.log(), "started\n");
}

#[tokio::test]
async fn a_guard_that_is_killed_takes_its_program_along_and_the_rest_is_found() {
    let bench = Bench::new();
    let script = "setsid sh -c 'echo $$ >> pids; exec sleep 60' & echo $$ >> pids; wait";
    let mut child = bench.start(bench.shell(script)).await;
    let pids = pids_in(&bench.path("pids"), 2).await;
    assert!(pids.iter().all(|&pid| is_live(pid)));
    kill(Pid::from_raw(child.identity.pid), Signal::SIGKILL).expect("its end");
    assert_eq!(child.guard.ended().await, None);
    eventually("the program is gone", || !is_live(child.program())).await;
    assert!(end_by_force(child.identity, child.run, &bench.files()).await);
    assert!(pids.iter().all(|&pid| !is_live(pid)));
    assert!(matches!(
        find(&bench.files(), child.run, 1).await,
        Found::Gone
    ));
}

#[tokio::test]
async fn a_guard_that_is_frozen_is_found_gone_and_ends_by_force() {
    let bench = Bench::new();
    let child = bench.start(bench.shell("exec sleep 60")).await;
    kill(Pid::from_raw(child.identity.pid), Signal::SIGSTOP).expect("its rest");
    assert!(matches!(
        find(&bench.files(), child.run, 1).await,
        Found::Gone
    ));
    assert!(end_by_force(child.identity, child.run, &bench.files()).await);
    assert!(!is_live(child.identity.pid));
    assert!(!is_live(child.program()));
}

#[tokio::test]
async fn a_process_that_was_given_a_used_id_is_left_alone() {
    let bench = Bench::new();
    let child = bench.start(bench.shell("exec sleep 60")).await;
    for difference in [-100, 100] {
        let stale = ProcessIdentity {
            start_ticks: child.identity.start_ticks + difference,
            ..child.identity
        };
        assert!(end_by_force(stale, new_run(), &bench.files()).await);
        assert!(is_live(child.identity.pid), "it is not the one on record");
        assert!(is_live(child.program()), "it is not the one on record");
    }
}

#[tokio::test]
async fn a_leftover_whose_guard_is_gone_is_found_by_its_tag() {
    let bench = Bench::new();
    let script = "(trap '' TERM; exec setsid sleep 60) & echo $! >> pids; wait";
    let child = bench.start(bench.shell(script)).await;
    let pids = pids_in(&bench.path("pids"), 1).await;
    kill(Pid::from_raw(child.identity.pid), Signal::SIGKILL).expect("its end");
    eventually("the guard is gone", || is_reaped(child.identity.pid)).await;
    let group = ProcessGroup::new(child.identity, RunTag::from(child.run));

    assert!(!group.is_empty().expect("a look"));
    assert!(group.end(Duration::ZERO).await);

    assert!(!is_live(pids[0]));
    assert!(group.is_empty().expect("a look"));
}

/// The guard stays when nobody is connected, and the next server finds it.
#[tokio::test]
async fn a_run_whose_server_is_gone_goes_on_and_is_found() {
    let bench = Bench::new();
    let mut start =
        bench.shell("echo one; while [ ! -e go ]; do sleep 0.01; done; echo two; exit 3");
    start.memo = serde_json::json!({ "kept": [1, 2] });
    start.secrets = vec!["hush-hush".into()];
    let (run, fence) = (start.run, start.fence);
    let first = bench.start(start).await;
    let identity = first.identity;
    let other = find(&bench.files(), new_run(), fence).await;
    assert!(
        matches!(other, Found::Gone),
        "it is the guard of another run"
    );

    let Found::Alive(mut guard, description) = find(&bench.files(), run, fence).await else {
        panic!("the guard lives");
    };
    assert_eq!(description.identity, identity);
    assert_eq!(description.memo, serde_json::json!({ "kept": [1, 2] }));
    assert_eq!(description.secrets, ["hush-hush"]);
    std::fs::write(bench.path("go"), "").expect("a file");
    let report = guard.ended().await.expect("a report");
    assert_eq!(
        (report.ended_by, report.exit),
        (Ending::Itself, Some(Exit::Code(3)))
    );
    assert_eq!(bench.log(), "one\ntwo\n");
    drop(first);

    eventually("the guard is gone", || is_reaped(identity.pid)).await;
    match find(&bench.files(), run, fence).await {
        Found::Ended(found) => assert_eq!(*found, report),
        other => panic!("{other:?}"),
    }
    assert!(matches!(
        find(&bench.files(), run, fence + 1).await,
        Found::Gone
    ));
}
