//! Plans that agents write into their issues.

use serde_json::json;

use crate::approval_plans::{Desk, issue};
use crate::approvals::{act, now, of};
use crate::support::{api_tests, id};

api_tests! {
    fn a_plan_in_the_description_is_filed_with_the_wish_for_a_review(api) {
        let desk = Desk::new(api);
        let own = api.bearing(&desk.key);
        let path = format!("/api/issues/{}", id(&desk.issue));
        let written = |plan: &str| {
            json!({
                "description": format!("Think.\n<plan>\n{plan}\n</plan>"),
                "status": "in_review", "comment": "Please look.",
            })
        };
        let answer = own.patch(&path, &written("1. do")).ok(200);
        assert_eq!(answer["status"], "blocked", "{answer}");
        assert_eq!(answer["rewritten"]["from"], "in_review");
        assert_eq!(answer["rewritten"]["reason"], "plan_filed");
        assert_eq!(answer["comment"]["body"], "Please look.");
        let plan = json!({ "id": answer["rewritten"]["approvalId"] });
        let filed = now(api, &plan);
        assert_eq!((&filed["type"], &filed["payload"]["plan"]), (&json!("approve_issue_plan"), &json!("1. do")));
        assert_eq!(filed["requestedByAgentId"], desk.ada["id"]);
        assert!(filed["payload"].get("workspace").is_none(), "{filed}");
        // Sent again, it is the same; after the board wanted a change, it is the plan as it is now.
        api.post(&act(&plan, "request-revision"), &json!({ "decisionNote": "more" })).ok(200);
        assert_eq!(desk.status(api), "in_progress");
        let answer = own.patch(&path, &written("1. do 2. test")).ok(200);
        assert_eq!(answer["rewritten"]["approvalId"], plan["id"], "{answer}");
        let filed = now(api, &plan);
        assert_eq!((&filed["status"], &filed["payload"]["plan"]), (&json!("pending"), &json!("1. do 2. test")));
        assert_eq!(desk.status(api), "blocked");
        api.post(&act(&plan, "approve"), &json!({})).ok(200);
        assert_eq!(desk.status(api), "in_progress");
        // An approved plan stands; what is asked for now is a review.
        let answer = own.patch(&path, &json!({ "status": "in_review" })).ok(200);
        assert_eq!((&answer["status"], answer.get("rewritten")), (&json!("in_review"), None), "{answer}");
        assert_eq!(now(api, &plan)["status"], "approved");
    }

    fn only_an_agent_that_may_change_the_issue_files_its_plan(api) {
        let desk = Desk::new(api);
        let path = format!("/api/issues/{}", id(&desk.issue));
        let written = json!({ "description": "<plan>1. do</plan>" });
        api.patch(&path, &written).ok(200);
        let approvals = || api.get(&of(&desk.company)).ok(200);
        let bob = api.agent(&desk.company, "Bob");
        let bob = api.bearing(&api.key(&bob));
        bob.patch(&path, &json!({ "status": "in_review" })).problem(403, "forbidden");
        assert_eq!(approvals(), json!([]));
        // The board asks nobody.
        assert_eq!(api.patch(&path, &json!({ "status": "in_review" })).ok(200)["status"], "in_review");
        api.patch(&path, &json!({ "status": "in_progress" })).ok(200);
        let own = api.bearing(&desk.key);
        for empty in ["<plan> \n</plan>", "<plan>1. do", "1. do</plan>"] {
            let change = json!({ "description": empty, "status": "in_review" });
            assert_eq!(own.patch(&path, &change).ok(200)["status"], "in_review", "{empty}");
            own.patch(&path, &json!({ "status": "in_progress" })).ok(200);
        }
        assert_eq!(approvals(), json!([]));
        // Nothing is written where the plan cannot be.
        let long = format!("<plan>{}</plan>", "x".repeat(70_000));
        let change = json!({ "title": "Other", "description": long, "status": "in_review" });
        own.patch(&path, &change).problem(422, "invalid_field");
        assert_eq!(issue(api, &desk.issue)["title"], "Epic");
    }
}
