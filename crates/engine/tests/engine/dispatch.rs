use std::time::Duration;

use serde_json::json;
use workforce_app::activity_log::document;
use workforce_domain::id::CompanyId;
use workforce_domain::run::{RunErrorCode, RunStatus};
use workforce_testkit::store::postgres_store;

use crate::support::{House, UNTIL_GO, a_company, act, eventually, shared, shell};

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_ends_well_is_a_run_that_succeeded() {
    let house = House::new();
    let engine = house.start();
    let agent = house.hire_shell("echo out; echo err >&2");
    let run = house.ended(house.invoke(agent).run.id).await;
    assert_eq!((run.status, run.exit_code), (RunStatus::Succeeded, Some(0)));
    assert_eq!((run.error_code, run.error), (None, None));
    assert_eq!(run.log_bytes, 8);
    let mut lines: Vec<_> = run
        .log_tail
        .as_deref()
        .unwrap_or_default()
        .lines()
        .collect();
    lines.sort_unstable();
    assert_eq!(lines, ["err", "out"]);
    assert_eq!(house.log(run.id).len(), 8);
    assert_eq!(house.processes(), []);
    assert!(engine.last_tick().is_some());
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shell_reads_the_command_where_the_board_asks_for_one() {
    let house = House::new();
    let engine = house.start();
    let line = r#"echo "$1 and $2" > told && cat < told"#;
    let config = json!({ "command": line, "args": ["a b", "$HOME"], "shell": true });
    let run = house.ended(house.invoke(house.hire(config)).run.id).await;
    assert_eq!((run.status, run.exit_code), (RunStatus::Succeeded, Some(0)));
    // The arguments are words of their own, which the shell does not read.
    let told = "a b and $HOME\n";
    assert_eq!(
        std::fs::read_to_string(house.folder.path().join("told")).unwrap(),
        told
    );
    assert_eq!(run.log_tail.as_deref(), Some(told));
    // Without it a program of that name is looked for.
    let run = house
        .ended(house.invoke(house.hire(json!({ "command": line }))).run.id)
        .await;
    assert_eq!(run.error_code, Some(RunErrorCode::SpawnFailed));
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_nudge_starts_a_run_long_before_the_next_look() {
    let house = House::new();
    let mut config = house.config();
    config.poll_every = Duration::from_secs(3600);
    let engine = house.start_with(config);
    eventually("the first look", || engine.last_tick()).await;
    let agent = house.hire_shell("true");
    let run = house.invoke(agent).run.id;
    shared(&engine).nudge();
    assert_eq!(house.ended(run).await.status, RunStatus::Succeeded);
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_invocations_while_a_run_is_live_lead_to_one_more() {
    let house = House::new();
    let engine = house.start();
    let agent = house.hire_shell(UNTIL_GO);
    let first = house.invoke(agent).run.id;
    house.file("ready").await;
    let later: Vec<_> = (0..10).map(|_| house.invoke(agent)).collect();
    assert!(
        later
            .iter()
            .all(|outcome| outcome.run.id == later[0].run.id)
    );
    assert_eq!(later.iter().filter(|outcome| outcome.coalesced).count(), 9);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(house.run(later[0].run.id).status, RunStatus::Queued);
    house.go();
    let runs = house.all_ended().await;
    let ids: Vec<_> = runs.iter().map(|run| (run.id, run.status)).collect();
    let second = later[0].run.id;
    assert_eq!(
        ids,
        [
            (first, RunStatus::Succeeded),
            (second, RunStatus::Succeeded)
        ]
    );
    assert!(runs[1].started_at >= runs[0].finished_at);
    engine.shutdown().await;
}

/// Waits until so many runs are live, and looks that there are never more.
async fn at_most(house: &House, cap: usize) {
    eventually("as many runs as may be", || {
        (house.live() == cap).then_some(())
    })
    .await;
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(30)).await;
        assert_eq!(house.live(), cap);
    }
    house.go();
    let runs = house.all_ended().await;
    assert!(runs.iter().all(|run| run.status == RunStatus::Succeeded));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_has_as_many_runs_as_it_may() {
    let house = House::new();
    let engine = house.start();
    let agent = house.hire_with(shell(UNTIL_GO), |command| {
        command.runtime_config = document(json!({ "heartbeat": { "maxConcurrentRuns": 2 } }));
    });
    for _ in 0..4 {
        house.assign(agent, |_| ());
    }
    at_most(&house, 2).await;
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_company_has_as_many_runs_as_it_may() {
    let house = House::new();
    let engine = house.start();
    for _ in 0..6 {
        house.invoke(house.hire_shell(UNTIL_GO));
    }
    at_most(&house, 4).await;
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_has_as_many_runs_as_it_may() {
    let house = House::new();
    let mut config = house.config();
    config.instance_cap = 1;
    let engine = house.start_with(config);
    for _ in 0..3 {
        house.invoke(house.hire_shell(UNTIL_GO));
    }
    at_most(&house, 1).await;
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_share_the_work_and_do_none_of_it_twice() {
    let Some(store) = postgres_store() else {
        return;
    };
    let mut house = House::on(store);
    let (first, second) = (house.company, another_company(&house));
    let mut expected = 0;
    for company in [first, second] {
        house.company = company;
        for _ in 0..10 {
            let agent = house.hire_shell("echo $WORKFORCE_RUN_ID >> started; sleep 0.05");
            house.assign(agent, |_| ());
            house.invoke(agent);
            // The work, the invocation, and a reminder of the work that it leaves undone.
            expected += 3;
        }
    }
    let engines = [(); 2].map(|()| {
        let mut config = house.config();
        config.exclusive_store = false;
        house.start_with(config)
    });
    for company in [first, second] {
        house.company = company;
        let runs = house.all_ended().await;
        assert_eq!(runs.len(), 30);
        for run in runs {
            assert_eq!((run.status, run.error), (RunStatus::Succeeded, None));
        }
    }
    let started = house.file("started").await;
    let mut started: Vec<_> = started.lines().collect();
    assert_eq!(started.len(), expected);
    started.sort_unstable();
    started.dedup();
    assert_eq!(started.len(), expected);
    for engine in engines {
        engine.shutdown().await;
    }
    assert_eq!(house.processes(), []);
}

fn another_company(house: &House) -> CompanyId {
    let command = a_company("Bolt");
    act(&house.ports, |tx, ctx| {
        workforce_app::companies::create(tx, ctx, command.clone())
    })
    .company
    .id
}

#[tokio::test(flavor = "multi_thread")]
async fn the_configuration_of_one_adapter_starts_nothing_under_another() {
    let house = House::new();
    let engine = house.start();
    let agent = house.hire_with(shell("echo ran > ran"), |command| {
        command.adapter_type = Some(workforce_domain::agent::AdapterType::Http);
    });
    let run = house.ended(house.invoke(agent).run.id).await;
    assert_eq!(run.status, RunStatus::Failed);
    assert_eq!(run.error_code, Some(RunErrorCode::ConfigInvalid));
    assert!(!house.path("ran").exists());
    engine.shutdown().await;
}
