//! Reviews in one call, with remarks on lines of files (docs/issues.md#reviews-in-one-call).

use serde_json::{Value, json};

use crate::approvals::{self, act, of};
use crate::reviews::{Ticket, path};
use crate::support::{Answer, Api, api_tests, id};
use crate::tickets::Office;

pub(crate) const COMMIT: &str = "0123456789abcdef0123456789ABCDEF01234567";

pub(crate) fn of_issue(issue: &Value) -> String {
    format!("{}/reviews", path(issue))
}

/// A part that the worker did, and the lead is to review.
fn reviewed(api: &Api, it: &Ticket) -> Value {
    let part = it.part(api);
    let done = json!({ "status": "done" });
    api.bearing(&it.keys[1]).patch(&path(&part), &done).ok(200)
}

pub(crate) fn waiting(api: &Api) -> (Ticket, Value) {
    let it = Ticket::new(api);
    it.plan(api);
    let part = reviewed(api, &it);
    (it, part)
}

/// Has the lead review an issue.
pub(crate) fn review(api: &Api, it: &Ticket, issue: &Value, body: &Value) -> Answer {
    api.bearing(&it.keys[0]).post(&of_issue(issue), body)
}

/// The reasons of an agent's runs about an issue, each for one wake.
fn reasons(api: &Api, it: &Ticket, agent: &Value, issue: &Value) -> Vec<Value> {
    let company = id(&it.company);
    let path = format!(
        "/api/companies/{company}/heartbeat-runs?agentId={}",
        id(agent)
    );
    let runs = api.get(&path).ok(200);
    let about = |run: &&Value| run["issueId"] == issue["id"];
    let runs = runs.as_array().unwrap().iter().filter(about);
    runs.map(|run| run["reason"].clone()).collect()
}

fn activity(api: &Api, issue: &Value) -> Vec<Value> {
    let path = format!("{}/activity", path(issue));
    api.get(&path).ok(200).as_array().unwrap().clone()
}

pub(crate) fn now(api: &Api, issue: &Value) -> Value {
    api.get(&path(issue)).ok(200)
}

pub(crate) fn listed(api: &Api, issue: &Value) -> Value {
    let path = format!("{}/comments?order=asc", path(issue));
    api.get(&path).ok(200)
}

pub(crate) fn remark(changes: &Value) -> Value {
    let mut remark = json!({ "path": "src/lib.rs", "line": 3, "body": "Why?" });
    for (key, value) in changes.as_object().unwrap() {
        remark[key] = value.clone();
    }
    remark
}

