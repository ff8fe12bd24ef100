//! Whatever changes a record says what it changed (docs/activity.md): every route that writes,
//! and what happens to records that no request names.

use serde_json::{Value, json};

use super::requests::REQUESTS;
use super::scene::Scene;
use super::stage::written;
use super::watch::Watch;
use crate::support::{Answer, Api, api_tests, id};

/// A company with one of everything, watched while the board changes it.
pub(super) struct Changed<'a> {
    api: &'a Api,
    pub(super) scene: Scene,
    pub(super) watch: Watch<'a>,
}

impl<'a> Changed<'a> {
    pub(super) fn new(api: &'a Api) -> Self {
        let scene = Scene::new(api);
        let watch = Watch::new(api, &scene.fill("{companyId}"));
        Self { api, scene, watch }
    }

    /// Sends a request that must succeed.
    #[track_caller]
    fn done(&self, method: &str, path: &str, body: &Value) -> Value {
        let path = self.scene.fill(path);
        let body = self.scene.fill(&body.to_string());
        let what = format!("{method} {path} {body}");
        let answer = self
            .watch
            .after(&what, || self.api.send(method, &path, &[], body.as_bytes()));
        assert!(
            (200..300).contains(&answer.status),
            "{what}: {}",
            answer.text
        );
        answer.json()
    }

    #[track_caller]
    fn patch(&self, path: &str, body: &Value) -> Value {
        self.done("PATCH", path, body)
    }

    #[track_caller]
    pub(super) fn post(&self, path: &str, body: &Value) -> Value {
        self.done("POST", path, body)
    }
}

