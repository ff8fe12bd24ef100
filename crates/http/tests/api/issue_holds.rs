//! Who cannot take an issue, be it by a checkout or by setting `in_progress`.

use serde_json::{Value, json};

use crate::agent_faults::spend;
use crate::secrets;
use crate::support::{Answer, Api, api_tests, id};

/// A company with an agent and an issue that anybody may take.
fn scene(api: &Api) -> (Value, Value, Value) {
    let company = api.company("Acme");
    let ada = api.agent(&company, "Ada");
    let issue = api.issue(&company, &json!({ "title": "Work", "status": "todo" }));
    (company, ada, issue)
}

/// What a caller with this credential is told in both ways of taking an issue.
fn takes(api: &Api, token: &str, issue: &Value) -> [Answer; 2] {
    let path = format!("/api/issues/{}", id(issue));
    let caller = api.bearing(token);
    [
        caller.post(&format!("{path}/checkout"), &json!({})),
        caller.patch(&path, &json!({ "status": "in_progress" })),
    ]
}

fn status(api: &Api, issue: &Value) -> Value {
    api.get(&format!("/api/issues/{}", id(issue))).ok(200)["status"].clone()
}

api_tests! {
    fn a_paused_agent_takes_nothing(api) {
        let (_company, ada, issue) = scene(api);
        let key = api.key(&ada);
        api.post(&format!("/api/agents/{}/pause", id(&ada)), &json!({})).ok(200);
        for answer in takes(api, &key, &issue) {
            assert_eq!(answer.problem(409, "agent_paused")["details"]["pauseReason"], "manual");
        }
        assert_eq!(status(api, &issue), "todo");
    }

    fn nothing_begins_in_a_company_without_money(api) {
        let (company, ada, issue) = scene(api);
        let key = api.key(&ada);
        spend(api, &company, &ada);
        for answer in takes(api, &key, &issue) {
            answer.problem(409, "budget_exhausted");
        }
        assert_eq!(status(api, &issue), "todo");
    }

    fn what_another_agent_has_is_not_taken(api) {
        let (company, ada, issue) = scene(api);
        let (first, second) = (api.key(&ada), api.key(&api.agent(&company, "Bob")));
        let path = format!("/api/issues/{}/checkout", id(&issue));
        api.bearing(&first).post(&path, &json!({})).ok(200);
        for answer in takes(api, &second, &issue) {
            let problem = answer.problem(409, "checkout_conflict");
            assert_eq!(problem["details"]["reason"], "other_assignee");
            assert_eq!(problem["details"]["assigneeAgentId"], ada["id"]);
        }
    }

    fn a_run_that_answers_a_mention_works_on_nothing(api) {
        let (_company, _ada, issue) = scene(api);
        let comments = format!("/api/issues/{}/comments", id(&issue));
        api.post(&comments, &json!({ "body": "@Ada what do you think?" })).ok(201);
        let (run, token) = secrets::start(api, &json!({}));
        let run = api.get(&format!("/api/heartbeat-runs/{run}")).ok(200);
        assert_eq!((&run["kind"], &run["status"]), (&json!("consult"), &json!("running")));
        for answer in takes(api, &token, &issue) {
            answer.problem(403, "consult_run");
        }
        api.bearing(&token).post(&comments, &json!({ "body": "I agree" })).ok(201);
        assert_eq!(status(api, &issue), "todo");
    }
}
