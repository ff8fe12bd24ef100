//! What stands against a review (docs/issues.md#reviews-in-one-call).

use serde_json::{Value, json};

use crate::approvals::{act, faulty, of};
use crate::line_reviews::{COMMIT, listed, now, of_issue, remark, review, waiting};
use crate::reviews::{Ticket, path};
use crate::secrets;
use crate::support::{Answer, api_tests, id};

/// Refused before anything is looked at: where in the body it is wrong.
#[track_caller]
fn unread(answer: &Answer, pointer: &str) {
    let problem = answer.problem(400, "invalid_json");
    assert_eq!(problem["details"][0]["pointer"], pointer, "{problem}");
}

fn commented(remark: &Value) -> Value {
    json!({ "verdict": "commented", "comments": [remark] })
}

api_tests! {
    fn another_company_sees_no_issue_to_review(api) {
        let (_it, part) = waiting(api);
        let stranger = api.key(&api.agent(&api.company("Bee"), "Stranger"));
        let remarks = json!({ "verdict": "commented", "body": "Hello" });
        api.bearing(&stranger).post(&of_issue(&part), &remarks).problem(404, "not_found");
        assert_eq!(listed(api, &part), json!([]));
    }

    fn nothing_is_reviewed_in_a_stopped_company(api) {
        let (it, part) = waiting(api);
        let company = format!("/api/companies/{}/pause", id(&it.company));
        api.post(&company, &json!({})).ok(200);
        for verdict in ["approved", "changes_requested", "commented"] {
            let body = json!({ "verdict": verdict, "body": "Words" });
            review(api, &it, &part, &body).problem(409, "company_not_active");
        }
        assert_eq!(now(api, &part)["status"], "in_review");
        assert_eq!(listed(api, &part), json!([]));
    }

    fn only_work_in_review_is_judged(api) {
        let it = Ticket::new(api);
        it.plan(api);
        let part = it.part(api);
        for verdict in ["approved", "changes_requested"] {
            let body = json!({ "verdict": verdict, "body": "Early" });
            let problem = review(api, &it, &part, &body).problem(409, "checkout_conflict");
            assert_eq!(problem["details"]["reason"], "status_mismatch");
            assert_eq!(problem["details"]["assigneeAgentId"], it.worker["id"]);
        }
        assert_eq!(listed(api, &part), json!([]), "nothing is kept of what was refused");
        review(api, &it, &part, &json!({ "verdict": "commented", "body": "Early" })).ok(201);
    }

    fn a_review_says_something(api) {
        let (it, part) = waiting(api);
        for verdict in ["changes_requested", "commented"] {
            for body in [json!({ "verdict": verdict }), json!({ "verdict": verdict, "comments": [] })] {
                faulty(&review(api, &it, &part, &body), "invalid_field", "/body");
            }
        }
        for (body, pointer) in [
            (json!({ "body": "Fine" }), "/verdict"),
            (json!({ "verdict": "fine" }), "/verdict"),
            (json!({ "verdict": "approved", "body": " \n" }), "/body"),
            (json!({ "verdict": "approved", "body": "x".repeat(100 * 1024 + 1) }), "/body"),
            (json!({ "verdict": "approved", "comments": {} }), "/comments"),
            (json!({ "verdict": "approved", "comments": [["src", 1, "Why?"]] }), "/comments/0"),
        ] {
            let answer = review(api, &it, &part, &body);
            if body.get("verdict").is_none() {
                answer.problem(400, "invalid_json");
            } else {
                unread(&answer, pointer);
            }
        }
        assert_eq!(now(api, &part)["status"], "in_review");
    }

    fn a_remark_is_about_lines_of_a_file(api) {
        let (it, part) = waiting(api);
        let (longest, long) = ("x".repeat(4096), "x".repeat(4097));
        for path in [
            "", "/etc/passwd", "a//b", "a/", "./a", "a/.", "../a", "a/../b", "a\u{7}b", "a\nb",
            "a\u{0}b", "a\u{9b}b", &long,
        ] {
            let answer = review(api, &it, &part, &commented(&remark(&json!({ "path": path }))));
            unread(&answer, "/comments/0/path");
        }
        for (field, wrong) in [
            ("line", json!(0)), ("line", json!(-1)), ("line", json!(1.5)), ("line", json!("1")),
            ("line", json!(2_147_483_648_i64)), ("line", Value::Null), ("startLine", json!(0)),
            ("side", json!("both")), ("commit", json!("HEAD")), ("commit", json!(&COMMIT[..39])),
            ("commit", json!(COMMIT.replace('0', "g"))), ("body", json!("")),
        ] {
            let wrong = remark(&json!({ field: wrong }));
            let answer = review(api, &it, &part, &commented(&wrong));
            unread(&answer, &format!("/comments/0/{field}"));
        }
        let after = json!({ "startLine": 4, "line": 3 });
        let two = json!({ "verdict": "commented", "comments": [remark(&json!({})), remark(&after)] });
        faulty(&review(api, &it, &part, &two), "invalid_field", "/comments/1/startLine");
        let many = vec![remark(&json!({})); 101];
        let many = json!({ "verdict": "commented", "comments": many });
        faulty(&review(api, &it, &part, &many), "invalid_field", "/comments");
        assert_eq!(listed(api, &part), json!([]));
        for path in [&*longest, "...", ".git/a", "a b ", "a\\b", "ä"] {
            let last = json!({ "path": path, "line": 2_147_483_647, "startLine": 2_147_483_647,
                "side": null, "commit": COMMIT.repeat(2)[..64] });
            let answer = review(api, &it, &part, &commented(&remark(&last))).ok(201);
            assert_eq!(answer["comments"][0]["position"]["path"], path);
        }
    }

    fn a_plan_that_is_undecided_keeps_work_from_going_back(api) {
        let (it, part) = waiting(api);
        let plan = json!({ "type": "approve_issue_plan", "payload": { "issueId": id(&it.top) } });
        let plan = api.post(&of(&it.company), &plan).ok(201);
        let body = json!({ "verdict": "changes_requested", "body": "Again" });
        let problem = review(api, &it, &part, &body).problem(409, "approval_pending");
        assert_eq!(problem["details"]["approvalId"], plan["id"]);
        assert_eq!(listed(api, &part), json!([]));
        api.post(&act(&plan, "approve"), &json!({})).ok(200);
        review(api, &it, &part, &body).ok(201);
    }

    fn what_is_not_finished_or_planned_is_not_approved(api) {
        let (it, _project) = Ticket::demanded(api);
        it.change(api, &it.top, &json!({ "status": "in_review" }));
        let approved = json!({ "verdict": "approved" });
        let problem = review(api, &it, &it.top, &approved).problem(409, "plan_required");
        assert_eq!(problem["details"]["issueId"], it.top["id"]);
        it.plan(api);
        let part = it.part(api);
        it.change(api, &it.top, &json!({ "status": "in_review" }));
        let problem = review(api, &it, &it.top, &approved).problem(409, "children_open");
        assert_eq!(problem["details"]["children"][0]["id"], part["id"]);
    }

    fn somebody_must_go_on_with_the_work(api) {
        let company = api.company("Acme");
        let nobodys = api.issue(&company, &json!({ "title": "Work", "status": "in_review" }));
        let body = json!({ "verdict": "changes_requested", "body": "Again" });
        faulty(&api.post(&of_issue(&nobodys), &body), "assignee_required", "/verdict");
        let ada = api.agent(&company, "Ada");
        let own = json!({ "title": "Work", "status": "in_review", "assigneeAgentId": id(&ada) });
        let own = api.issue(&company, &own);
        let key = api.key(&ada);
        api.bearing(&key).post(&of_issue(&own), &body).problem(403, "forbidden");
        let answer = api.post(&of_issue(&own), &body).ok(201);
        assert_eq!(answer["issue"]["assigneeAgentId"], ada["id"]);
        assert_eq!(answer["issue"]["status"], "in_progress");
    }

    fn a_run_that_answers_a_mention_sends_nothing_back(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let own = json!({ "title": "Work", "status": "in_review", "assigneeAgentId": id(&ada) });
        let issue = api.issue(&company, &own);
        api.patch(&path(&issue), &json!({ "assigneeUserId": "local-board" })).ok(200);
        let ask = json!({ "verdict": "commented", "body": "@Ada what do you think?" });
        api.post(&of_issue(&issue), &ask).ok(201);
        let (run, token) = secrets::start(api, &json!({}));
        let run = api.get(&format!("/api/heartbeat-runs/{run}")).ok(200);
        assert_eq!((&run["kind"], &run["reason"]), (&json!("consult"), &json!("issue_comment_mentioned")));
        let back = json!({ "verdict": "changes_requested", "body": "Again" });
        api.bearing(&token).post(&of_issue(&issue), &back).problem(403, "consult_run");
        let remarks = json!({ "verdict": "commented", "body": "I agree" });
        api.bearing(&token).post(&of_issue(&issue), &remarks).ok(201);
    }
}
