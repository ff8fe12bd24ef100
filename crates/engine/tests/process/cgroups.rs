//! Runs in a cgroup of their own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use workforce_domain::run::RunErrorCode;
use workforce_guard::client::probe;
use workforce_guard::leftovers::{end_by_force, is_gone};
use workforce_guard::{Containment, Ending, Means, Start};

use crate::support::{Bench, eventually, guard_program, is_live, is_reaped, pids_in};

const ALONE: Means = Means {
    cgroup: true,
    ..Means::NONE
};

/// Tests with cgroups together with each other means that this kernel has.
async fn with_each(test: impl AsyncFn(Bench, Means)) {
    let has = probe(&guard_program(), None).await.expect("an answer");
    if !has.cgroup {
        eprintln!("LEFT OUT: no cgroup is left to this user");
        return;
    }
    let namespaces = Means {
        namespaces: true,
        ..ALONE
    };
    let rules = Means {
        files: true,
        ..ALONE
    };
    for (means, is_there) in [
        (ALONE, true),
        (namespaces, has.namespaces),
        (rules, has.files),
    ] {
        match is_there {
            true => test(Bench::new(), means).await,
            false => eprintln!("LEFT OUT: this kernel does not give {:?}", means.names()),
        }
    }
}

fn contained(start: Start, means: Means) -> Start {
    let containment = Containment {
        means,
        ..Containment::default()
    };
    Start {
        containment,
        ..start
    }
}

/// Where the cgroup of a run is, by what its guard noted.
fn cgroup(bench: &Bench) -> PathBuf {
    let noted = std::fs::read_to_string(bench.path("guard/cgroup"));
    noted.expect("a cgroup").into()
}

fn pids(cgroup: &Path) -> Vec<i32> {
    let pids = std::fs::read_to_string(cgroup.join("program/cgroup.procs"));
    let pids = pids.unwrap_or_default();
    pids.lines().filter_map(|pid| pid.parse().ok()).collect()
}

#[tokio::test]
async fn a_run_is_in_its_cgroup_to_the_end_which_is_that_of_both() {
    with_each(async |bench, means| {
        let script = "
            trap '' TERM
            (setsid env -i setsid sh -c 'trap \"\" TERM; exec sleep 300' > /dev/null 2>&1 &)
            echo ready; while :; do sleep 0.02; done";
        let mut start = contained(bench.shell(script), means);
        start.limits.grace = Duration::from_millis(100);
        let mut running = bench.start(start).await;
        eventually("it is ready", || bench.log().contains("ready")).await;
        let cgroup = cgroup(&bench);
        eventually("both are in it", || pids(&cgroup).len() >= 2).await;
        let inside = pids(&cgroup);
        assert!(
            !inside.contains(&running.identity.pid),
            "the guard is outside"
        );
        running.guard.stop(RunErrorCode::CancelRequested).await;
        let report = running.ended().await;
        let ended_by = Ending::Stopped(RunErrorCode::CancelRequested);
        assert_eq!(report.ended_by, ended_by, "{means:?}");
        assert!(inside.iter().all(|&pid| !is_live(pid)), "{means:?}");
        assert!(!cgroup.exists(), "{means:?}");
    })
    .await;
}

#[tokio::test]
async fn a_run_cannot_leave_its_cgroup_where_it_is_contained() {
    with_each(async |bench, means| {
        if means == ALONE {
            return;
        }
        let script = "
            own=$(sed -n 's/^0:://p' /proc/self/cgroup)
            for procs in $(find /sys/fs/cgroup -maxdepth 3 -name cgroup.procs 2> /dev/null); do
                case $(stat -f -c %T $procs) in cgroup2fs) ;; *) continue ;; esac
                (echo $$ > $procs) 2> /dev/null && echo left by $procs
            done
            mkdir /tmp/cgroup-$$ && unshare -m mount -t cgroup2 none /tmp/cgroup-$$ \
                2> /dev/null && echo mounted
            rmdir /tmp/cgroup-$$
            [ $own = $(sed -n 's/^0:://p' /proc/self/cgroup) ] && echo same
            case $own in */workforce-*/program) echo inside ;; *) echo $own ;; esac";
        let output = bench.output(contained(bench.shell(script), means)).await;
        assert_eq!(output, "same\ninside\n", "{means:?}");
    })
    .await;
}

/// Neither its group nor its mark leads to a process that took both off.
#[tokio::test]
async fn whatever_a_run_left_is_found_in_its_cgroup_when_its_guard_is_gone() {
    with_each(async |bench, means| {
        if means != ALONE {
            return;
        }
        let script = "
            (setsid env -i sh -c 'trap \"\" TERM; echo $$ >> pids; exec sleep 300' &)
            echo $$ >> pids; wait; sleep 300";
        let child = bench.start(contained(bench.shell(script), means)).await;
        let left = pids_in(&bench.path("pids"), 2).await;
        let cgroup = cgroup(&bench);
        kill(Pid::from_raw(child.identity.pid), Signal::SIGKILL).expect("its end");
        eventually("the guard is gone", || is_reaped(child.identity.pid)).await;
        eventually("the program is gone", || !is_live(child.program())).await;
        assert!(left.iter().any(|&pid| is_live(pid)), "one is left");
        let files = bench.files();
        assert!(!is_gone(child.identity, child.run, &files).expect("a look"));
        assert!(end_by_force(child.identity, child.run, &files).await);
        assert!(left.iter().all(|&pid| !is_live(pid)));
        assert!(!cgroup.exists());
        assert!(is_gone(child.identity, child.run, &files).expect("a look"));
    })
    .await;
}

#[tokio::test]
async fn a_run_that_never_started_leaves_no_cgroup() {
    with_each(async |bench, means| {
        let start = contained(bench.spec("no-such-program", &[]), means);
        assert!(crate::support::prepare(start).await.is_err());
        let waits = contained(bench.shell("true"), means);
        let waiting = Bench::new();
        let waits = Start {
            folder: waiting.path("guard"),
            ..waits
        };
        let prepared = crate::support::prepare(waits).await.expect("a guard");
        drop(prepared);
        for cgroup in [cgroup(&bench), cgroup(&waiting)] {
            eventually("its cgroup is gone", || !cgroup.exists()).await;
        }
    })
    .await;
}

/// Another path in that file is not the cgroup of the run.
#[tokio::test]
async fn only_a_cgroup_of_the_run_is_ended_with_it() {
    with_each(async |bench, means| {
        let child = bench
            .start(contained(bench.shell("exec sleep 300"), means))
            .await;
        let other = Bench::new();
        std::fs::create_dir(other.path("guard")).expect("a folder");
        let noted = cgroup(&bench);
        std::fs::write(other.path("guard/cgroup"), noted.display().to_string()).expect("a file");
        let run = crate::support::new_run();
        let mut identity = child.identity;
        identity.start_ticks -= 100;
        assert!(end_by_force(identity, run, &other.files()).await);
        assert!(is_live(child.program()), "{means:?}");
        assert!(end_by_force(child.identity, child.run, &bench.files()).await);
    })
    .await;
}
