use std::time::Duration;

use serde_json::{Value, json};
use workforce_app::{Failure, agents, costs, runs};
use workforce_domain::actor::InstanceScope;
use workforce_domain::change::Change;
use workforce_domain::cost::TokenUse;
use workforce_domain::id::AgentId;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::money::{Budget, Cents};
use workforce_domain::run::{Run, RunErrorCode, RunStatus};
use workforce_domain::text::Name;

use crate::support::{House, UNTIL_GO, eventually, is_live, shared, shell};

/// A script with a child that does not want to end; both write their ids.
const STUBBORN: &str = "trap '' TERM; (trap '' TERM; while :; do sleep 0.05; done) & \
    echo $$ $! > pids; mv pids ready; wait; while :; do sleep 0.05; done";

async fn run_once(config: Value) -> Run {
    let house = House::new();
    let engine = house.start();
    let agent = house.hire(config);
    let run = house.ended(house.invoke(agent).run.id).await;
    engine.shutdown().await;
    assert_eq!(house.processes(), []);
    run
}

fn with(mut config: Value, key: &str, value: Value) -> Value {
    config[key] = value;
    config
}

#[tokio::test(flavor = "multi_thread")]
async fn another_code_than_zero_is_a_failure() {
    let run = run_once(shell("exit 3")).await;
    assert_eq!((run.status, run.exit_code), (RunStatus::Failed, Some(3)));
    assert_eq!(run.error_code, Some(RunErrorCode::AdapterFailed));
    assert_eq!(run.error.as_deref(), Some("the program ended with code 3"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_is_a_failure() {
    let run = run_once(shell("kill -9 $$")).await;
    assert_eq!(
        (run.status, run.exit_code, run.signal),
        (RunStatus::Failed, None, Some(9))
    );
    assert_eq!(run.error_code, Some(RunErrorCode::AdapterFailed));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_not_there_cannot_be_started() {
    let run = run_once(json!({ "command": "no-such-program" })).await;
    assert_eq!((run.status, run.exit_code), (RunStatus::Failed, None));
    assert_eq!(run.error_code, Some(RunErrorCode::SpawnFailed));
    assert_eq!(
        run.error.as_deref(),
        Some("program \"no-such-program\" was not found")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_that_is_not_there_is_named() {
    let run = run_once(json!({ "command": "/bin/true", "cwd": "/no/such/folder" })).await;
    assert_eq!(run.error_code, Some(RunErrorCode::SpawnFailed));
    let error = run.error.unwrap_or_default();
    assert!(
        error.contains("/no/such/folder") && error.contains("No such file"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_without_a_command_is_invalid() {
    let run = run_once(json!({ "args": ["-c", "true"] })).await;
    assert_eq!(run.error_code, Some(RunErrorCode::ConfigInvalid));
    assert_eq!(
        run.error.as_deref(),
        Some("adapterConfig.command must name the program to run")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_may_take_only_so_long() {
    let chatty = "while :; do echo tick; sleep 0.02; done";
    let run = run_once(with(shell(chatty), "timeoutSec", json!(0.4))).await;
    assert_eq!(run.status, RunStatus::TimedOut);
    assert_eq!(run.error_code, Some(RunErrorCode::WallLimit));
    assert!(run.log_bytes > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_run_ends_at_its_idle_limit() {
    let run = run_once(with(shell("exec sleep 60"), "idleTimeoutSec", json!(0.3))).await;
    assert_eq!(run.status, RunStatus::TimedOut);
    assert_eq!(run.error_code, Some(RunErrorCode::IdleLimit));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_its_api_is_a_sign_of_life() {
    let house = House::new();
    let engine = house.start();
    let agent = house.hire(with(shell(UNTIL_GO), "idleTimeoutSec", json!(0.5)));
    let run = house.invoke(agent).run.id;
    house.file("ready").await;
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        shared(&engine).run_is_active(run);
    }
    house.go();
    assert_eq!(house.ended(run).await.status, RunStatus::Succeeded);
    engine.shutdown().await;
}

/// Stops a stubborn run in some way; gives how it ended, with every process.
async fn stopped(stop: impl FnOnce(&House, AgentId, &Run)) -> Run {
    let house = House::new();
    let engine = house.start();
    let agent = house.hire_with(shell(STUBBORN), |command| {
        command.budget = Change::Set(Budget::from_cents(100).expect("a budget"));
    });
    let run = house.invoke(agent).run.id;
    let pids = house.file("ready").await;
    let pids: Vec<i32> = pids
        .split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect();
    assert_eq!(pids.len(), 2);
    assert!(pids.iter().all(|pid| is_live(*pid)));
    stop(&house, agent, &house.run(run));
    shared(&engine).nudge();
    // Its slot is not free while one of its processes is there.
    let run = eventually("the end of the run", || {
        // Its slot is not free while one of its processes is there.
        let run = house.run(run);
        let has_ended = run.status.is_terminal();
        assert!(!has_ended || !pids.iter().any(|pid| is_live(*pid)));
        has_ended.then_some(run)
    })
    .await;
    engine.shutdown().await;
    assert_eq!(house.processes(), []);
    run
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_run_is_over_when_its_last_process_is() {
    let run = stopped(|house, _, run| {
        let asked = house.act(|tx, ctx| runs::cancel(tx, ctx, run.id));
        assert_eq!(asked.status, RunStatus::Running);
    })
    .await;
    assert_eq!(run.status, RunStatus::Cancelled);
    assert_eq!(run.error_code, Some(RunErrorCode::CancelRequested));
    assert_eq!(run.signal, Some(9));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_stops_the_agents_run() {
    let run = stopped(|house, agent, _| {
        house.act(|tx, ctx| agents::pause(tx, ctx, agent));
    })
    .await;
    assert_eq!(run.status, RunStatus::Cancelled);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_used_up_budget_stops_the_agents_run() {
    let run = stopped(|house, agent, run| {
        let name = |text| Name::parse(text).expect("a name");
        let cost = costs::ReportCost {
            agent,
            provider: name("someone"),
            model: name("something"),
            billing_type: None,
            tokens: TokenUse::default(),
            estimated: None,
            cost: Cents::from_cents(100).expect("an amount"),
            issue: None,
            project: None,
            goal: None,
            run: Some(run.id),
            billing_code: None,
            occurred_at: None,
            idempotency_key: None,
        };
        house.act(|tx, ctx| costs::report(tx, ctx, house.company, cost.clone()));
    })
    .await;
    assert_eq!(run.status, RunStatus::Cancelled);
    assert_eq!(run.error_code, Some(RunErrorCode::BudgetExhausted));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_agent_is_run_when_it_resumes() {
    let house = House::new();
    let engine = house.start();
    let agent = house.hire_shell("true");
    house.act(|tx, ctx| agents::pause(tx, ctx, agent));
    house.assign(agent, |_| ());
    tokio::time::sleep(Duration::from_millis(300)).await;
    let statuses: Vec<_> = house.runs(&[]).iter().map(|run| run.status).collect();
    assert_eq!(statuses, [RunStatus::Queued]);
    house.act(|tx, ctx| agents::resume(tx, ctx, agent, false));
    assert_eq!(house.all_ended().await[0].status, RunStatus::Succeeded);
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_reads_what_its_configuration_says() {
    let house = House::new();
    let engine = house.start();
    let agent = house.hire(json!({ "command": "cat", "stdin": "good morning\n" }));
    let run = house.ended(house.invoke(agent).run.id).await;
    assert_eq!(run.log_tail.as_deref(), Some("good morning\n"));
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn output_that_no_database_takes_as_it_is_does_not_keep_a_run_from_ending() {
    let Some(store) = workforce_testkit::store::postgres_store() else {
        return;
    };
    let house = House::on(store);
    let engine = house.start();
    let agent = house.hire_shell(r"printf 'a\000\377b'");
    let run = house.ended(house.invoke(agent).run.id).await;
    assert_eq!(run.status, RunStatus::Succeeded);
    assert_eq!(run.log_tail.as_deref(), Some("a\u{fffd}\u{fffd}b"));
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_without_a_place_has_a_home_of_its_own() {
    use std::os::unix::fs::PermissionsExt;
    let house = House::new();
    let engine = house.start();
    let config = with(shell("pwd"), "cwd", Value::Null);
    let agent = house.hire(config);
    let run = house.ended(house.invoke(agent).run.id).await;
    let home = house.path("data/agents").join(agent.to_string());
    assert_eq!(run.log_tail, Some(format!("{}\n", home.display())));
    let mode = home.metadata().expect("a home").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    engine.shutdown().await;
}

/// A stop may be asked for when a run is claimed and not yet among the live ones of its server,
/// so that nobody there hears of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_that_meets_a_start_is_seen_before_the_program_runs() {
    let house = House::new();
    let engine = house.start();
    let agent = house.hire(shell("echo ran >> ran; exec sleep 60"));
    let mut met = 0;
    for _ in 0..200 {
        let run = house.invoke(agent).run.id;
        shared(&engine).nudge();
        // Asks silently, at the first look at which the run is claimed.
        let nobody = house.new_instance();
        let before_its_process = eventually("the claim", || {
            house.act(|tx, ctx| {
                let claimed = tx.runs_mut().lock(House::scope(), run)?;
                let Some(mut claimed) = claimed.filter(|run| run.status.is_live()) else {
                    return Ok::<_, Failure<()>>(None);
                };
                claimed.ask_to_stop(RunErrorCode::CancelRequested, ctx.now);
                tx.runs_mut().save(&claimed)?;
                let processes = tx
                    .engine()
                    .processes_elsewhere(InstanceScope::SYSTEM, nobody)?;
                Ok(Some(processes.is_empty()))
            })
        })
        .await;
        if !before_its_process {
            // The program runs already, and the next renewal tells it.
            shared(&engine).nudge();
        }
        let ended = house.ended(run).await;
        assert_eq!(ended.status, RunStatus::Cancelled);
        assert_eq!(ended.error_code, Some(RunErrorCode::CancelRequested));
        met += usize::from(before_its_process);
        if met == 3 {
            break;
        }
    }
    assert!(met > 0, "a stop never met a start");
    engine.shutdown().await;
}
