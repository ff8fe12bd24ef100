//! Runs that go on while their server is gone.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use workforce_app::{costs, runs};
use workforce_domain::agent::AdapterType;
use workforce_domain::id::{AgentId, InstanceId, RunId};
use workforce_domain::page::PageRequest;
use workforce_domain::run::{RunErrorCode, RunStatus};
use workforce_domain::wake::WakeReason;
use workforce_engine::EngineHandle;
use workforce_testkit::store::{postgres_store, sqlite_store};

use crate::support::{House, UNTIL_GO, eventually, is_live};

/// A run whose server is gone, of an agent whose script waits for `go`.
struct Left {
    house: House,
    agent: AgentId,
    run: RunId,
    pid: i32,
    server: InstanceId,
    exclusive: bool,
}

impl Left {
    async fn by_a_server_that_keeps_its_runs(house: House, exclusive: bool) -> Self {
        let agent = house.hire_shell(&format!("echo one; {UNTIL_GO}; echo two; exit 0"));
        let mut config = house.config();
        config.exclusive_store = exclusive;
        config.keep_runs = true;
        let server = config.instance;
        let engine = house.start_with(config);
        let run = house.invoke(agent).run.id;
        let pid = house.ready_process().await;
        engine.shutdown().await;
        assert!(is_live(pid), "the shutdown left it");
        assert_eq!(house.run(run).status, RunStatus::Running);
        Self {
            house,
            agent,
            run,
            pid,
            server,
            exclusive,
        }
    }

    fn start_next(&self) -> EngineHandle {
        self.house.start_after(&[self.server], self.exclusive)
    }
}

