//! Governed issues: what agents are refused there, and who looks at their work.

use serde_json::{Value, json};

use crate::approvals::{act, of};
use crate::support::{Api, api_tests, id};

/// A lead that has an issue, and a worker below it.
pub(crate) struct Ticket {
    pub(crate) company: Value,
    pub(crate) lead: Value,
    pub(crate) worker: Value,
    /// Of the lead and of the worker.
    pub(crate) keys: [String; 2],
    pub(crate) top: Value,
}

impl Ticket {
    /// The issue is of a project that demands plans.
    pub(crate) fn demanded(api: &Api) -> (Self, Value) {
        let it = Self::new(api);
        let projects = format!("/api/companies/{}/projects", id(&it.company));
        let body = json!({ "name": "Governed", "governance": "required" });
        let project = api.post(&projects, &body).ok(201);
        assert_eq!(project["governance"], "required");
        it.change(api, &it.top, &json!({ "projectId": id(&project) }));
        (it, project)
    }

    pub(crate) fn new(api: &Api) -> Self {
        let company = api.company("Acme");
        let lead = api.agent(&company, "Lead");
        let hire = format!("/api/companies/{}/agents", id(&company));
        let worker = json!({ "name": "Worker", "role": "qa", "reportsTo": id(&lead) });
        let worker = api.post(&hire, &worker).ok(201);
        let keys = [&lead, &worker].map(|agent| api.key(agent));
        let top = json!({ "title": "All", "status": "todo", "assigneeAgentId": id(&lead) });
        let top = api.issue(&company, &top);
        let it = Self {
            company,
            lead,
            worker,
            keys,
            top,
        };
        it.change(api, &it.top, &json!({ "status": "in_progress" }));
        it
    }

    /// The board agrees to a plan for the issue.
    pub(crate) fn plan(&self, api: &Api) {
        let plan = json!({ "type": "approve_issue_plan", "payload": { "issueId": id(&self.top) } });
        let plan = api.post(&of(&self.company), &plan).ok(201);
        api.post(&act(&plan, "approve"), &json!({})).ok(200);
        self.change(api, &self.top, &json!({ "status": "in_progress" }));
    }

    /// The board changes an issue.
    pub(crate) fn change(&self, api: &Api, issue: &Value, body: &Value) -> Value {
        api.patch(&path(issue), body).ok(200)
    }

    /// A part that the worker works on.
    pub(crate) fn part(&self, api: &Api) -> Value {
        let part = json!({
            "title": "Part", "status": "todo", "parentId": id(&self.top),
            "assigneeAgentId": id(&self.worker),
        });
        let part = api.issue(&self.company, &part);
        let checkout = format!("{}/checkout", path(&part));
        api.bearing(&self.keys[1])
            .post(&checkout, &json!({}))
            .ok(200)
    }
}

pub(crate) fn path(issue: &Value) -> String {
    format!("/api/issues/{}", id(issue))
}

api_tests! {
    fn an_agent_makes_no_part_of_what_needs_a_plan(api) {
        let (it, project) = Ticket::demanded(api);
        let lead = api.bearing(&it.keys[0]);
        let issues = format!("/api/companies/{}/issues", id(&it.company));
        let part = json!({ "title": "Part", "parentId": id(&it.top) });
        let problem = lead.post(&issues, &part).problem(409, "plan_required");
        assert_eq!(problem["details"], json!({ "issueId": it.top["id"], "projectId": project["id"] }));
        api.post(&issues, &part).ok(201);
        it.plan(api);
        lead.post(&issues, &part).ok(201);
    }

    fn an_agent_does_not_end_what_needs_a_plan(api) {
        let (it, project) = Ticket::demanded(api);
        let lead = api.bearing(&it.keys[0]);
        for status in ["done", "in_review"] {
            let body = json!({ "status": status });
            let problem = lead.patch(&path(&it.top), &body).problem(409, "plan_required");
            assert_eq!(problem["details"], json!({ "issueId": it.top["id"], "projectId": project["id"] }));
        }
        it.plan(api);
        let asked = lead.patch(&path(&it.top), &json!({ "status": "done" })).ok(200);
        assert_eq!(asked["status"], "in_review");
        assert_eq!(asked["rewritten"], json!({ "from": "done", "reason": "approval_required" }));
    }

    fn an_agent_ends_nothing_before_its_parts(api) {
        let it = Ticket::new(api);
        it.plan(api);
        let part = it.part(api);
        let lead = api.bearing(&it.keys[0]);
        for status in ["done", "in_review"] {
            let body = json!({ "status": status });
            let problem = lead.patch(&path(&it.top), &body).problem(409, "children_open");
            let open = json!({
                "id": part["id"], "identifier": part["identifier"], "status": "in_progress",
            });
            assert_eq!(problem["details"], json!({
                "issueId": it.top["id"], "children": [open], "total": 1,
            }));
        }
        it.change(api, &it.top, &json!({ "status": "done" }));
    }

    fn the_work_of_an_agent_is_reviewed_and_sent_back_and_reviewed_again(api) {
        let it = Ticket::new(api);
        it.plan(api);
        let part = it.part(api);
        let [lead, worker] = [0, 1].map(|place| api.bearing(&it.keys[place]));
        let asked = worker.patch(&path(&part), &json!({ "status": "done" })).ok(200);
        assert_eq!(asked["status"], "in_review");
        assert_eq!(asked["assigneeAgentId"], it.lead["id"]);
        assert_eq!(asked["implementerAgentId"], it.worker["id"]);
        assert_eq!(asked["lease"], Value::Null);
        assert_eq!(asked["rewritten"], json!({
            "from": "done", "reason": "review_required", "reviewerAgentId": it.lead["id"],
        }));
        let again = json!({ "status": "in_progress", "comment": "Not yet." });
        let back = lead.patch(&path(&part), &again).ok(200);
        assert_eq!(back["status"], "in_progress");
        assert_eq!(back["assigneeAgentId"], it.worker["id"]);
        worker.patch(&path(&part), &json!({ "status": "in_review" })).ok(200);
        let ended = lead.patch(&path(&part), &json!({ "status": "done" })).ok(200);
        assert_eq!(ended["status"], "done");
        assert_eq!(ended["implementerAgentId"], Value::Null);
    }

    fn the_board_is_told_that_it_reviews(api) {
        let it = Ticket::new(api);
        it.plan(api);
        it.change(api, &it.top, &json!({ "assigneeUserId": "local-board" }));
        let part = it.part(api);
        let worker = api.bearing(&it.keys[1]);
        let asked = worker.patch(&path(&part), &json!({ "status": "done" })).ok(200);
        assert_eq!(asked["rewritten"], json!({
            "from": "done", "reason": "review_required", "reviewerUserId": "local-board",
        }));
        assert_eq!(asked["assigneeUserId"], "local-board");
    }

    fn only_the_board_says_what_a_project_demands(api) {
        let (it, project) = Ticket::demanded(api);
        let path = format!("/api/projects/{}", id(&project));
        let none = json!({ "governance": "none" });
        api.bearing(&it.keys[0]).patch(&path, &none).problem(403, "board_required");
        api.patch(&path, &json!({ "governance": "maybe" })).problem(400, "invalid_json");
        assert_eq!(api.patch(&path, &none).ok(200)["governance"], "none");
    }
}
