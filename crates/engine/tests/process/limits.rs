use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::sleep;
use workforce_engine::process::{ActivityClock, EndedBy, Exit, Limits, OutputSinks, supervise};

use crate::support::{Bench, NO_LIMITS, is_live};

const SOON: Option<Duration> = Some(Duration::from_millis(300));

#[tokio::test]
async fn the_wall_limit_ends_a_run_that_keeps_talking() {
    let bench = Bench::new();
    let child = bench
        .start(bench.shell("while :; do echo x; sleep 0.02; done"))
        .await;
    let pid = child.identity().pid;
    let limits = Limits {
        wall: SOON,
        idle: SOON,
        ..NO_LIMITS
    };
    let outcome = bench.supervise(child, limits).await;
    assert_eq!(outcome.ended_by, EndedBy::WallLimit);
    assert_eq!(outcome.exit, Some(Exit::Signal(15)));
    assert!(outcome.group_empty);
    assert!(!is_live(pid));
}

#[tokio::test]
async fn the_idle_limit_ends_a_silent_run() {
    let bench = Bench::new();
    let limits = Limits {
        idle: SOON,
        ..NO_LIMITS
    };
    let outcome = bench
        .run(bench.shell("echo x; exec sleep 60"), limits)
        .await;
    assert_eq!(outcome.ended_by, EndedBy::IdleLimit);
    assert_eq!(outcome.exit, Some(Exit::Signal(15)));
}

#[tokio::test]
async fn output_on_either_stream_counts_as_life() {
    let bench = Bench::new();
    let limits = Limits {
        idle: SOON,
        ..NO_LIMITS
    };
    let script = "for i in 1 2 3 4 5 6; do echo x; sleep 0.1; echo y >&2; sleep 0.05; done";
    let outcome = bench.run(bench.shell(script), limits).await;
    assert_eq!(outcome.ended_by, EndedBy::Itself);
    assert_eq!(outcome.exit, Some(Exit::Code(0)));
}

#[tokio::test]
async fn a_touch_counts_as_life() {
    let bench = Bench::new();
    let limits = Limits {
        idle: SOON,
        ..NO_LIMITS
    };
    let activity = Arc::new(ActivityClock::new());
    let calls = tokio::spawn({
        let activity = Arc::clone(&activity);
        async move {
            loop {
                sleep(Duration::from_millis(50)).await;
                activity.touch();
            }
        }
    });
    let child = bench.start(bench.shell("sleep 0.9")).await;
    let outcome = bench.supervise_with(child, limits, activity).await;
    calls.abort();
    assert_eq!(outcome.ended_by, EndedBy::Itself);
}

#[tokio::test]
async fn who_ends_politely_within_the_grace_period_is_let() {
    let bench = Bench::new();
    let limits = Limits {
        wall: SOON,
        idle: None,
        grace: Duration::from_secs(30),
    };
    let script = "trap 'sleep 0.2; echo bye; exit 7' TERM; while :; do sleep 0.02; done";
    let start = Instant::now();
    let outcome = bench.run(bench.shell(script), limits).await;
    assert_eq!(outcome.exit, Some(Exit::Code(7)));
    // The shell may also tell of the child it lost.
    assert!(bench.log().ends_with("bye\n"));
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn who_does_not_is_killed_after_it() {
    let bench = Bench::new();
    let limits = Limits {
        wall: SOON,
        ..NO_LIMITS
    };
    let script = "trap 'echo no' TERM; while :; do sleep 0.02; done";
    let start = Instant::now();
    let outcome = bench.run(bench.shell(script), limits).await;
    assert_eq!(outcome.exit, Some(Exit::Signal(9)));
    assert_eq!(bench.log().matches("no\n").count(), 1, "it was asked, once");
    assert!(start.elapsed() >= Duration::from_millis(600));
}

#[tokio::test]
async fn a_run_that_is_asked_to_stop_stops_for_that_reason() {
    let bench = Bench::new();
    let child = bench.start(bench.shell("exec sleep 60")).await;
    let (sender, stop) = watch::channel(None);
    let sinks = OutputSinks {
        log: bench.run_log(),
        scrub: None,
        on_stdout: &mut |_| (),
    };
    let asking = async {
        sleep(Duration::from_millis(50)).await;
        sender.send_replace(Some("cancelled"));
    };
    let supervision = supervise(child, NO_LIMITS, sinks, Arc::default(), stop);
    let (outcome, ()) = tokio::join!(supervision, asking);
    assert_eq!(outcome.ended_by, EndedBy::Stopped("cancelled"));
    assert!(outcome.group_empty);
}

#[tokio::test]
async fn a_stop_nobody_can_ask_for_any_more_never_comes() {
    let bench = Bench::new();
    let outcome = bench.run(bench.shell("sleep 0.1; exit 4"), NO_LIMITS).await;
    assert_eq!(outcome.ended_by, EndedBy::Itself);
    assert_eq!(outcome.exit, Some(Exit::Code(4)));
}