/// The same on each kind of store.
async fn on_both(test: impl AsyncFn(Left)) {
    test(Left::by_a_server_that_keeps_its_runs(House::new(), true).await).await;
    if let Some(store) = postgres_store() {
        test(Left::by_a_server_that_keeps_its_runs(House::on(store), false).await).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_on_under_the_next_server() {
    on_both(async |left| {
        let house = &left.house;
        let before = house.run(left.run);
        let engine = left.start_next();
        engine.recovered().await;
        assert_eq!(engine.live_runs(), 1, "it has its place");
        let taken = house.run(left.run);
        assert_eq!(
            (taken.status, taken.fence),
            (RunStatus::Running, before.fence)
        );
        assert_eq!(taken.token_digest, before.token_digest, "its token is good");
        assert_ne!(taken.instance, before.instance);
        house.go();
        let ended = house.ended(left.run).await;
        assert_eq!((ended.status, &ended.error), (RunStatus::Succeeded, &None));
        assert_eq!(house.log(left.run), "one\ntwo\n");
        assert_eq!(ended.log_tail.as_deref(), Some("one\ntwo\n"));
        assert_eq!(house.runs(&[]).len(), 1, "nothing was tried again");
        assert_eq!(house.processes(), []);
        engine.shutdown().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_ended_without_a_server_ended_as_it_did() {
    on_both(async |left| {
        let house = &left.house;
        house.go();
        eventually("its end", || (!is_live(left.pid)).then_some(())).await;
        let engine = left.start_next();
        let ended = house.ended(left.run).await;
        assert_eq!(
            (ended.status, ended.exit_code),
            (RunStatus::Succeeded, Some(0))
        );
        assert_eq!(ended.log_tail.as_deref(), Some("one\ntwo\n"));
        assert_eq!(house.runs(&[]).len(), 1, "nothing was tried again");
        assert_eq!(house.processes(), []);
        engine.shutdown().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_that_was_asked_for_without_a_server_is_heard_by_the_next() {
    on_both(async |left| {
        let house = &left.house;
        house.act(|tx, ctx| runs::cancel(tx, ctx, left.run));
        let engine = left.start_next();
        let ended = house.ended(left.run).await;
        assert_eq!(ended.status, RunStatus::Cancelled);
        assert!(!is_live(left.pid));
        engine.shutdown().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_guard_was_killed_is_lost_and_tried_again() {
    on_both(async |left| {
        let house = &left.house;
        let guard = house.processes().remove(0).pid;
        kill(Pid::from_raw(guard), Signal::SIGKILL).expect("its end");
        house.go();
        let engine = left.start_next();
        let lost = house.ended(left.run).await;
        assert_eq!(lost.error_code, Some(RunErrorCode::ProcessLost));
        assert!(!is_live(left.pid));
        let runs = house.all_ended().await;
        let again = (runs[1].agent, runs[1].reason, runs[1].status);
        let expected = (
            left.agent,
            WakeReason::ProcessLostRetry,
            RunStatus::Succeeded,
        );
        assert_eq!((runs.len(), again), (2, expected));
        engine.shutdown().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guard_that_is_killed_under_its_server_costs_one_retry() {
    let house = House::new();
    let engine = house.start();
    let run = house.invoke(house.hire_shell(UNTIL_GO)).run.id;
    let pid = house.ready_process().await;
    let guard = house.processes().remove(0).pid;
    kill(Pid::from_raw(guard), Signal::SIGKILL).expect("its end");
    let lost = house.ended(run).await;
    assert_eq!(lost.error_code, Some(RunErrorCode::ProcessLost));
    assert!(!is_live(pid));
    house.go();
    let runs = house.all_ended().await;
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[1].status, RunStatus::Succeeded);
    engine.shutdown().await;
}

/// On a shared store another server takes the run over, so it must be gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_without_a_server_is_gone_before_its_lease_on_a_shared_store() {
    let Some(store) = postgres_store() else {
        return;
    };
    let house = House::on(store);
    let mut config = house.config();
    config.exclusive_store = false;
    config.keep_runs = true;
    config.lease = Duration::from_secs(3);
    let engine = house.start_with(config);
    let run = house.invoke(house.hire_shell(UNTIL_GO)).run.id;
    let pid = house.ready_process().await;
    engine.shutdown().await;
    let gone = eventually("its end", || {
        (!is_live(pid)).then(|| house.ports.clock.now())
    })
    .await;
    let lease = house.run(run).lease_expires_at.expect("a lease");
    assert!(gone < lease, "{gone} {lease}");
}

/// Prints what Claude Code does at its end.
const LIKE_CLAUDE: &str = r#"#!/bin/sh
cat > /dev/null; echo $$ > ready.new; mv ready.new ready
while [ ! -e go ]; do sleep 0.02; done
S=0b393b30-c02f-4d1e-bb9a-ca29f946188d
echo '{"type":"system","subtype":"init","session_id":"'$S'","model":"m"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"Done.","num_turns":1,
"session_id":"'$S'","total_cost_usd":0.05,"usage":{"input_tokens":10,"output_tokens":5,
"cache_read_input_tokens":0,"cache_creation_input_tokens":0},"modelUsage":{"m":{"inputTokens":10,
"outputTokens":5,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"costUSD":0.05}}}' | tr -d '\n'
echo
"#;

/// Whoever writes its end down books it, and whoever comes after does not again.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_used_without_a_server_is_booked_once() {
    let stores = [Some(sqlite_store()), postgres_store()];
    for (store, exclusive) in stores.into_iter().zip([true, false]) {
        let Some(store) = store else {
            continue;
        };
        let house = House::on(store);
        let program = house.path("like-claude");
        std::fs::write(&program, LIKE_CLAUDE).expect("a program");
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("a mode");
        let config = json!({ "command": program, "dangerouslySkipPermissions": false });
        let agent = house.hire_with(config, |command| {
            command.adapter_type = Some(AdapterType::ClaudeLocal);
        });
        let mut config = house.config();
        config.exclusive_store = exclusive;
        config.keep_runs = true;
        let mut server = config.instance;
        let engine = house.start_with(config);
        let run = house.invoke(agent).run.id;
        let pid = house.ready_process().await;
        engine.shutdown().await;
        house.go();
        eventually("its end", || (!is_live(pid)).then_some(())).await;
        for _ in 0..2 {
            let mut config = house.config();
            config.exclusive_store = exclusive;
            config.predecessors = vec![server];
            server = config.instance;
            let engine = house.start_with(config);
            engine.recovered().await;
            let ended = house.ended(run).await;
            assert_eq!(ended.status, RunStatus::Succeeded, "{}", house.log(run));
            assert_eq!(ended.result_text.as_deref(), Some("Done."));
            engine.shutdown().await;
            let page = house
                .act(|tx, ctx| costs::list(tx.reads(), ctx, house.company, &PageRequest::first()));
            let booked: Vec<_> = page
                .items
                .iter()
                .map(|event| (event.run, event.cost.micros(), event.tokens.input))
                .collect();
            assert_eq!(booked, [(Some(run), 5_000_000, 10)]);
        }
        assert_eq!(house.processes(), []);
    }
}
