use std::time::Duration;

use workforce_app::runs;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::run::{RunEnd, RunErrorCode, RunOutcome, RunStatus};
use workforce_testkit::store::postgres_store;

use crate::support::{House, PATIENCE, UNTIL_GO, eventually, is_live};

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_lost_its_lease_writes_nothing_more() {
    let Some(store) = postgres_store() else {
        return;
    };
    let house = House::on(store);
    let mut config = house.config();
    config.exclusive_store = false;
    config.instance_cap = 1;
    let engine = house.start_with(config);
    let agent = house.hire_shell(&format!("trap 'echo late > late' TERM; {UNTIL_GO}"));
    let run = house.invoke(agent).run.id;
    let pid = house.ready_process().await;

    // What another server does after a lease has expired.
    let before = house.run(run);
    let lost = RunOutcome::Lost(RunErrorCode::LeaseExpired);
    let taken = RunEnd::without_exit(lost, "taken over");
    let outcome = house.act(|tx, ctx| {
        let (company, fence) = (before.scope(), before.fence);
        runs::finish(tx, ctx, company, before.id, fence, taken.clone(), None)
    });
    assert_eq!(outcome, Some(lost));
    let written = house.run(run);

    eventually("the end of its process", || (!is_live(pid)).then_some(())).await;
    eventually("the end of its task", || {
        house.processes().is_empty().then_some(())
    })
    .await;
    engine.shutdown().await;
    assert_eq!(house.run(run), written);
    assert_eq!(written.status, RunStatus::Failed);
}

#[tokio::test(flavor = "multi_thread")]
async fn leases_are_renewed_while_a_run_is_live() {
    let house = House::new();
    let mut config = house.config();
    config.lease = Duration::from_millis(600);
    let engine = house.start_with(config);
    let agent = house.hire_shell(UNTIL_GO);
    let run = house.invoke(agent).run.id;
    house.file("ready").await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(house.run(run).status, RunStatus::Running);
    house.go();
    assert_eq!(house.ended(run).await.status, RunStatus::Succeeded);
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_run_is_written_when_the_store_is_there_again() {
    let house = House::new();
    let (engine, store) = house.start_fragile(house.config());
    let agent = house.hire_shell(&format!("{UNTIL_GO}; exit 5"));
    let run = house.invoke(agent).run.id;
    let pid = house.ready_process().await;
    store.set_broken(true);
    house.go();
    eventually("the end of its process", || (!is_live(pid)).then_some(())).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(house.run(run).status, RunStatus::Running);
    let tick = engine.last_tick();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(
        engine.last_tick(),
        tick,
        "a server without a store is not ready"
    );
    store.set_broken(false);
    let run = house.ended(run).await;
    assert_eq!((run.status, run.exit_code), (RunStatus::Failed, Some(5)));
    engine.shutdown().await;
    assert_eq!(house.processes(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_to_begin_waits_for_a_store_that_is_away() {
    let house = House::new();
    let (engine, store) = house.start_fragile(house.config());
    // Between any two of the transactions with which a run begins.
    for transactions in 0..6 {
        let agent = house.hire_shell("echo begun >> begun");
        let stranger = house.new_instance();
        store.break_after_claim(stranger, transactions, Duration::from_millis(400));
        let run = house.invoke(agent).run.id;
        let run = house.ended(run).await;
        let end = (run.status, run.error_code, &run.error);
        assert_eq!(
            end,
            (RunStatus::Succeeded, None, &None),
            "after {transactions}"
        );
    }
    let begun = std::fs::read_to_string(house.path("begun")).unwrap();
    assert_eq!(begun.lines().count(), 6);
    engine.shutdown().await;
    assert_eq!(house.processes(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_for_the_store_is_queued_again_when_its_server_stops() {
    let house = House::new();
    let (engine, store) = house.start_fragile(house.config());
    let agent = house.hire_shell("echo begun >> begun");
    store.break_after_claim(house.new_instance(), 0, PATIENCE);
    let run = house.invoke(agent).run.id;
    eventually("its claim", || {
        (house.run(run).status == RunStatus::Running).then_some(())
    })
    .await;
    let mended = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        store.mend();
    };
    tokio::join!(engine.shutdown(), mended);
    let ended = house.run(run);
    assert_eq!(ended.error_code, Some(RunErrorCode::ServerShutdown));
    let queued = house.runs(&[RunStatus::Queued]);
    assert_eq!(queued.len(), 1, "{queued:?}");
    assert!(!house.path("begun").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_lease_cannot_be_renewed_is_gone_before_another_server_may_have_it() {
    let house = House::new();
    let mut config = house.config();
    config.exclusive_store = false;
    config.lease = Duration::from_secs(2);
    let (engine, store) = house.start_fragile(config);
    let agent = house.hire_shell(&format!("trap '' TERM; {UNTIL_GO}"));
    let run = house.invoke(agent).run.id;
    let pid = house.ready_process().await;
    store.set_broken(true);
    eventually("the end of its process", || (!is_live(pid)).then_some(())).await;
    let left = house.run(run);
    assert!(left.lease_expires_at > Some(house.ports.clock.now()));
    assert_eq!(left.status, RunStatus::Running);
    house.go();
    store.set_broken(false);
    let ended = house.ended(run).await;
    assert_eq!(ended.error_code, Some(RunErrorCode::LeaseExpired));
    engine.shutdown().await;
}
