//! Plans and other approvals that govern how issues move.

use serde_json::{Value, json};

use crate::approvals::{act, faulty, history, now, of};
use crate::support::{Api, NOTHING, api_tests, id};

/// A company, an agent with its key, and an issue that it works on.
pub(crate) struct Desk {
    pub(crate) company: Value,
    pub(crate) ada: Value,
    pub(crate) key: String,
    pub(crate) issue: Value,
}

impl Desk {
    pub(crate) fn new(api: &Api) -> Self {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let key = api.key(&ada);
        let issue = json!({ "title": "Epic", "status": "todo", "assigneeAgentId": id(&ada) });
        let issue = api.issue(&company, &issue);
        Self {
            company,
            ada,
            key,
            issue,
        }
    }

    /// The body of a plan for the issue.
    fn plan(&self) -> Value {
        json!({ "type": "approve_issue_plan", "payload": { "issueId": id(&self.issue), "plan": "1. do" } })
    }

    /// The plan that the agent filed.
    fn filed(&self, api: &Api) -> Value {
        api.bearing(&self.key)
            .post(&of(&self.company), &self.plan())
            .ok(201)
    }

    /// Something that the agent filed about the issue.
    fn asked(&self, api: &Api, kind: &str) -> Value {
        let body = json!({ "type": kind, "payload": { "issueId": id(&self.issue) } });
        api.bearing(&self.key)
            .post(&of(&self.company), &body)
            .ok(201)
    }

    pub(crate) fn status(&self, api: &Api) -> Value {
        issue(api, &self.issue)["status"].clone()
    }

    fn move_to(&self, api: &Api, status: &str) {
        let path = format!("/api/issues/{}", id(&self.issue));
        api.patch(&path, &json!({ "status": status })).ok(200);
    }

    /// The reasons of the agent's runs, newest first.
    fn reasons(&self, api: &Api) -> Vec<Value> {
        let path = format!(
            "/api/companies/{}/heartbeat-runs?agentId={}",
            id(&self.company),
            id(&self.ada)
        );
        let runs = api.get(&path).ok(200);
        let runs = runs.as_array().unwrap();
        runs.iter().map(|run| run["reason"].clone()).collect()
    }
}

pub(crate) fn issue(api: &Api, issue: &Value) -> Value {
    api.get(&format!("/api/issues/{}", id(issue))).ok(200)
}

