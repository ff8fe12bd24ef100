use serde_json::{Value, json};
use workforce_app::authenticate::AuthPolicy;
use workforce_testkit::ports;
use workforce_testkit::store::TestStore;

use crate::approvals::{act, of};
use crate::support::{Api, NOTHING, api_tests, id};

const PATH: &str = "/api/board-tokens";

/// The token that [`guarded`] was started with.
const START: &str = "open-sesame-open-sesame";

/// A server where every request needs a credential.
fn guarded(store: TestStore) -> Api {
    let auth = AuthPolicy::token(ports::tokens().digest(START));
    Api::authenticating(store, auth)
}

api_tests! {
    fn a_token_is_shown_once_used_and_revoked(api) {
        let made = api.post(PATH, &json!({ "name": "laptop" })).ok(201);
        let value = made["token"].as_str().unwrap();
        assert!(value.starts_with(made["prefix"].as_str().unwrap()) && value.len() == 56);
        let listed = api.get(PATH);
        assert!(!listed.text.contains(value));
        assert_eq!(listed.ok(200)[0]["createdById"], "local-board");

        let second = api.bearing(value).post(PATH, &json!(null)).ok(201);
        assert_eq!(second["name"], "default");
        assert_eq!(api.state.credential_uses().flush(&*api.store).unwrap(), 1);
        let listed = api.get(PATH).ok(200);
        assert!(listed[0]["lastUsedAt"].is_string() && listed[1]["lastUsedAt"].is_null());
        assert_eq!(listed[1]["createdById"], format!("token:{}", id(&made)));

        let path = format!("{PATH}/{}", id(&made));
        let revoked = api.send("DELETE", &path, &[], b"").ok(200);
        assert!(revoked["revokedAt"].is_string());
        assert_eq!(api.send("DELETE", &path, &[], b"").ok(200), revoked);
        let refused = api.bearing(value).get("/api/companies");
        refused.problem(401, "credential_invalid");
        assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
        api.bearing(second["token"].as_str().unwrap()).get(PATH).ok(200);
    }

    fn the_work_of_a_revoked_token_is_not_lost(api) {
        let company = api.company("Acme");
        let token = || {
            let made = api.post(PATH, &json!({ "name": "laptop" })).ok(201);
            (id(&made).to_owned(), made["token"].as_str().unwrap().to_owned())
        };
        let ada = api.agent(&company, "Ada");
        let own = api.bearing(&api.key(&ada));
        // The second one revokes itself.
        for by_itself in [false, true] {
            let (token, value) = token();
            let task = json!({ "title": "Task", "status": "todo", "assigneeUserId": token });
            let task = format!("/api/issues/{}", id(&api.issue(&company, &task)));
            // The bearer looks at what is done below its epic.
            let epic = json!({ "title": "Epic", "status": "todo", "assigneeUserId": token });
            let epic = api.issue(&company, &epic);
            let plan = json!({ "type": "approve_issue_plan", "payload": { "issueId": id(&epic) } });
            let plan = api.post(&of(&company), &plan).ok(201);
            api.post(&act(&plan, "approve"), &json!({})).ok(200);
            let part = json!({
                "title": "Part", "status": "todo", "parentId": id(&epic), "assigneeAgentId": id(&ada),
            });
            let review = format!("/api/issues/{}", id(&api.issue(&company, &part)));
            own.patch(&review, &json!({ "status": "in_progress" })).ok(200);
            let handed_in = own.patch(&review, &json!({ "status": "done" })).ok(200);
            assert_eq!(handed_in["assigneeUserId"], token.as_str(), "{handed_in}");
            let path = format!("{PATH}/{token}");
            match by_itself {
                true => api.bearing(&value).send("DELETE", &path, &Value::Null).ok(200),
                false => api.send("DELETE", &path, &[], b"").ok(200),
            };
            let task = api.get(&task).ok(200);
            assert_eq!((&task["status"], &task["assigneeUserId"]), (&json!("todo"), &Value::Null), "{task}");
            let seen = api.get(&review).ok(200);
            assert_eq!(seen["status"], "in_review", "{seen}");
            assert_eq!(seen["assigneeUserId"], "local-board", "{seen}");
            let comments = api.get(&format!("{review}/comments")).ok(200);
            assert!(comments[0]["body"].as_str().unwrap().contains("laptop"), "{comments}");
        }
    }

    fn what_a_token_does_is_recorded_under_its_name(api) {
        let made = api.post(PATH, &json!({})).ok(201);
        let by = api.bearing(made["token"].as_str().unwrap());
        let company = by.post("/api/companies", &json!({ "name": "Acme" })).ok(201);
        let issues = format!("/api/companies/{}/issues", id(&company));
        let issue = by.post(&issues, &json!({ "title": "Step" })).ok(201);
        let name = format!("token:{}", id(&made));
        assert_eq!((&issue["createdByType"], &issue["createdById"]), (&json!("board"), &json!(name)));
        let comments = format!("/api/issues/{}/comments", id(&issue));
        let comment = by.post(&comments, &json!({ "body": "Go" })).ok(201);
        assert_eq!(comment["authorId"], json!(name));
        assert_eq!(comment["authorUserId"], Value::Null);
        let activity = api.get(&format!("/api/companies/{}/activity", id(&company))).ok(200);
        for row in activity.as_array().unwrap() {
            assert_eq!((&row["actorType"], &row["actorId"]), (&json!("board"), &json!(name)));
        }
        let unnamed = api.post(&comments, &json!({ "body": "Stop" })).ok(201);
        assert_eq!(unnamed["authorId"], "local-board");
    }

    fn a_repeated_request_gets_the_same_token(api) {
        let keyed = [("Idempotency-Key", "k")];
        let first = api.send("POST", PATH, &keyed, b"{}").ok(201);
        assert_eq!(api.send("POST", PATH, &keyed, b"{}").ok(201), first);
        assert_eq!(api.get(PATH).ok(200).as_array().unwrap().len(), 1);
    }

    fn tokens_are_refused_to_agents_and_in_bad_shape(api) {
        let key = api.key(&api.agent(&api.company("Acme"), "Ada"));
        let agent = api.bearing(&key);
        agent.get(PATH).problem(403, "board_required");
        agent.post(PATH, &json!({})).problem(403, "board_required");
        let path = format!("{PATH}/{NOTHING}");
        agent.send("DELETE", &path, &Value::Null).problem(403, "board_required");
        api.send("DELETE", &path, &[], b"").problem(404, "not_found");
        let named = format!("{PATH}/start-token");
        api.send("DELETE", &named, &[], b"").problem(404, "not_found");
        api.post(PATH, &json!({ "name": "" })).problem(400, "invalid_json");
        api.post(PATH, &json!({ "name": "a\u{0}b" })).problem(400, "invalid_json");
        api.post(PATH, &json!({ "name": "x".repeat(200_000) })).problem(400, "invalid_json");
        api.get(&format!("{PATH}?limit=0")).problem(400, "invalid_request");
    }

    fn every_request_needs_a_credential_in_the_mode_token(api = guarded) {
        api.get("/api/companies").problem(401, "credential_missing");
        assert_eq!(api.get("/api/health").ok(200)["deploymentMode"], "token");

        let board = api.bearing(START);
        let company = board
            .post("/api/companies", &json!({ "name": "Acme" }))
            .ok(201);
        let issues = format!("/api/companies/{}/issues", id(&company));
        let issue = board.post(&issues, &json!({ "title": "Step" })).ok(201);
        assert_eq!(issue["createdById"], "start-token");
        let ask = |run: &str| {
            let headers = [("X-Service-Run-Id", run)];
            board.send_with("GET", "/api/companies", &headers, &Value::Null)
        };
        let answer = ask(NOTHING);
        answer.ok(200);
        assert!(answer.header("x-workforce-warning").is_some());
        ask("nonsense").problem(400, "invalid_run_id");
    }
}
