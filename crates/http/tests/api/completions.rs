//! Agents that say how their runs ended.

use std::convert::Infallible;
use std::time::Duration;

use serde_json::{Value, json};
use workforce_app::Failure;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::run::{Run, RunEnd, RunErrorCode, RunOutcome};
use workforce_testkit::ports;
use workforce_testkit::world::{StartedRun, World};

use crate::support::{Api, NOTHING, api_tests, id};

/// Has a run wait for its agent, as the engine does when it calls one.
pub(crate) fn await_completion(api: &Api, run: &Run) {
    let noted: Result<(), Failure<Infallible>> = api
        .store
        .write(|tx| Ok(tx.runs_mut().await_completion(run.scope(), run.id)?));
    noted.unwrap();
}

/// A run that waits for its agent, and the path where it is completed.
struct Waiting {
    world: World,
    company: Value,
    agent: Value,
    started: StartedRun,
    path: String,
}

impl Waiting {
    fn new(api: &Api) -> Self {
        let company = api.company("Acme");
        let agent = api.agent(&company, "Ada");
        let invoke = format!("/api/agents/{}/heartbeat/invoke", id(&agent));
        api.post(&invoke, &json!({})).ok(202);
        let world = World::over(api.store.shared());
        // What was asked for up to here must be due.
        let soon = ports::clock().now().plus(Duration::from_secs(60));
        world.clock().set(soon);
        let started = world.start_next().unwrap();
        await_completion(api, &started.run);
        let path = format!("/api/heartbeat-runs/{}", started.run.id);
        Self {
            world,
            company,
            agent,
            started,
            path,
        }
    }

    fn complete(&self) -> String {
        format!("{}/complete", self.path)
    }

    /// Its process ends by itself.
    fn end(&self, outcome: RunOutcome) {
        let end = RunEnd::without_exit(outcome, "its process ended");
        assert!(self.world.finish_as(&self.started.run, &end));
    }
}

fn done() -> Value {
    json!({ "status": "succeeded", "result": "It is built." })
}