api_tests! {
    fn a_plan_that_waits_keeps_its_issue_and_all_below_from_being_worked_on(api) {
        let desk = Desk::new(api);
        let child = json!({ "title": "Part", "parentId": id(&desk.issue), "status": "todo" });
        let child = api.issue(&desk.company, &child);
        let plan = desk.filed(api);
        assert_eq!(desk.status(api), "blocked");
        let bob = api.agent(&desk.company, "Bob");
        for below in [&desk.issue, &child] {
            let path = format!("/api/issues/{}", id(below));
            let conflict = api.bearing(&desk.key).post(&format!("{path}/checkout"), &json!({}));
            let conflict = conflict.problem(409, "checkout_conflict");
            assert_eq!(conflict["details"]["reason"], "approval_pending");
            assert_eq!(conflict["details"]["approvalId"], plan["id"]);
            for change in [
                json!({ "assigneeAgentId": id(&bob) }),
                json!({ "status": "in_progress", "assigneeAgentId": id(&bob) }),
            ] {
                let problem = api.patch(&path, &change).problem(409, "approval_pending");
                assert_eq!(problem["details"]["approvalId"], plan["id"]);
                assert_eq!(problem["retryable"], false);
            }
            let grandchild = json!({ "title": "Bit", "parentId": id(below) });
            let issues = format!("/api/companies/{}/issues", id(&desk.company));
            api.post(&issues, &grandchild).problem(409, "approval_pending");
            let comment = json!({ "body": "still thinking" });
            api.post(&format!("{path}/comments"), &comment).ok(201);
        }
        let path = format!("/api/issues/{}", id(&child));
        api.patch(&path, &json!({ "parentId": null })).problem(409, "approval_pending");
        let free = api.issue(&desk.company, &json!({ "title": "Free" }));
        let below = json!({ "parentId": id(&desk.issue) });
        api.patch(&format!("/api/issues/{}", id(&free)), &below).problem(409, "approval_pending");
        api.patch(&path, &json!({ "title": "Another part" })).ok(200);

        api.post(&act(&plan, "approve"), &json!({})).ok(200);
        api.bearing(&desk.key).post(&format!("{path}/checkout"), &json!({})).ok(200);
    }

    fn an_approved_plan_gives_the_work_to_whoever_asked(api) {
        let desk = Desk::new(api);
        let before = issue(api, &desk.issue);
        let other = api.issue(&desk.company, &json!({ "title": "Other", "status": "todo" }));
        let mut body = desk.plan();
        body["issueIds"] = json!([id(&other)]);
        let plan = api.post(&of(&desk.company), &{
            body["requestedByAgentId"] = desk.ada["id"].clone();
            body
        });
        let plan = plan.ok(201);
        assert_eq!(issue(api, &other)["status"], "blocked");
        let forced = api.post(&act(&plan, "approve"), &json!({ "force": true })).ok(200);
        assert_eq!(forced["events"][1]["details"], json!({ "override": true }));
        let after = issue(api, &desk.issue);
        assert_eq!(after["status"], "in_progress");
        assert_eq!(after["assigneeAgentId"], desk.ada["id"]);
        assert_eq!(after["workflowEpoch"], before["workflowEpoch"].as_i64().unwrap() + 1);
        let other = issue(api, &other);
        assert_eq!((&other["status"], &other["assigneeAgentId"]), (&json!("todo"), &Value::Null));
        assert_eq!(desk.reasons(api).len(), 1, "the wakes about one issue are one");
        let activity = format!(
            "/api/companies/{}/activity?entityId={}",
            id(&desk.company),
            id(&plan)
        );
        assert_eq!(api.get(&activity).ok(200)[0]["details"]["override"], true);
        // The board's own plan gives the issue back to whoever has it.
        desk.move_to(api, "todo");
        let own = api.post(&of(&desk.company), &desk.plan()).ok(201);
        assert_eq!(desk.status(api), "blocked");
        api.post(&act(&own, "approve"), &json!({})).ok(200);
        assert_eq!(desk.status(api), "todo");
    }

    fn a_rejected_plan_comes_back_with_the_reason(api) {
        let desk = Desk::new(api);
        desk.move_to(api, "backlog");
        desk.move_to(api, "todo");
        let plan = desk.filed(api);
        let rejected = api.post(&act(&plan, "reject"), &json!({ "decisionNote": "too dear" }));
        assert_eq!(rejected.ok(200)["warnings"], json!([]));
        assert_eq!(desk.status(api), "in_progress");
        let comments = api.get(&format!("/api/issues/{}/comments", id(&desk.issue))).ok(200);
        let body = comments[0]["body"].as_str().unwrap();
        assert!(body.contains("rejected") && body.contains("too dear"), "{body}");
        assert_eq!(comments[0]["authorType"], "board");
        let again = desk.filed(api);
        assert_ne!(again["id"], plan["id"]);
        let silent = api.post(&act(&again, "reject"), &json!({})).ok(200);
        assert_eq!(silent["warnings"].as_array().unwrap().len(), 1);
    }

    fn a_plan_in_revision_lets_its_author_work_and_nobody_else(api) {
        let desk = Desk::new(api);
        let child = json!({ "title": "Part", "parentId": id(&desk.issue), "status": "todo" });
        let child = api.issue(&desk.company, &child);
        let plan = desk.filed(api);
        let note = json!({ "decisionNote": "smaller, please" });
        api.post(&act(&plan, "request-revision"), &note).ok(200);
        assert_eq!(desk.status(api), "in_progress");
        let checkout = format!("/api/issues/{}/checkout", id(&desk.issue));
        api.bearing(&desk.key).post(&checkout, &json!({})).ok(200);
        let below = format!("/api/issues/{}/checkout", id(&child));
        api.bearing(&desk.key).post(&below, &json!({})).problem(409, "checkout_conflict");
        let elsewhere = json!({ "payload": { "issueId": id(&child) } });
        faulty(
            &api.bearing(&desk.key).post(&act(&plan, "resubmit"), &elsewhere),
            "invalid_field",
            "/payload/issueId",
        );
        let smaller = json!({ "payload": { "issueId": id(&desk.issue), "plan": "1. less" } });
        let again = api.bearing(&desk.key).post(&act(&plan, "resubmit"), &smaller).ok(200);
        assert_eq!(again["payload"]["plan"], "1. less");
        assert_eq!(desk.status(api), "blocked");
        assert!(desk.reasons(api).iter().any(|reason| reason == "issue_assigned"));
    }

    fn a_pull_request_waits_in_review(api) {
        let desk = Desk::new(api);
        desk.move_to(api, "in_review");
        let asked = desk.asked(api, "approve_pull_request");
        assert_eq!(desk.status(api), "in_review");
        api.post(&act(&asked, "request-revision"), &json!({ "decisionNote": "tests" })).ok(200);
        assert_eq!(desk.status(api), "in_progress");
        api.bearing(&desk.key).post(&act(&asked, "resubmit"), &json!({})).ok(200);
        assert_eq!(desk.status(api), "in_review");
        let nowhere = api.post(&act(&asked, "approve"), &json!({ "force": true }));
        faulty(&nowhere, "invalid_field", "/payload/issueId");
        assert_eq!(desk.status(api), "in_review", "there is no worktree to push from");
        let other = desk.asked(api, "approve_push_to_existing_pr");
        api.post(&act(&other, "reject"), &json!({ "decisionNote": "no" })).ok(200);
        assert_eq!(desk.status(api), "in_progress");
    }

    fn an_approved_completion_completes(api) {
        let desk = Desk::new(api);
        desk.move_to(api, "in_review");
        let asked = desk.asked(api, "approve_completion");
        let granted = api.post(&act(&asked, "approve"), &json!({ "force": true })).ok(200);
        assert_eq!(history(&granted), ["created", "approved"]);
        assert_eq!(granted["events"][1]["details"], json!({ "force": true }));
        assert_eq!(granted["execution"], Value::Null);
        let done = issue(api, &desk.issue);
        assert_eq!(done["status"], "done");
        assert!(done["completedAt"].is_string());
    }

    fn what_loses_its_last_open_issue_is_cancelled(api) {
        let desk = Desk::new(api);
        let other = api.issue(&desk.company, &json!({ "title": "Other", "status": "todo" }));
        let mut body = desk.plan();
        body["issueIds"] = json!([id(&other)]);
        let plan = api.post(&of(&desk.company), &body).ok(201);
        let asked = desk.asked(api, "approve_completion");
        desk.move_to(api, "done");
        assert_eq!(now(api, &plan)["status"], "pending", "another issue is open");
        let cancelled = now(api, &asked);
        assert_eq!(cancelled["status"], "cancelled");
        assert_eq!(cancelled["events"][1]["details"], json!({ "reason": "issues_ended" }));
        let path = format!("/api/issues/{}", id(&other));
        api.patch(&path, &json!({ "status": "cancelled" })).ok(200);
        assert_eq!(now(api, &plan)["status"], "cancelled");
        api.post(&act(&plan, "approve"), &json!({})).problem(422, "approval_not_pending");
        let ended = desk.plan();
        faulty(&api.post(&of(&desk.company), &ended), "invalid_field", "/payload/issueId");
        let gone = api.issue(&desk.company, &json!({ "title": "ReaderGone" }));
        let body = json!({ "type": "request_board_approval", "payload": { "issueId": id(&gone) } });
        let asked = api.post(&of(&desk.company), &body).ok(201);
        api.send("DELETE", &format!("/api/issues/{}", id(&gone)), &[], b"").ok(200);
        let cancelled = now(api, &asked);
        assert_eq!(cancelled["status"], "cancelled");
        assert_eq!(cancelled["linkedIssueIds"], json!([]));
    }

    fn a_plan_is_filed_once_and_overtaken_by_a_wider_one(api) {
        let desk = Desk::new(api);
        let plan = desk.filed(api);
        let same = api.bearing(&desk.key).post(&of(&desk.company), &desk.plan()).ok(200);
        assert_eq!(same, plan);
        let asked = desk.asked(api, "approve_completion");
        assert_ne!(asked["id"], plan["id"], "another type is another question");
        let top = json!({ "title": "Top", "status": "todo", "assigneeAgentId": id(&desk.ada) });
        let top = api.issue(&desk.company, &top);
        let wider = json!({
            "type": "approve_issue_plan",
            "payload": { "issueId": id(&top) },
            "issueIds": [id(&desk.issue)],
        });
        let wider = api.bearing(&desk.key).post(&of(&desk.company), &wider).ok(201);
        let old = now(api, &plan);
        assert_eq!(old["status"], "cancelled");
        assert_eq!(old["events"][1]["details"], json!({ "reason": "superseded" }));
        assert_eq!(now(api, &wider)["status"], "pending");
        api.bearing(&desk.key).post(&act(&wider, "cancel"), &json!({})).ok(200);
        assert_eq!(desk.status(api), "in_progress", "what was withdrawn blocks nothing");
    }

    fn only_who_has_a_stake_in_an_issue_governs_it(api) {
        let desk = Desk::new(api);
        let eve = api.agent(&desk.company, "Eve");
        let key = api.key(&eve);
        api.bearing(&key).post(&of(&desk.company), &desk.plan()).problem(403, "forbidden");
        assert_eq!(desk.status(api), "todo");
        let question = json!({
            "type": "agent_question",
            "payload": { "question": "whose is it?", "issueId": id(&desk.issue) },
        });
        api.bearing(&key).post(&of(&desk.company), &question).ok(201);
        assert_eq!(desk.status(api), "todo");
    }

    fn a_plan_says_what_it_must(api) {
        let desk = Desk::new(api);
        let own = id(&desk.issue);
        let workspace = |workspace: Value| json!({ "issueId": own, "workspace": workspace });
        let path = of(&desk.company);
        let refused = |payload: Value, code: &str, pointer: &str| {
            let body = json!({ "type": "approve_issue_plan", "payload": payload });
            faulty(&api.post(&path, &body), code, pointer);
        };
        refused(json!({}), "invalid_field", "/payload/issueId");
        refused(json!({ "issueId": 5 }), "invalid_field", "/payload/issueId");
        refused(json!({ "issueId": own, "projectId": NOTHING }), "reference_not_found", "/payload/projectId");
        refused(workspace(json!("x")), "invalid_field", "/payload/workspace");
        for key in ["abc-1", "ABC", "ABC-", "ABC-1234567890", "ABC-1;rm"] {
            let pointer = "/payload/workspace/ticketKey";
            refused(workspace(json!({ "ticketKey": key })), "invalid_field", pointer);
        }
        for branch in [
            "main", "-feature/x", "feature/", "feature/..x", "feature/x.lock", "feature/a b",
            "feature/x@{1}", "feature//x", "--upload-pack=x", "", "feature/\u{7f}",
        ] {
            let pointer = "/payload/workspace/branch";
            refused(workspace(json!({ "branch": branch })), "invalid_field", pointer);
        }
        for base in ["-x", "HEAD", "a..b", "x~1", "refs/heads/"] {
            let pointer = "/payload/workspace/baseBranch";
            refused(workspace(json!({ "baseBranch": base })), "invalid_field", pointer);
        }
        for (key, value) in [("projectWorkspaceId", NOTHING), ("ownerIssueId", NOTHING), ("projectWorkspaceId", "x")] {
            let pointer = format!("/payload/workspace/{key}");
            refused(workspace(json!({ (key): value })), "reference_not_found", &pointer);
        }
        let delegations = json!({ "issueId": own, "delegations": [{ "projectWorkspaceId": NOTHING }] });
        refused(delegations, "reference_not_found", "/payload/delegations/0/projectWorkspaceId");
        refused(json!({ "issueId": own, "delegations": {} }), "invalid_field", "/payload/delegations");

        let project = json!({ "name": "Site", "workspace": { "cwd": "/srv/site" } });
        let projects = format!("/api/companies/{}/projects", id(&desk.company));
        let project = api.post(&projects, &project).ok(201);
        let payload = json!({
            "issueId": own,
            "workspace": {
                "ticketKey": "ABC-12",
                "branch": "feature/ABC-12",
                "baseBranch": "main",
                "projectId": project["id"],
                "projectWorkspaceId": project["workspaces"][0]["id"],
                "sourceRepoCwd": "/anything",
            },
            "delegations": [{ "agentName": "Ada", "tasks": ["x"] }],
            "extra": { "kept": [1, 2] },
        });
        let body = json!({ "type": "approve_issue_plan", "payload": payload });
        let place = json!({ "projectId": project["id"] });
        api.patch(&format!("/api/issues/{own}"), &place).ok(200);
        let mut kept = api.post(&path, &body).ok(201)["payload"].clone();
        let resolved = kept.as_object_mut().unwrap().remove("resolvedWorkspaces").unwrap();
        assert_eq!(resolved[0]["branch"], "feature/ABC-12");
        assert_eq!(kept, payload);
        let mole = api.company("Evil");
        let foreign = api.post(&format!("/api/companies/{}/projects", id(&mole)), &json!({
            "name": "Theirs", "workspace": { "cwd": "/srv/theirs" },
        })).ok(201);
        let theirs = &foreign["workspaces"][0]["id"];
        refused(
            workspace(json!({ "projectWorkspaceId": theirs })),
            "reference_not_found",
            "/payload/workspace/projectWorkspaceId",
        );
    }

    fn every_type_has_its_rules(api) {
        let desk = Desk::new(api);
        let path = of(&desk.company);
        for (kind, payload, pointer) in [
            ("agent_question", json!({}), "/payload/question"),
            ("agent_question", json!({ "question": " " }), "/payload/question"),
            ("approve_pull_request", json!({}), "/payload/issueId"),
            ("approve_push_to_existing_pr", json!({}), "/payload/issueId"),
            ("approve_completion", json!({}), "/payload/issueId"),
            ("budget_override_required", json!({ "amountCents": -1 }), "/payload/amountCents"),
            ("budget_override_required", json!({ "budgetMonthlyCents": "1" }), "/payload/budgetMonthlyCents"),
            ("hire_agent", json!({ "role": "engineer" }), "/payload/name"),
            ("hire_agent", json!({ "name": "Bob" }), "/payload/role"),
        ] {
            let body = json!({ "type": kind, "payload": payload });
            faulty(&api.post(&path, &body), "invalid_field", pointer);
        }
        for (kind, payload) in [
            ("approve_ceo_strategy", json!({ "strategy": "grow" })),
            ("budget_override_required", json!({ "agentId": id(&desk.ada), "amountCents": 500 })),
            ("request_board_approval", json!({ "anything": true })),
            ("agent_question", json!({ "question": "?" })),
        ] {
            let asked = api.post(&path, &json!({ "type": kind, "payload": payload })).ok(201);
            assert_eq!(asked["payload"], payload);
            let granted = api.post(&act(&asked, "approve"), &json!({})).ok(200);
            assert_eq!(granted["status"], "approved");
        }
        let body = json!({ "type": "budget_override_required", "payload": { "agentId": NOTHING } });
        faulty(&api.post(&path, &body), "reference_not_found", "/payload/agentId");
    }
}
