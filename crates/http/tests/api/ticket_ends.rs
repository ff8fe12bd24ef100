//! How tickets with worktrees come to their end, and what else they are asked to end by.

use serde_json::{Value, json};

use crate::approvals::{act, faulty, history, now, of};
use crate::support::{Api, api_tests, id};
use crate::tickets::Office;

/// The lead begins to work on its ticket, which has a worktree.
fn begun(api: &Api) -> Office {
    let office = Office::new(api);
    office.approved(api);
    let lead = api.bearing(&office.key);
    let seen = lead.patch(&office.path(), &json!({ "status": "in_progress" }));
    assert_eq!(seen.ok(200)["status"], "in_progress");
    office
}

/// An open part of the ticket.
fn part(api: &Api, office: &Office) -> String {
    let part = json!({ "title": "Part", "status": "todo", "parentId": office.issue_id() });
    format!("/api/issues/{}", id(&api.issue(&office.company, &part)))
}

fn advances(api: &Api, path: &str) -> bool {
    !api.get(path).ok(200)["advance"].is_null()
}

api_tests! {
    fn a_ticket_below_another_issue_comes_before_the_board_too(api) {
        let office = begun(api);
        let epic = json!({ "title": "Epic", "status": "todo" });
        let epic = api.issue(&office.company, &epic);
        api.patch(&office.path(), &json!({ "parentId": id(&epic) })).ok(200);
        let lead = api.bearing(&office.key);
        let done = lead.patch(&office.path(), &json!({ "status": "done" })).ok(200);
        assert_eq!(done["status"], "in_review", "{done}");
        assert_eq!(done["rewritten"]["reason"], "approval_required", "{done}");
        assert_eq!(done["assigneeAgentId"], office.lead["id"], "{done}");
        assert!(advances(api, &office.path()));
        // A reviewer agrees to the work, and the board decides on the push all the same.
        let filed = lead.post(&of(&office.company), &office.pull_request()).ok(201);
        let review = json!({ "verdict": "approved", "body": "Good." });
        let reviews = format!("{}/reviews", office.path());
        for reviewed in [lead.post(&reviews, &review), api.post(&reviews, &review)] {
            let reviewed = reviewed.ok(201);
            assert_eq!(reviewed["issue"]["status"], "in_review", "{reviewed}");
            let rewritten = &reviewed["issue"]["rewritten"];
            assert_eq!(rewritten["reason"], "approval_required", "{reviewed}");
            assert_eq!(rewritten["approvalId"], filed["id"], "{reviewed}");
            assert_eq!(reviewed["comments"][0]["body"], "Good.", "{reviewed}");
        }
        api.post(&act(&filed, "approve"), &json!({})).ok(200);
        assert_eq!(api.get(&office.path()).ok(200)["status"], "done");
    }

    fn what_works_in_a_worktree_ends_with_its_ticket(api) {
        for to in ["cancelled", "done"] {
            let office = begun(api);
            let lead = api.bearing(&office.key);
            let part = part(api, &office);
            let plan = json!({ "type": "approve_issue_plan", "payload": { "issueId": part[12..] } });
            let plan = api.post(&of(&office.company), &plan).ok(201);
            for asked in ["cancelled", "done"] {
                let refused = lead.patch(&office.path(), &json!({ "status": asked }));
                let refused = refused.problem(409, "children_open");
                assert_eq!(refused["details"]["children"][0]["id"], part[12..], "{refused}");
            }
            api.patch(&office.path(), &json!({ "status": to })).ok(200);
            assert_eq!(api.get(&part).ok(200)["status"], to);
            assert_eq!(now(api, &plan)["status"], "cancelled");
            let activity = api.get(&format!("{part}/activity")).ok(200);
            let cascade = |row: &Value| row["details"]["completedBy"] == "cascade";
            assert!(activity.as_array().unwrap().iter().any(cascade), "{activity}");
        }
    }

    fn the_last_part_that_is_deleted_lets_its_ticket_go_on(api) {
        let office = begun(api);
        let (done, deleted) = (part(api, &office), part(api, &office));
        api.patch(&done, &json!({ "status": "done" })).ok(200);
        assert_eq!(api.get(&office.path()).ok(200)["status"], "in_progress");
        assert!(!advances(api, &office.path()));
        api.send("DELETE", &deleted, &[], b"").ok(200);
        assert_eq!(api.get(&office.path()).ok(200)["status"], "in_review");
        assert!(advances(api, &office.path()));
    }

    fn the_board_is_asked_for_one_end_of_a_ticket(api) {
        let office = begun(api);
        let lead = api.bearing(&office.key);
        let ends = |kind: &str| json!({ "type": kind, "payload": { "issueId": office.issue_id() } });
        let completion = lead.post(&of(&office.company), &ends("approve_completion"));
        faulty(&completion, "invalid_field", "/payload/issueId");
        let first = lead.post(&of(&office.company), &ends("approve_pull_request")).ok(201);
        let other = lead.post(&of(&office.company), &ends("approve_push_to_existing_pr")).ok(201);
        let first = now(api, &first);
        assert_eq!(first["status"], "cancelled", "{first}");
        // What is decided already is told before anything else.
        api.post(&act(&first, "approve"), &json!({})).problem(422, "approval_not_pending");
        api.send("DELETE", &office.path(), &[], b"").ok(200);
        let other = now(api, &other);
        assert_eq!(other["status"], "cancelled", "{other}");
        for verdict in ["approve", "reject", "request-revision"] {
            let refused = api.post(&act(&other, verdict), &json!({}));
            refused.problem(422, "approval_not_pending");
        }
    }

    fn a_plan_that_is_written_again_before_the_board_decides_replaces_the_first(api) {
        let office = Office::new(api);
        let lead = api.bearing(&office.key);
        let written = |plan: &str| {
            json!({ "description": format!("<plan>{plan}</plan>"), "status": "in_review" })
        };
        let first = lead.patch(&office.path(), &written("1. do")).ok(200);
        let plan = json!({ "id": first["rewritten"]["approvalId"] });
        let seen = api.get(&format!("/api/approvals/{}", id(&plan)));
        let etag = seen.header("etag").unwrap().to_owned();
        for _ in 0..2 {
            let again = lead.patch(&office.path(), &written("1. do 2. test")).ok(200);
            assert_eq!(again["rewritten"]["approvalId"], plan["id"], "{again}");
        }
        let filed = now(api, &plan);
        assert_eq!(filed["payload"]["plan"], "1. do 2. test", "{filed}");
        assert_eq!(history(&filed), ["created", "edited"], "{filed}");
        // Nobody agrees to what it has not read.
        let seen = [("if-match", etag.as_str())];
        let unseen = api.send("POST", &act(&plan, "approve"), &seen, b"{}");
        unseen.problem(412, "revision_conflict");
    }
}