api_tests! {
    fn every_route_tells_what_it_changes(api) {
        let mut changed = Changed::new(api);
        let writes = REQUESTS.iter().filter(|it| it.method != "GET");
        for (number, request) in writes.enumerate() {
            let send = |changed: &Changed<'_>| -> Answer {
                let path = changed.scene.fill(request.address());
                let (kind, body) = written(request, &changed.scene, number);
                let headers = [("Content-Type", kind)];
                let send = || api.send(request.method, &path, &headers, &body);
                changed.watch.after(&request.route(), send)
            };
            if send(&changed).status >= 300 {
                // Something that it needs is gone.
                changed.scene.end(api);
                changed = Changed::new(api);
                let answer = send(&changed);
                let is_done = answer.status < 300 || request.besides.is_some();
                assert!(is_done, "{}: {}", request.route(), answer.text);
            }
        }
    }

    fn an_issue_tells_each_of_its_fields(api) {
        let changed = Changed::new(api);
        let issue = "/api/issues/{issueId}";
        let board = json!({ "assigneeUserId": "local-board", "assigneeAgentId": null });
        let place = json!({ "projectId": "{projectId}", "goalId": "{goalId}" });
        let texts = json!({ "description": "x".repeat(100), "billingCode": "b", "ticketKey": "A-1" });
        let overrides = json!({ "env": { "TOKEN": "sesame", "A": "b" }, "command": "run" });
        for change in [
            place,
            texts,
            json!({ "labelIds": ["{labelId}"], "priority": "high", "title": "Other" }),
            json!({ "assigneeAdapterOverrides": overrides }),
            json!({ "assigneeAdapterOverrides": { "env": { "TOKEN": "sesame 2" } } }),
            board,
            json!({ "status": "done", "comment": "It is." }),
            json!({ "status": "todo", "labelIds": [], "description": null, "goalId": null }),
            json!({ "hidden": true }),
            json!({ "hidden": false, "assigneeAgentId": "{newcomerId}", "assigneeUserId": null }),
            json!({ "description": "x".repeat(10_000) }),
            json!({ "description": "y".repeat(20_000), "status": "in_progress" }),
            json!({ "status": "cancelled" }),
        ] {
            changed.patch(issue, &change);
        }
        changed.post("/api/issues/{issueId}/comments", &json!({ "body": "No.", "reopen": true }));
        changed.post("/api/issues/{issueId}/checkout", &json!({ "agentId": "{newcomerId}" }));
        changed.post("/api/issues/{issueId}/release", &json!({}));
        let below = json!({ "title": "Below", "parentId": "{issueId}" });
        let below = changed.post("/api/companies/{companyId}/issues", &below);
        changed.patch(&format!("/api/issues/{}", id(&below)), &json!({ "parentId": null }));
        let told = api.get(&changed.scene.fill("/api/issues/{issueId}/activity")).text;
        assert!(!told.contains("sesame"), "{told}");
        assert!(!told.contains(&"x".repeat(10_000)), "{told}");
        let events = changed.scene.fill("/api/companies/{companyId}/events?after=0");
        let events = api.send("GET", &events, &[("Accept", "application/json")], b"").text;
        assert!(events.contains("\"changed\"") && !events.contains("\"changes\""), "{events}");
    }

    fn approvals_tell_what_they_do_to_issues(api) {
        let changed = Changed::new(api);
        let file = |kind: &str| {
            let payload = json!({ "issueId": "{issueId}", "summary": "s", "plan": "p" });
            let body = json!({
                "type": kind, "payload": payload, "requestedByAgentId": "{agentId}",
            });
            let filed = changed.post("/api/companies/{companyId}/approvals", &body);
            format!("/api/approvals/{}", id(&filed))
        };
        let plan = file("approve_issue_plan");
        changed.post(&format!("{plan}/request-revision"), &json!({ "decisionNote": "Why?" }));
        changed.post(&format!("{plan}/resubmit"), &json!({ "payload": {
            "issueId": "{issueId}", "summary": "s", "plan": "So.",
        } }));
        changed.post(&format!("{plan}/approve"), &json!({}));
        let plan = file("approve_issue_plan");
        changed.patch("/api/issues/{issueId}", &json!({ "status": "todo" }));
        changed.post(&format!("{plan}/approve"), &json!({}));
        changed.post(&format!("{}/reject", file("approve_completion")), &json!({}));
        changed.post(&format!("{}/cancel", file("approve_completion")), &json!({}));
        changed.post(&format!("{}/approve", file("approve_completion")), &json!({}));
    }

    fn agents_and_their_drafts_tell_what_changes(api) {
        let changed = Changed::new(api);
        let config = json!({ "command": "/bin/sesame", "env": { "TOKEN": "sesame" } });
        for change in [
            json!({ "adapterConfig": config, "runtimeConfig": { "heartbeat": { "intervalSec": 60 } } }),
            json!({ "title": "T", "icon": "i", "capabilities": "c", "metadata": { "pin": "1" } }),
            json!({ "name": "Other", "role": "qa", "reportsTo": null, "adapterType": "http" }),
            json!({ "budgetMonthlyCents": 100 }),
        ] {
            changed.patch("/api/agents/{agentId}", &change);
        }
        let permissions = json!({ "canCreateAgents": true });
        changed.patch("/api/agents/{agentId}/permissions", &permissions);
        let spent = json!({
            "agentId": "{agentId}", "provider": "p", "model": "m", "costCents": 200,
        });
        changed.post("/api/companies/{companyId}/cost-events", &spent);
        changed.post("/api/agents/{agentId}/resume", &json!({ "force": true }));
        changed.patch("/api/agents/{agentId}", &json!({ "budgetMonthlyCents": 150 }));
        changed.patch("/api/agents/{agentId}", &json!({ "budgetMonthlyCents": 1000 }));
        let back = "/api/agents/{agentId}/config-revisions/{revisionId}/rollback";
        changed.post(back, &json!({}));
        let bundle = "/api/agents/{agentId}/instructions-bundle";
        let notes = json!({ "path": "MORE.md", "content": "sesame" });
        changed.done("PUT", &format!("{bundle}/file"), &notes);
        changed.patch(bundle, &json!({ "entryFile": "MORE.md" }));
        changed.post("/api/agents/{agentId}/terminate", &json!({}));

        let hire = json!({ "name": "New", "role": "qa", "adapterConfig": { "command": "sesame" } });
        let body = json!({ "type": "hire_agent", "payload": hire });
        let filed = changed.post("/api/companies/{companyId}/approvals", &body);
        let (approval, draft) = (id(&filed), filed["payload"]["agentId"].as_str().unwrap());
        let approval = format!("/api/approvals/{approval}");
        let edit = json!({ "title": "T", "adapterConfig": { "command": "open sesame" } });
        changed.patch(&format!("/api/agents/{draft}"), &edit);
        changed.post(&format!("{approval}/request-revision"), &json!({}));
        let other = json!({ "name": "Newer", "role": "qa", "adapterConfig": { "cwd": "/sesame" } });
        changed.post(&format!("{approval}/resubmit"), &json!({ "payload": other }));
        changed.post(&format!("{approval}/approve"), &json!({}));
        let told = api.get(&changed.scene.fill("/api/companies/{companyId}/activity")).text;
        assert!(!told.contains("sesame"), "{told}");
    }

    fn the_rest_of_a_company_tells_what_changes(api) {
        let changed = Changed::new(api);
        let company = "/api/companies/{companyId}";
        for change in [
            json!({ "name": "Other", "description": "d", "locale": "de", "brandColor": "red" }),
            json!({ "reviewRequired": true, "requireBoardApprovalForNewAgents": true }),
            json!({ "attachmentMaxBytes": 1000, "status": "paused" }),
            json!({ "status": "archived" }),
            json!({ "status": "active", "budgetMonthlyCents": 100 }),
        ] {
            changed.patch(company, &change);
        }
        let spent = json!({
            "agentId": "{agentId}", "provider": "p", "model": "m", "costCents": 200,
        });
        changed.post(&format!("{company}/cost-events"), &spent);
        changed.patch(company, &json!({ "budgetMonthlyCents": 0 }));

        let project = "/api/projects/{projectId}";
        for change in [
            json!({ "goalIds": ["{goalId}"], "status": "planned", "targetDate": "2030-01-01" }),
            json!({ "leadAgentId": "{agentId}", "color": "red", "reviewRequired": true }),
            json!({ "governance": "required", "remoteRequired": true }),
            json!({ "goalIds": [], "archivedAt": "2030-01-01T00:00:00Z", "name": "Other" }),
        ] {
            changed.patch(project, &change);
        }
        let second = json!({ "cwd": "/srv/second", "isPrimary": true });
        let second = changed.post(&format!("{project}/workspaces"), &second);
        changed.patch(&format!("{project}/workspaces/{{workspaceId}}"), &json!({
            "isPrimary": true, "repoUrl": "https://example.com/a", "repoRef": "r",
            "defaultBaseBranch": "main", "metadata": { "a": 1 }, "cwd": null,
        }));
        changed.done("DELETE", &format!("{project}/workspaces/{{workspaceId}}"), &Value::Null);
        assert!(second["isPrimary"].as_bool().unwrap());
        let rules = json!({ "conventionsMd": "- Pull.", "compactContext": "Pull.", "extraReferences": [1] });
        changed.patch(&format!("{project}/conventions"), &rules);
        changed.patch("/api/goals/{goalId}", &json!({
            "description": "d", "level": "team", "status": "active", "ownerAgentId": "{agentId}",
        }));
        changed.patch("/api/labels/{labelId}", &json!({ "name": "L", "color": "#00ff00" }));
        changed.patch("/api/secrets/{secretId}", &json!({
            "name": "OPEN_SESAME", "description": "sesame", "value": "sesame",
        }));
        let told = api.get(&changed.scene.fill("/api/companies/{companyId}/activity")).text;
        assert!(!told.to_lowercase().contains("sesame"), "{told}");
    }
}
