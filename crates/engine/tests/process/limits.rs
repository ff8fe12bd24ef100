use std::time::{Duration, Instant};

use tokio::time::sleep;
use workforce_domain::run::RunErrorCode;
use workforce_guard::{Ending, Exit, Limits, Start};

use crate::support::{Bench, NO_LIMITS, eventually, is_live};

const SOON: Option<Duration> = Some(Duration::from_millis(300));

#[tokio::test]
async fn the_wall_limit_ends_a_run_that_keeps_talking() {
    let bench = Bench::new();
    let mut start = bench.shell("while :; do echo x; sleep 0.02; done");
    start.limits = Limits {
        wall: SOON,
        idle: SOON,
        ..NO_LIMITS
    };
    let mut running = bench.start(start).await;
    let report = running.ended().await;
    assert_eq!(report.ended_by, Ending::WallLimit);
    assert_eq!(report.exit, Some(Exit::Signal(15)));
    assert!(!is_live(running.program()));
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
    assert_eq!(outcome.ended_by, Ending::IdleLimit);
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
    assert_eq!(outcome.ended_by, Ending::Itself);
    assert_eq!(outcome.exit, Some(Exit::Code(0)));
}

#[tokio::test]
async fn a_touch_counts_as_life() {
    let bench = Bench::new();
    let mut start = bench.shell("sleep 0.9");
    start.limits.idle = SOON;
    let mut running = bench.start(start).await;
    let report = loop {
        tokio::select! {
            report = running.guard.ended() => break report,
            () = sleep(Duration::from_millis(50)) => running.guard.touch().await,
        }
    };
    assert_eq!(report.map(|report| report.ended_by), Some(Ending::Itself));
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
    let mut running = bench.start(bench.shell("exec sleep 60")).await;
    running.guard.stop(RunErrorCode::CancelRequested).await;
    running.guard.stop(RunErrorCode::BudgetExhausted).await;
    let report = running.ended().await;
    let first = Ending::Stopped(RunErrorCode::CancelRequested);
    assert_eq!(report.ended_by, first);
    assert_eq!(bench.files().report().expect("a file"), Some(report));
}

#[tokio::test]
async fn a_run_that_is_killed_has_no_grace() {
    let bench = Bench::new();
    let mut start = bench.shell("trap '' TERM; touch ready; while :; do sleep 0.02; done");
    start.limits.grace = Duration::from_secs(60);
    let mut running = bench.start(start).await;
    eventually("it is deaf", || bench.path("ready").exists()).await;
    running.guard.stop(RunErrorCode::ServerShutdown).await;
    running.guard.kill().await;
    let report = running.ended().await;
    assert_eq!(
        report.ended_by,
        Ending::Stopped(RunErrorCode::ServerShutdown)
    );
}

#[tokio::test]
async fn a_run_without_a_server_ends_when_its_patience_does() {
    let bench = Bench::new();
    let start = Start {
        patience: Duration::from_millis(500),
        ..bench.shell("exec sleep 60")
    };
    let mut running = bench.start(start).await;
    let program = running.program();
    for _ in 0..5 {
        sleep(Duration::from_millis(200)).await;
        running.guard.renew(Duration::from_millis(500)).await;
    }
    assert!(is_live(program), "a server renewed its lease");
    let report = running.ended().await;
    assert_eq!(report.ended_by, Ending::Abandoned);
    assert!(!is_live(program));
}
