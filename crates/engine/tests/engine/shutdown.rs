use std::time::{Duration, Instant};

use workforce_domain::run::{RunErrorCode, RunStatus};
use workforce_domain::wake::WakeReason;

use crate::support::{House, UNTIL_GO, is_live};

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_waits_for_runs_that_are_about_to_end() {
    let house = House::new();
    let mut config = house.config();
    config.drain = Duration::from_secs(20);
    let engine = house.start_with(config);
    let run = house.invoke(house.hire_shell(UNTIL_GO)).run.id;
    house.file("ready").await;
    let closing = tokio::spawn({
        let engine = engine.clone();
        async move { engine.shutdown().await }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!closing.is_finished());
    let late = house.invoke(house.hire_shell("true")).run.id;
    house.go();
    closing.await.expect("a shutdown");
    assert_eq!(house.run(run).status, RunStatus::Succeeded);
    assert_eq!(
        house.run(late).status,
        RunStatus::Queued,
        "nothing starts any more"
    );
    assert_eq!(engine.live_runs(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_does_not_end_is_stopped_and_queued_once_more() {
    let house = House::new();
    let engine = house.start();
    let agent = house.hire_shell(&format!("trap '' TERM; {UNTIL_GO}"));
    let run = house.invoke(agent).run.id;
    let pid = house.ready_process().await;
    let start = Instant::now();
    engine.shutdown().await;
    assert!(start.elapsed() < Duration::from_secs(8));
    assert!(!is_live(pid));
    assert_eq!(house.processes(), []);
    let stopped = house.run(run);
    assert_eq!(stopped.status, RunStatus::Failed);
    assert_eq!(stopped.error_code, Some(RunErrorCode::ServerShutdown));
    let queued = house.runs(&[RunStatus::Queued]);
    assert_eq!(queued.len(), 1);
    assert_eq!(
        (queued[0].agent, queued[0].reason),
        (agent, WakeReason::ProcessLostRetry)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_grace_does_not_hold_a_shutdown_up_for_long() {
    let house = House::new();
    let engine = house.start();
    let mut config = crate::support::shell(&format!("trap '' TERM; {UNTIL_GO}"));
    config["graceSec"] = serde_json::json!(3600);
    let run = house.invoke(house.hire(config)).run.id;
    house.file("ready").await;
    engine.shutdown().await;
    assert_eq!(
        house.run(run).error_code,
        Some(RunErrorCode::ServerShutdown)
    );
}