api_tests! {
    fn changes_are_requested_on_lines_and_the_work_goes_back(api) {
        let (it, part) = waiting(api);
        let body = json!({
            "verdict": "changes_requested",
            "body": "Nearly.",
            "comments": [
                { "path": "src/a b.rs", "side": "left", "startLine": 2, "line": 4.0,
                    "commit": COMMIT, "body": "This was better." },
                { "path": "docs/näme.md", "line": 1, "body": "@Lead will see to it" },
            ],
        });
        let before = reasons(api, &it, &it.worker, &part).len();
        let answer = review(api, &it, &part, &body).ok(201);
        assert_eq!(answer["verdict"], "changes_requested");
        let issue = &answer["issue"];
        assert_eq!((&issue["status"], &issue["assigneeAgentId"]), (&json!("in_progress"), &it.worker["id"]));
        assert_eq!(now(api, &part)["status"], "in_progress");
        let said = answer["comments"].as_array().unwrap();
        let bodies: Vec<_> = said.iter().map(|comment| comment["body"].clone()).collect();
        assert_eq!(bodies, ["Nearly.", "This was better.", "@Lead will see to it"]);
        assert_eq!(said[0]["position"], Value::Null);
        assert_eq!(said[1]["position"], json!({
            "path": "src/a b.rs", "side": "left", "line": 4, "startLine": 2,
            "commit": COMMIT.to_lowercase(),
        }));
        assert_eq!(said[2]["position"], json!({
            "path": "docs/näme.md", "side": "right", "line": 1, "startLine": null, "commit": null,
        }));
        assert!(said[0]["reviewId"].is_string());
        assert!(said.iter().all(|comment| comment["reviewId"] == said[0]["reviewId"]));
        assert_eq!(listed(api, &part), answer["comments"], "and so they are read");
        let told = reasons(api, &it, &it.worker, &part);
        assert_eq!(told.len(), before + 1, "one wake");
        assert_eq!(told[0], "issue_assigned");
        let rows = activity(api, &part);
        let reviewed: Vec<_> = rows.iter().filter(|row| row["action"] == "issue.reviewed").collect();
        assert_eq!(reviewed.len(), 1);
        assert_eq!(reviewed[0]["details"], json!({
            "identifier": part["identifier"], "reviewId": said[0]["reviewId"],
            "verdict": "changes_requested", "comments": 3,
        }));
        assert!(rows.iter().all(|row| row["action"] != "issue.comment_added"), "{rows:?}");
    }

    fn an_approval_needs_no_words_and_ends_the_work(api) {
        let (it, part) = waiting(api);
        let answer = review(api, &it, &part, &json!({ "verdict": "approved" })).ok(201);
        assert_eq!(answer["issue"]["status"], "done");
        assert_eq!(answer["issue"].get("rewritten"), None);
        assert_eq!(answer["comments"], json!([]));
        assert_eq!(listed(api, &part), json!([]));
        let again = review(api, &it, &part, &json!({ "verdict": "approved" }));
        let problem = again.problem(409, "checkout_conflict");
        assert_eq!(problem["details"]["reason"], "status_mismatch");
        assert_eq!(problem["details"]["status"], "done");
    }

    fn the_approval_of_a_ticket_is_the_boards(api) {
        let it = Ticket::new(api);
        it.plan(api);
        it.change(api, &it.top, &json!({ "status": "in_review" }));
        let approved = json!({ "verdict": "approved", "body": "All is well." });
        let answer = review(api, &it, &it.top, &approved).ok(201);
        assert_eq!(answer["issue"]["status"], "in_review");
        let rewritten = json!({ "from": "done", "reason": "approval_required" });
        assert_eq!(answer["issue"]["rewritten"], rewritten);
        assert_eq!(api.post(&of_issue(&it.top), &approved).ok(201)["issue"]["status"], "done");
    }

    fn remarks_move_nothing_and_are_for_everybody(api) {
        let (it, part) = waiting(api);
        let other = api.key(&api.agent(&it.company, "Other"));
        let before = now(api, &part);
        let remarks = json!({ "verdict": "commented", "comments": [remark(&json!({}))] });
        let runs = [&it.lead, &it.worker].map(|agent| reasons(api, &it, agent, &part).len());
        let answer = api.bearing(&other).post(&of_issue(&part), &remarks).ok(201);
        assert_eq!(answer["issue"]["status"], "in_review");
        assert_eq!(now(api, &part), before);
        let after = [&it.lead, &it.worker].map(|agent| reasons(api, &it, agent, &part));
        // The lead was told that it reviews, and that wake waits still.
        assert_eq!(after[0].len(), runs[0]);
        assert_eq!((after[1].len(), &after[1][0]), (runs[1] + 1, &json!("issue_commented")));
        for verdict in ["approved", "changes_requested"] {
            let decided = json!({ "verdict": verdict, "body": "I say so." });
            api.bearing(&other).post(&of_issue(&part), &decided).problem(403, "forbidden");
        }
        assert_eq!(now(api, &part), before);
        assert_eq!(listed(api, &part), answer["comments"]);
    }

    fn a_repeated_review_is_taken_down_once(api) {
        let (it, part) = waiting(api);
        let body = json!({ "verdict": "changes_requested", "comments": [remark(&json!({}))] });
        let lead = api.bearing(&it.keys[0]);
        let key = [("Idempotency-Key", "again")];
        let first = lead.send_with("POST", &of_issue(&part), &key, &body).ok(201);
        let second = lead.send_with("POST", &of_issue(&part), &key, &body);
        assert_eq!(second.header("idempotency-replayed"), Some("true"));
        assert_eq!(second.ok(201), first);
        assert_eq!(listed(api, &part), first["comments"]);
        let other = json!({ "verdict": "approved" });
        let other = lead.send_with("POST", &of_issue(&part), &key, &other);
        other.problem(422, "idempotency_key_reused");
    }

    fn a_review_sends_a_ticket_back_while_its_pull_request_waits_for_the_board(api) {
        let office = Office::new(api);
        office.approved(api);
        let lead = api.bearing(&office.key);
        let filed = lead.post(&of(&office.company), &office.pull_request()).ok(201);
        api.patch(&office.path(), &json!({ "status": "in_review" })).ok(200);
        let review = json!({ "verdict": "changes_requested", "body": "The greeting is rude." });
        let reviews = format!("{}/reviews", office.path());
        let answer = api.post(&reviews, &review).ok(201);
        assert_eq!(answer["issue"]["status"], "in_progress");
        assert_eq!(answer["issue"]["assigneeAgentId"], office.lead["id"]);
        assert_eq!(approvals::now(api, &filed)["status"], "pending", "the board has not decided");
        let done = lead.patch(&office.path(), &json!({ "status": "done" })).ok(200);
        assert_eq!(done["rewritten"]["reason"], "approval_required");
        api.post(&act(&filed, "approve"), &json!({})).ok(200);
        assert_eq!(api.get(&office.path()).ok(200)["status"], "done");
    }
}