api_tests! {
    fn a_run_ends_as_its_agent_says(api) {
        let waiting = Waiting::new(api);
        let own = api.bearing(&waiting.started.token);
        let before = api.signals.count();
        let run = own.post(&waiting.complete(), &done()).ok(200);
        assert_eq!((&run["status"], id(&run)), (&json!("running"), &*waiting.started.run.id.to_string()));
        assert!(api.signals.count() > before, "the engine was not told");
        let again = own.post(&waiting.complete(), &done()).ok(200);
        assert_eq!(again, run);
        let other = json!({ "status": "failed", "error": "no" });
        let problem = own.post(&waiting.complete(), &other).problem(409, "run_not_waiting");
        assert_eq!(problem["details"]["status"], "running");
        // However its process ends now.
        waiting.end(RunOutcome::Lost(RunErrorCode::ProcessLost));
        let run = api.get(&waiting.path).ok(200);
        assert_eq!(
            (&run["status"], &run["resultText"], &run["error"]),
            (&json!("succeeded"), &json!("It is built."), &Value::Null)
        );
        own.post(&waiting.complete(), &done()).problem(401, "credential_invalid");
        let repeated = api.post(&waiting.complete(), &done()).ok(200);
        assert_eq!(repeated["status"], "succeeded");
        let problem = api.post(&waiting.complete(), &other).problem(409, "run_not_live");
        assert_eq!(problem["details"]["status"], "succeeded");
        let events = api.get(&format!("{}/events", waiting.path)).ok(200);
        let told = events.as_array().unwrap().iter();
        let told = told.filter(|event| event["action"] == "heartbeat.completed").count();
        assert_eq!(told, 1, "{events}");
    }

    fn a_failure_says_why(api) {
        let waiting = Waiting::new(api);
        let own = api.bearing(&waiting.started.token);
        let report = json!({
            "status": "failed", "error": "no more turns", "errorCode": "max_turns", "result": "half",
        });
        own.post(&waiting.complete(), &report).ok(200);
        waiting.end(RunOutcome::Stopped(RunErrorCode::CancelRequested));
        let run = api.get(&waiting.path).ok(200);
        assert_eq!(
            [&run["status"], &run["errorCode"], &run["error"], &run["resultText"]],
            [&json!("failed"), &json!("max_turns"), &json!("no more turns"), &json!("half")]
        );
    }

    fn only_the_run_itself_and_the_board_complete_it(api) {
        let waiting = Waiting::new(api);
        let bob = api.key(&api.agent(&waiting.company, "Bob"));
        let own_key = api.key(&waiting.agent);
        let elsewhere = api.key(&api.agent(&api.company("Bolt"), "Eve"));
        for (key, status, code) in [
            (&bob, 403, "forbidden"),
            (&own_key, 403, "forbidden"),
            (&elsewhere, 404, "not_found"),
        ] {
            api.bearing(key).post(&waiting.complete(), &done()).problem(status, code);
        }
        let nowhere = format!("/api/heartbeat-runs/{NOTHING}/complete");
        api.post(&nowhere, &done()).problem(404, "not_found");
        api.post(&waiting.complete(), &done()).ok(200);
    }

    fn what_is_no_report_is_refused(api) {
        let waiting = Waiting::new(api);
        let own = api.bearing(&waiting.started.token);
        for (report, pointer) in [
            (json!({ "status": "succeeded", "error": "x" }), "/error"),
            (json!({ "status": "succeeded", "errorCode": "max_turns" }), "/errorCode"),
            (json!({ "status": "failed", "errorCode": "cancel_requested" }), "/errorCode"),
        ] {
            let problem = own.post(&waiting.complete(), &report).problem(422, "invalid_field");
            assert_eq!(problem["details"][0]["pointer"], pointer, "{problem}");
        }
        for report in [json!({}), json!({ "status": "timed_out" }), json!({ "status": "failed", "errorCode": "x" })] {
            own.post(&waiting.complete(), &report).problem(400, "invalid_json");
        }
    }

    fn a_run_that_does_not_wait_is_not_completed(api) {
        let waiting = Waiting::new(api);
        // Whoever was asked to stop has no say any more.
        api.post(&format!("{}/cancel", waiting.path), &json!({})).ok(200);
        api.bearing(&waiting.started.token)
            .post(&waiting.complete(), &done())
            .problem(409, "run_not_waiting");
        waiting.end(RunOutcome::Stopped(RunErrorCode::CancelRequested));
        assert_eq!(api.get(&waiting.path).ok(200)["status"], "cancelled");
        api.post(&waiting.complete(), &done()).problem(409, "run_not_live");
        let invoke = format!("/api/agents/{}/heartbeat/invoke", id(&waiting.agent));
        let queued = api.post(&invoke, &json!({})).ok(202);
        let path = format!("/api/heartbeat-runs/{}/complete", id(&queued));
        let problem = api.post(&path, &done()).problem(409, "run_not_waiting");
        assert_eq!(problem["details"]["status"], "queued");
        waiting.world.start_next().unwrap();
        let problem = api.post(&path, &done()).problem(409, "run_not_waiting");
        assert_eq!(problem["details"]["status"], "running");
    }

    fn the_configuration_of_an_http_agent_is_checked(api) {
        let company = api.company("Acme");
        let path = format!("/api/companies/{}/agents", id(&company));
        let hire = |config: Value| {
            let body = json!({ "name": "Ada", "adapterType": "http", "adapterConfig": config });
            api.post(&path, &body)
        };
        let agent = hire(json!({
            "url": "https://agents.example/run",
            "headers": { "Authorization": "Bearer {{env.KEY}}" },
            "env": { "KEY": "k" },
        }))
        .ok(201);
        let own = format!("/api/agents/{}", id(&agent));
        for (config, pointer) in [
            (json!({ "url": "https://a:b@agents.example" }), "/adapterConfig/url"),
            (json!({ "method": "GET" }), "/adapterConfig/method"),
            (json!({ "env": { "KEY": null } }), "/adapterConfig/headers/Authorization"),
            (json!({ "timeoutSec": 1, "timeoutMs": 1 }), "/adapterConfig/timeoutMs"),
        ] {
            let problem = api
                .patch(&own, &json!({ "adapterConfig": config }))
                .problem(422, "invalid_field");
            assert_eq!(problem["details"][0]["pointer"], pointer, "{problem}");
        }
        let problem = hire(json!({ "headers": { "Host": "x" } })).problem(422, "invalid_field");
        assert_eq!(problem["details"][0]["pointer"], "/adapterConfig/headers/Host");
    }
}
