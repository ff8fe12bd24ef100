//! Agents that are called by HTTP, and what their answers make of their runs.

use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};
use workforce_domain::agent::AdapterType;
use workforce_domain::id::RunId;
use workforce_domain::run::{Run, RunErrorCode, RunStatus};
use workforce_engine::{EngineConfig, EngineHandle};
use workforce_testkit::store::postgres_store;

use crate::support::{House, HttpAgent, answer, eventually};

/// A house whose engine may call servers on loopback.
pub(crate) fn config(house: &House) -> EngineConfig {
    let mut config = house.config();
    config.http_allow = vec!["127.0.0.0/8".parse().expect("a range")];
    config
}

pub(crate) fn invoke(house: &House, settings: Value) -> RunId {
    let agent = house.hire_with(settings, |agent| {
        agent.adapter_type = Some(AdapterType::Http);
    });
    house.invoke(agent).run.id
}

/// A run of an agent with these settings, from its start to its end.
async fn ended(settings: Value) -> (House, Run) {
    let house = House::new();
    let engine = house.start_with(config(&house));
    let run = house.ended(invoke(&house, settings)).await;
    engine.shutdown().await;
    (house, run)
}

async fn ended_with(answer: String) -> (House, Run) {
    let agent = HttpAgent::answering(answer);
    ended(json!({ "url": agent.url() })).await
}

