//! Agents that accept their work and say later how it ended.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use workforce_app::runs;
use workforce_domain::id::RunId;
use workforce_domain::run::{CompletionReport, CompletionStatus, RunErrorCode, RunStatus};
use workforce_testkit::store::postgres_store;

use crate::http_agents::{config, invoke};
use crate::support::{House, HttpAgent, answer, eventually};

fn succeeded(text: &str) -> CompletionReport {
    CompletionReport {
        status: CompletionStatus::Succeeded,
        result: Some(text.to_owned()),
        error: None,
        error_code: None,
    }
}

fn complete(house: &House, run: RunId, report: &CompletionReport) {
    house.act(|tx, ctx| runs::complete(tx, ctx, run, report.clone()));
}

fn accepting() -> HttpAgent {
    HttpAgent::answering(answer("202 Accepted", "", "soon"))
}

/// Waits until the run waits.
async fn accepted(house: &House, run: RunId) {
    eventually("its acceptance", || {
        house.log(run).contains("[accepted;").then_some(())
    })
    .await;
}

async fn on_both(test: impl AsyncFn(House, bool)) {
    test(House::new(), true).await;
    if let Some(store) = postgres_store() {
        test(House::on(store), false).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_ends_as_its_agent_says() {
    on_both(async |house, _| {
        let agent = accepting();
        let engine = house.start_with(config(&house));
        let run = invoke(&house, json!({ "url": agent.url() }));
        accepted(&house, run).await;
        assert_eq!(house.run(run).status, RunStatus::Running);
        complete(&house, run, &succeeded("It is built."));
        let ended = house.ended(run).await;
        assert_eq!((ended.status, &ended.error), (RunStatus::Succeeded, &None));
        assert_eq!(ended.result_text.as_deref(), Some("It is built."));
        assert_eq!((ended.exit_code, ended.signal), (None, None));

        let run = invoke(&house, json!({ "url": agent.url() }));
        accepted(&house, run).await;
        let failed = CompletionReport {
            status: CompletionStatus::Failed,
            error: Some("no more turns".to_owned()),
            error_code: Some(RunErrorCode::MaxTurns),
            ..succeeded("halfway")
        };
        complete(&house, run, &failed);
        let ended = house.ended(run).await;
        assert_eq!(
            (ended.status, ended.error_code, ended.error.as_deref()),
            (
                RunStatus::Failed,
                Some(RunErrorCode::MaxTurns),
                Some("no more turns")
            )
        );
        assert_eq!(ended.result_text.as_deref(), Some("halfway"));
        assert_eq!(house.processes(), []);
        engine.shutdown().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_may_be_silent_but_not_for_ever() {
    let house = House::new();
    let agent = accepting();
    let engine = house.start_with(config(&house));
    let limits = json!({ "url": agent.url(), "idleTimeoutSec": 0.5, "timeoutSec": 2.5 });
    let run = house.ended(invoke(&house, limits)).await;
    assert_eq!(
        (run.status, run.error_code),
        (RunStatus::TimedOut, Some(RunErrorCode::WallLimit))
    );
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_can_be_stopped() {
    let house = House::new();
    let agent = accepting();
    let engine = house.start_with(config(&house));
    let run = invoke(&house, json!({ "url": agent.url() }));
    accepted(&house, run).await;
    house.act(|tx, ctx| runs::cancel(tx, ctx, run));
    let ended = house.ended(run).await;
    assert_eq!(
        (ended.status, ended.error_code),
        (RunStatus::Cancelled, Some(RunErrorCode::CancelRequested))
    );
    engine.shutdown().await;
}

/// The callback may be faster than the answer to the request.
#[tokio::test(flavor = "multi_thread")]
async fn a_callback_that_comes_before_the_answer_is_not_lost() {
    on_both(async |house, _| {
        let house = Arc::new(house);
        let its = Arc::clone(&house);
        let agent = HttpAgent::new(move |request, stream| {
            let run = request.body["runId"].as_str().unwrap_or_default();
            complete(&its, run.parse().expect("an id"), &succeeded("early"));
            let _ = stream.write_all(answer("202 Accepted", "", "").as_bytes());
        });
        let engine = house.start_with(config(&house));
        let run = house
            .ended(invoke(&house, json!({ "url": agent.url() })))
            .await;
        assert_eq!(
            (run.status, run.result_text.as_deref()),
            (RunStatus::Succeeded, Some("early"))
        );
        engine.shutdown().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_goes_on_under_the_next_server() {
    on_both(async |house, exclusive| {
        let agent = accepting();
        let mut first = config(&house);
        (first.exclusive_store, first.keep_runs) = (exclusive, true);
        let server = first.instance;
        let engine = house.start_with(first);
        let run = invoke(&house, json!({ "url": agent.url() }));
        accepted(&house, run).await;
        engine.shutdown().await;
        assert_eq!(house.run(run).status, RunStatus::Running);
        let engine = house.start_after(&[server], exclusive);
        engine.recovered().await;
        assert_eq!(house.run(run).status, RunStatus::Running);
        complete(&house, run, &succeeded("late"));
        let ended = house.ended(run).await;
        assert_eq!(
            (ended.status, ended.result_text.as_deref()),
            (RunStatus::Succeeded, Some("late"))
        );
        assert_eq!(agent.requests().len(), 1, "it was called once");
        engine.shutdown().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callback_that_comes_while_no_server_is_there_is_heard_by_the_next() {
    on_both(async |house, exclusive| {
        let agent = accepting();
        let mut first = config(&house);
        (first.exclusive_store, first.keep_runs) = (exclusive, true);
        let server = first.instance;
        let engine = house.start_with(first);
        let heard = invoke(&house, json!({ "url": agent.url() }));
        accepted(&house, heard).await;
        let lost = invoke(&house, json!({ "url": agent.url() }));
        accepted(&house, lost).await;
        engine.shutdown().await;
        complete(&house, heard, &succeeded("meanwhile"));
        complete(&house, lost, &succeeded("without a guard"));
        let of_lost = |process: &workforce_domain::run::ProcessRecord| process.run == lost;
        let guard = house.processes().into_iter().find(of_lost);
        kill(Pid::from_raw(guard.expect("a guard").pid), Signal::SIGKILL).expect("its end");
        let engine = house.start_after(&[server], exclusive);
        for (run, text) in [(heard, "meanwhile"), (lost, "without a guard")] {
            let ended = house.ended(run).await;
            assert_eq!(
                (ended.status, ended.result_text.as_deref()),
                (RunStatus::Succeeded, Some(text))
            );
        }
        assert_eq!(house.runs(&[]).len(), 2, "nothing was tried again");
        engine.shutdown().await;
    })
    .await;
}

/// The server that hears the callback need not be the one that holds the run.
#[tokio::test(flavor = "multi_thread")]
async fn a_callback_reaches_the_server_that_holds_the_run() {
    let Some(store) = postgres_store() else {
        return;
    };
    let house = House::on(store);
    let agent = accepting();
    let mut holder = config(&house);
    holder.exclusive_store = false;
    holder.renew_every = Duration::from_millis(300);
    let holder = house.start_with(holder);
    let run = invoke(&house, json!({ "url": agent.url() }));
    accepted(&house, run).await;
    let mut other = config(&house);
    other.exclusive_store = false;
    other.runs_dir = house.path("other/runs");
    let other = house.start_with(other);
    complete(&house, run, &succeeded("from afar"));
    crate::support::shared(&other).nudge();
    let ended = house.ended(run).await;
    assert_eq!(
        (ended.status, ended.result_text.as_deref()),
        (RunStatus::Succeeded, Some("from afar"))
    );
    holder.shutdown().await;
    other.shutdown().await;
}
