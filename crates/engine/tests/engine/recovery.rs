use std::time::Duration;

use workforce_domain::actor::CompanyOwned;
use workforce_domain::run::{RunErrorCode, RunStatus};
use workforce_domain::wake::WakeReason;
use workforce_testkit::store::{postgres_store, sqlite_store};

use crate::support::{House, Stray, eventually};
use crate::tickets::site::Site;

const A_MINUTE: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn what_a_dead_server_left_is_killed_failed_and_tried_once_more() {
    let house = House::new();
    let agent = house.hire_shell("echo again");
    house.invoke(agent);
    let dead = house.new_instance();
    let lost = house.claim_as(dead, A_MINUTE).run;
    let stray = Stray::of(lost.id);
    house.record(dead, lost.id, &stray);
    let logs = house.path(&format!("data/runs/{}", house.company));
    std::fs::create_dir_all(&logs).expect("a folder");
    std::fs::write(logs.join(format!("{}.log", lost.id)), "so far\n").expect("a log");

    let engine = house.start_after(&[dead], true);
    let runs = eventually("a second run", || {
        Some(house.runs(&[RunStatus::Succeeded])).filter(|runs| !runs.is_empty())
    })
    .await;
    assert!(!stray.is_live());
    assert_eq!(house.processes(), []);
    let lost = house.run(lost.id);
    assert_eq!(lost.status, RunStatus::Failed);
    assert_eq!(lost.error_code, Some(RunErrorCode::ProcessLost));
    assert_eq!(
        (lost.log_bytes, lost.log_tail.as_deref()),
        (7, Some("so far\n"))
    );
    assert_eq!(runs.len(), 1);
    assert_eq!(
        (runs[0].agent, runs[0].reason),
        (agent, WakeReason::ProcessLostRetry)
    );
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_lost_again_before_it_began_waits_for_a_while() {
    let house = House::new();
    let agent = house.hire_shell("true");
    house.invoke(agent);
    house.claim_as(house.new_instance(), A_MINUTE);
    let mut config = house.config();
    // Lets the retry be claimed by a server that dies too.
    config.instance_cap = 0;
    let engine = house.start_with(config);
    eventually("the retry", || {
        Some(house.runs(&[RunStatus::Queued])).filter(|runs| !runs.is_empty())
    })
    .await;
    engine.shutdown().await;
    let retry = house.claim_as(house.new_instance(), A_MINUTE).run;
    assert_eq!(retry.reason, WakeReason::ProcessLostRetry);

    let engine = house.start();
    assert_eq!(
        house.ended(retry.id).await.error_code,
        Some(RunErrorCode::ProcessLost)
    );
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(house.runs(&[]).len(), 3);
    let waiting = house.runs(&[RunStatus::Queued]).remove(0);
    assert_eq!(waiting.reason, WakeReason::ProcessLostRetry);
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_not_the_runs_is_left_alone() {
    let house = House::new();
    let agent = house.hire_shell("true");
    house.invoke(agent);
    let dead = house.new_instance();
    let lost = house.claim_as(dead, A_MINUTE).run;
    // The id of the run's process was given to another one since.
    let other = Stray::of(house.ports.ids.next().into());
    house.record(dead, lost.id, &other);
    let mut record = house.processes().remove(0);
    record.start_ticks -= 1;
    house.act(|tx, _| {
        tx.engine_mut().delete_process(lost.scope(), lost.id)?;
        Ok::<_, workforce_app::Failure<()>>(tx.engine_mut().record_process(&record)?)
    });
    let engine = house.start_after(&[dead], true);
    assert_eq!(
        house.ended(lost.id).await.error_code,
        Some(RunErrorCode::ProcessLost)
    );
    assert!(other.is_live());
    // The retry may have a process of its own by now.
    assert!(
        house
            .processes()
            .iter()
            .all(|process| process.run != lost.id)
    );
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_copy_of_a_store_the_processes_of_the_original_go_on() {
    let house = House::new();
    house.invoke(house.hire_shell("true"));
    let original = house.new_instance();
    let copied = house.claim_as(original, A_MINUTE).run;
    let stray = Stray::of(copied.id);
    house.record(original, copied.id, &stray);

    let engine = house.start();
    let copied = house.ended(copied.id).await;
    assert_eq!(copied.error_code, Some(RunErrorCode::ProcessLost));
    assert!(stray.is_live());
    assert!(
        house
            .processes()
            .iter()
            .all(|process| process.run != copied.id)
    );
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_shared_store_a_server_takes_over_only_what_another_lost() {
    let Some(store) = postgres_store() else {
        return;
    };
    let house = House::on(store);
    let (alive, dead) = (house.new_instance(), house.new_instance());
    house.invoke(house.hire_shell("true"));
    let kept = house.claim_as(alive, A_MINUTE).run;
    let its_child = Stray::of(kept.id);
    house.record(alive, kept.id, &its_child);
    let lost_agent = house.hire_shell("true");
    house.invoke(lost_agent);
    let lost = house.claim_as(dead, Duration::from_millis(1500)).run;
    let stray = Stray::of(lost.id);
    house.record(dead, lost.id, &stray);

    let mut config = house.config();
    config.exclusive_store = false;
    let engine = house.start_with(config);
    eventually("a look at the store", || engine.last_tick()).await;
    assert_eq!(
        house.run(lost.id).status,
        RunStatus::Running,
        "its lease has not ended yet"
    );
    assert!(stray.is_live());

    let ended = house.ended(lost.id).await;
    assert_eq!(ended.error_code, Some(RunErrorCode::LeaseExpired));
    assert!(!stray.is_live());
    let retried = eventually("the second attempt", || {
        house.runs(&[RunStatus::Succeeded]).into_iter().next()
    })
    .await;
    assert_eq!(
        (retried.agent, retried.reason),
        (lost_agent, WakeReason::ProcessLostRetry)
    );
    assert_eq!(house.run(kept.id).status, RunStatus::Running);
    assert!(its_child.is_live());
    let recorded: Vec<_> = house
        .processes()
        .iter()
        .map(|process| process.run)
        .collect();
    assert_eq!(recorded, [kept.id]);
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_shared_store_a_predecessor_is_cleared_away_before_its_lease_ends() {
    let Some(store) = postgres_store() else {
        return;
    };
    let house = House::on(store);
    let (alive, dead) = (house.new_instance(), house.new_instance());
    house.invoke(house.hire_shell("true"));
    let kept = house.claim_as(alive, A_MINUTE).run;
    let its_child = Stray::of(kept.id);
    house.record(alive, kept.id, &its_child);
    house.invoke(house.hire_shell("true"));
    let lost = house.claim_as(dead, A_MINUTE).run;
    let stray = Stray::of(lost.id);
    house.record(dead, lost.id, &stray);
    house.invoke(house.hire_shell("true"));
    let without_process = house.claim_as(dead, A_MINUTE).run;

    let mut config = house.config();
    config.exclusive_store = false;
    config.predecessors = vec![dead];
    let engine = house.start_with(config);
    engine.recovered().await;
    for run in [lost, without_process] {
        let ended = house.run(run.id);
        assert_eq!(ended.error_code, Some(RunErrorCode::ProcessLost));
    }
    assert!(!stray.is_live());
    eventually("the second attempts", || {
        (house.runs(&[RunStatus::Succeeded]).len() == 2).then_some(())
    })
    .await;
    assert_eq!(house.run(kept.id).status, RunStatus::Running);
    assert!(its_child.is_live());
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_let_into_what_a_predecessor_held_and_not_into_what_another_server_holds() {
    for store in [Some(sqlite_store()), postgres_store()]
        .into_iter()
        .flatten()
    {
        let mut site = Site::delivered(store).await;
        let (gone, another) = (site.house.config().instance, site.house.config().instance);
        assert_ne!(gone, another);
        let later = site.house.ports.clock.now().plus(Duration::from_hours(1));
        for (server, is_over) in [(another, false), (gone, true)] {
            site.adjust(|record, _| {
                record.held_until = Some(later);
                record.held_by = Some(server);
            });
            site.restart(|config| config.predecessors = vec![gone])
                .await;
            site.engine().recovered().await;
            assert_eq!(site.record().held_until.is_none(), is_over);
        }
        site.close().await;
    }
}
