//! What agents and the board do with a ticket.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::scene::{Member, Scene, Ticket, id_of};
use crate::client::Sender;

impl Scene<'_> {
    /// An issue of the lead, which works on it.
    #[track_caller]
    pub(super) fn begin_issue(&self, title: &str) -> String {
        let issue = json!({
            "title": title,
            "status": "todo",
            "projectId": self.project,
            "assigneeAgentId": self.lead.id,
        });
        let issue = id_of(&self.post(&self.of_company("issues"), &issue));
        self.check_out(&issue, &self.lead);
        issue
    }

    /// A member begins to work on an issue.
    #[track_caller]
    pub(super) fn check_out(&self, issue: &str, member: &Member) {
        let path = format!("/api/issues/{issue}/checkout");
        self.ask(
            "POST",
            &path,
            Some(member),
            &json!({ "agentId": member.id }),
        );
    }

    /// The lead files a plan with a workspace; status and answer.
    pub(super) fn file_plan(&self, issue: &str, workspace: &Value) -> (u16, Value) {
        let payload = json!({ "issueId": issue, "plan": "As told.", "workspace": workspace });
        self.file("approve_issue_plan", &payload)
    }

    /// The lead files an approval.
    pub(super) fn file(&self, kind: &str, payload: &Value) -> (u16, Value) {
        let path = self.of_company("approvals");
        let approval = json!({ "type": kind, "payload": payload });
        self.send("POST", &path, Some(&self.lead), &approval)
    }

    /// A plan for a new issue with a ticket; issue and approval.
    #[track_caller]
    pub(super) fn planned(&self, key: &str) -> (String, String) {
        let issue = self.begin_issue(&format!("Work on {key}"));
        let (status, plan) = self.file_plan(&issue, &json!({ "ticketKey": key }));
        assert_eq!(status, 201, "{plan}");
        (issue, id_of(&plan))
    }

    /// The board approves; status and answer.
    #[track_caller]
    pub(super) fn approve(&self, approval: &str) -> (u16, Value) {
        self.decide(approval, "approve", &json!({}))
    }

    /// The board approves what it has seen; status and answer.
    #[track_caller]
    pub(super) fn approve_seen(&self, seen: &Value) -> (u16, Value) {
        let path = format!("/api/approvals/{}/approve", id_of(seen));
        let sender = Sender {
            seen: seen["revision"].as_i64(),
            ..Sender::default()
        };
        let client = self.server().client();
        client.send("POST", &path, sender, &json!({})).unwrap()
    }

    /// The board decides; status and answer.
    #[track_caller]
    pub(super) fn decide(&self, approval: &str, decision: &str, body: &Value) -> (u16, Value) {
        let path = format!("/api/approvals/{approval}/{decision}");
        self.send("POST", &path, None, body)
    }

    /// An approval as it is now.
    #[track_caller]
    pub(super) fn approval(&self, id: &str) -> Value {
        self.get(&format!("/api/approvals/{id}"))
    }

    /// The ticket of an approved plan.
    #[track_caller]
    pub(super) fn ticket_of(&self, issue: &str, plan: &str) -> Ticket {
        let plan = self.approval(plan);
        assert_eq!(plan["status"], "approved", "{plan}");
        let worktree = step(&plan, "worktree");
        let planned = &plan["payload"]["resolvedWorkspaces"][0];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        Ticket {
            key: text(&planned["ticketKey"]),
            issue: issue.to_owned(),
            branch: text(&worktree["branch"]),
            worktree: text(&worktree["path"]).into(),
        }
    }

    /// A ticket whose plan is approved.
    #[track_caller]
    pub(super) fn begin_ticket(&self, key: &str) -> Ticket {
        let (issue, plan) = self.planned(key);
        let (status, answer) = self.approve(&plan);
        assert_eq!(status, 200, "{answer}");
        self.ticket_of(&issue, &plan)
    }

    /// A ticket with a worktree in each of two workspaces, `shop` and `other`; their places.
    #[track_caller]
    pub(super) fn begin_ticket_on_two(&self, key: &str) -> (Ticket, Vec<PathBuf>) {
        let issue = self.begin_issue("Work on two");
        let delegations = json!([{ "workspaceName": "shop" }, { "workspaceName": "other" }]);
        let payload = json!({
            "issueId": issue, "workspace": { "ticketKey": key }, "delegations": delegations,
        });
        let (status, plan) = self.file("approve_issue_plan", &payload);
        assert_eq!(status, 201, "{plan}");
        let (status, approved) = self.approve(&id_of(&plan));
        assert_eq!(status, 200, "{approved}");
        let steps = approved["execution"]["steps"].as_array().unwrap().iter();
        let places = steps.filter_map(|step| step["result"]["path"].as_str());
        let places: Vec<PathBuf> = places.map(PathBuf::from).collect();
        assert_eq!(places.len(), 2, "{approved}");
        (self.ticket_of(&issue, &id_of(&plan)), places)
    }

    /// Two issues that are worked on in the worktree of one ticket.
    #[track_caller]
    pub(super) fn begin_shared_ticket(&self, key: &str) -> (Ticket, [String; 2]) {
        let issues = ["First", "Further"].map(|title| self.begin_issue(title));
        let payload = json!({ "issueId": issues[0], "workspace": { "ticketKey": key } });
        let plan = json!({
            "type": "approve_issue_plan", "payload": payload, "issueIds": [issues[1]],
        });
        let approvals = self.of_company("approvals");
        let plan = id_of(&self.ask("POST", &approvals, Some(&self.lead), &plan));
        let (status, answer) = self.approve(&plan);
        assert_eq!(status, 200, "{answer}");
        (self.ticket_of(&issues[0], &plan), issues)
    }

    /// A part of a ticket that the developer works on.
    #[track_caller]
    pub(super) fn begin_part(&self, ticket: &Ticket, title: &str) -> String {
        let part = json!({
            "title": title,
            "status": "todo",
            "parentId": ticket.issue,
            "projectId": self.project,
            "assigneeAgentId": self.developer.id,
        });
        let path = self.of_company("issues");
        let part = id_of(&self.ask("POST", &path, Some(&self.lead), &part));
        self.check_out(&part, &self.developer);
        part
    }

    /// A part of a ticket that nobody works on.
    #[track_caller]
    pub(super) fn plan_part(&self, ticket: &Ticket) -> String {
        let part = json!({ "title": "Some day", "parentId": ticket.issue });
        id_of(&self.post(&self.of_company("issues"), &part))
    }

    /// Has an agent started from now on when it is woken.
    #[track_caller]
    pub(super) fn start_when_woken(&self, member: &Member) {
        let path = format!("/api/agents/{}", member.id);
        let change = json!({ "runtimeConfig": { "heartbeat": { "wakeOnDemand": true } } });
        self.ask("PATCH", &path, None, &change);
    }

    /// Waits for a run about an issue that was started for this reason.
    #[track_caller]
    pub(super) fn run_because(&self, issue: &str, reason: &str) -> Value {
        let path = format!("/api/issues/{issue}/runs");
        self.wait_for(reason, || {
            let runs = self.get(&path);
            let mut runs = runs.as_array().unwrap().iter();
            runs.find(|run| run["reason"] == reason).cloned()
        })
    }

    /// The developer is done with a part, and the lead agrees.
    #[track_caller]
    pub(super) fn end_part(&self, part: &str) {
        let path = format!("/api/issues/{part}");
        let done = json!({ "status": "done" });
        let answer = self.ask("PATCH", &path, Some(&self.developer), &done);
        assert_eq!(answer["status"], "in_review", "{answer}");
        let answer = self.ask("PATCH", &path, Some(&self.lead), &done);
        assert_eq!(answer["status"], "done", "{answer}");
    }

    /// The one part of a ticket is done; its id.
    #[track_caller]
    pub(super) fn do_work(&self, ticket: &Ticket, work: impl FnOnce(&Path)) -> String {
        let part = self.begin_part(ticket, "A part");
        work(&ticket.worktree);
        self.end_part(&part);
        part
    }

    /// Waits until the board is asked about an issue.
    #[track_caller]
    pub(super) fn asked(&self, issue: &str, kind: &str) -> Value {
        let path = format!("/api/issues/{issue}/approvals");
        let found = self.wait_for(kind, || {
            let approvals = self.get(&path);
            let mut approvals = approvals.as_array().unwrap().iter();
            let found = approvals.find(|it| it["type"] == kind && it["status"] == "pending");
            found.map(id_of)
        });
        self.approval(&found)
    }

    /// A ticket whose work waits for the board, and its approval.
    #[track_caller]
    pub(super) fn ticket_to_merge(&self, key: &str) -> (Ticket, String) {
        let ticket = self.begin_ticket(key);
        self.do_work(&ticket, |worktree| {
            super::repositories::write(worktree, &format!("{key}.txt"), key);
        });
        let approval = id_of(&self.asked(&ticket.issue, "approve_pull_request"));
        (ticket, approval)
    }

    /// The details of what happened to an issue, oldest first.
    #[track_caller]
    pub(super) fn activity(&self, issue: &str, action: &str) -> Vec<Value> {
        let rows = self.get(&format!("/api/issues/{issue}/activity"));
        let mut rows: Vec<Value> = rows.as_array().unwrap().clone();
        rows.retain(|row| row["action"] == action);
        rows.reverse();
        rows.into_iter().map(|row| row["details"].clone()).collect()
    }
}

/// What came of a step of an execution.
#[track_caller]
pub(super) fn step(approval: &Value, name: &str) -> Value {
    let steps = approval["execution"]["steps"].as_array();
    let mut steps = steps.into_iter().flatten();
    let found = steps.find(|step| step["step"] == name);
    let found = found.unwrap_or_else(|| panic!("no step {name}: {approval}"));
    found["result"].clone()
}