async fn on_both(test: impl AsyncFn(House, EngineHandle)) {
    for house in [Some(House::new()), postgres_store().map(House::on)] {
        let Some(house) = house else { continue };
        let engine = house.start_with(config(&house));
        test(house, engine).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_called_and_its_answer_is_the_result() {
    on_both(async |house, engine| {
        let agent = HttpAgent::new(|request, stream| {
            let token = request.body["authToken"].as_str().unwrap_or_default();
            let text = format!("done with {token}");
            let _ = stream.write_all(answer("200 OK", "", &text).as_bytes());
        });
        let run = invoke(
            &house,
            json!({
                "url": agent.url(),
                "method": "PUT",
                "headers": { "Authorization": "Bearer {{env.KEY}}", "X-Team": "blue" },
                "env": { "KEY": "sesame" },
                "payloadTemplate": { "model": "m", "agentId": "replaced" },
                "promptTemplate": "Mind the gap.",
            }),
        );
        let ended = house.ended(run).await;
        assert_eq!((ended.status, &ended.error), (RunStatus::Succeeded, &None));
        let requests = agent.requests();
        let [request] = &requests[..] else {
            panic!("{requests:?}");
        };
        assert_eq!(request.line, "PUT /run");
        assert_eq!(request.header("authorization"), Some("Bearer sesame"));
        assert_eq!(request.header("x-team"), Some("blue"));
        assert_eq!(request.header("content-type"), Some("application/json"));
        let body = &request.body;
        assert_eq!(body["model"], "m");
        assert_eq!(body["agentId"], json!(ended.agent));
        assert_eq!(body["runId"], json!(run));
        assert_eq!(body["apiUrl"], "http://127.0.0.1:3100");
        let callback = format!("http://127.0.0.1:3100/api/heartbeat-runs/{run}/complete");
        assert_eq!(body["callbackUrl"], callback);
        assert_eq!(body["context"]["wakeReason"], "manual");
        assert_eq!(body["context"]["wakePayload"]["runId"], json!(run));
        let prompt = body["context"]["prompt"].as_str().expect("a prompt");
        assert!(prompt.contains("Mind the gap."), "{prompt}");
        assert!(!prompt.contains("working directory"), "{prompt}");
        assert!(ended.prompt_sha256.is_some());
        let token = body["authToken"].as_str().expect("a token");
        let log = house.log(run);
        assert!(log.contains("HTTP/1.1 200 OK"), "{log}");
        assert!(!log.contains(token) && !log.contains("sesame"), "{log}");
        let result = ended.result_text.expect("a result");
        assert_eq!(result, "done with ***REDACTED***");
        engine.shutdown().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_is_told_in_the_context() {
    let house = House::new();
    let server = HttpAgent::answering(answer("200 OK", "", ""));
    let settings = json!({ "url": server.url() });
    let agent = house.hire_with(settings, |agent| {
        agent.adapter_type = Some(AdapterType::Http);
    });
    let issue = house.assign(agent, |_| ());
    let engine = house.start_with(config(&house));
    let run = house.all_ended().await.remove(0);
    assert_eq!((run.status, run.result_text), (RunStatus::Succeeded, None));
    let context = &server.requests()[0].body["context"];
    assert_eq!(context["taskId"], json!(issue));
    assert_eq!(context["linkedIssueIds"], json!([issue]));
    assert_eq!(context["wakeReason"], "issue_assigned");
    assert_eq!(
        context["workspaceCwd"],
        Value::Null,
        "a path of this computer"
    );
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_has_the_class_of_its_status() {
    for (status, code) in [
        ("400 Bad Request", RunErrorCode::AdapterFailed),
        ("401 Unauthorized", RunErrorCode::AuthRequired),
        ("500 Internal Server Error", RunErrorCode::AdapterFailed),
        ("503 Service Unavailable", RunErrorCode::ProviderOverloaded),
    ] {
        let (_, run) = ended_with(answer(status, "", "because")).await;
        assert_eq!(
            (run.status, run.error_code),
            (RunStatus::Failed, Some(code)),
            "{status}"
        );
        let error = run.error.expect("an error");
        assert!(
            error.contains(status) && error.contains("because"),
            "{error}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_says_when_it_is_over() {
    let (house, run) =
        ended_with(answer("429 Too Many Requests", "Retry-After: 120\r\n", "")).await;
    assert_eq!(run.error_code, Some(RunErrorCode::ProviderLimit));
    let left = run
        .retry_at
        .expect("an instant")
        .since(house.ports.clock.now());
    assert!(left > Duration::from_secs(60) && left <= Duration::from_secs(120));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_is_not_followed() {
    let elsewhere = HttpAgent::answering(answer("200 OK", "", ""));
    let head = format!("Location: {}\r\n", elsewhere.url());
    let (_, run) = ended_with(answer("307 Temporary Redirect", &head, "")).await;
    assert_eq!(run.error_code, Some(RunErrorCode::AdapterFailed));
    let error = run.error.expect("an error");
    assert!(error.contains("redirects are not followed"), "{error}");
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn special_addresses_are_not_called_unless_the_operator_allows_them() {
    let agent = HttpAgent::answering(answer("200 OK", "", ""));
    let house = House::new();
    let engine = house.start();
    for url in [
        agent.url(),
        format!("http://localhost:{}/", agent.port()),
        format!("http://[::ffff:127.0.0.1]:{}/", agent.port()),
        "http://169.254.169.254/latest/meta-data".to_owned(),
    ] {
        let run = house.ended(invoke(&house, json!({ "url": url }))).await;
        assert_eq!(run.error_code, Some(RunErrorCode::AdapterFailed), "{url}");
        let error = run.error.expect("an error");
        assert!(error.contains("--http-allow"), "{url}: {error}");
    }
    assert!(agent.requests().is_empty());
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_proxy_of_the_server_is_not_asked() {
    let proxy = HttpAgent::answering(answer("200 OK", "", "from the proxy"));
    let agent = HttpAgent::answering(answer("200 OK", "", "from the agent"));
    let house = House::new();
    let mut config = config(&house);
    for name in ["http_proxy", "HTTP_PROXY", "ALL_PROXY"] {
        let value = (name.into(), proxy.url().into());
        config.server_environment.push(value);
    }
    let engine = house.start_with(config);
    let run = house
        .ended(invoke(&house, json!({ "url": agent.url() })))
        .await;
    assert_eq!(run.result_text.as_deref(), Some("from the agent"));
    assert!(proxy.requests().is_empty());
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_huge_answer_the_beginning_is_read() {
    let agent = HttpAgent::new(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n");
        // Until nobody reads on.
        while stream.write_all(&[b'x'; 65536]).is_ok() {}
    });
    let (house, run) = ended(json!({ "url": agent.url() })).await;
    assert_eq!((run.status, &run.error), (RunStatus::Succeeded, &None));
    assert_eq!(run.result_text.map(|text| text.len()), Some(16 * 1024));
    assert!(run.log_tail.expect("a log").contains("is not read"));
    let log_bytes = house.run(run.id).log_bytes;
    assert!((1_048_576..1_200_000).contains(&log_bytes), "{log_bytes}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_breaks_off_is_a_failure() {
    let half = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf of it";
    let (_, run) = ended_with(half.to_owned()).await;
    assert_eq!(run.error_code, Some(RunErrorCode::AdapterFailed));
    assert!(run.error.expect("an error").contains("broke off"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_comes_slowly_is_waited_for_and_silence_is_not() {
    let slow = HttpAgent::new(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n");
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(100));
            let _ = stream.write_all(b".");
        }
    });
    let (_, run) = ended(json!({ "url": slow.url(), "idleTimeoutSec": 1 })).await;
    assert_eq!((run.status, &run.error), (RunStatus::Succeeded, &None));
    let silent = HttpAgent::new(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        std::thread::sleep(Duration::from_secs(60));
    });
    let (_, run) = ended(json!({ "url": silent.url(), "idleTimeoutSec": 0.4 })).await;
    assert_eq!(run.error_code, Some(RunErrorCode::IdleLimit));
    let (_, run) = ended(json!({ "url": silent.url(), "timeoutMs": 300 })).await;
    assert_eq!(run.error_code, Some(RunErrorCode::WallLimit));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_not_there_is_a_failure() {
    let gone = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("an address")
    };
    let (_, run) = ended(json!({ "url": format!("http://{gone}/") })).await;
    assert_eq!(run.error_code, Some(RunErrorCode::AdapterFailed));
    let error = run.error.expect("an error");
    assert!(error.contains("refused"), "{error}");
    // Nobody speaks TLS there.
    let plain = HttpAgent::answering(answer("200 OK", "", ""));
    let url = plain.url().replace("http:", "https:");
    let (_, run) = ended(json!({ "url": url })).await;
    assert_eq!(run.error_code, Some(RunErrorCode::AdapterFailed));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_that_cannot_be_used_starts_nothing() {
    let (house, run) = ended(json!({})).await;
    assert_eq!(run.error_code, Some(RunErrorCode::ConfigInvalid));
    let error = "adapterConfig.url: must say where the agent is";
    assert_eq!(run.error.as_deref(), Some(error));
    assert_eq!(house.log(run.id), "");
    let settings = json!({
        "url": "http://127.0.0.1/",
        "headers": { "A": "{{env.A}}" },
        "env": { "A": "two\nlines" },
    });
    let (_, run) = ended(settings).await;
    assert_eq!(run.error_code, Some(RunErrorCode::ConfigInvalid));
    assert!(!run.error.expect("an error").contains("two"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_stopped_like_any_program() {
    let silent = HttpAgent::new(|_, _| std::thread::sleep(Duration::from_secs(60)));
    let house = House::new();
    let engine = house.start_with(config(&house));
    let run = invoke(&house, json!({ "url": silent.url() }));
    eventually("the request", || silent.requests().pop()).await;
    house.act(|tx, ctx| workforce_app::runs::cancel(tx, ctx, run));
    let run = house.ended(run).await;
    assert_eq!(run.status, RunStatus::Cancelled);
    assert_eq!(house.processes(), []);
    engine.shutdown().await;
}
