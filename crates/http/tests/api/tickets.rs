//! Approvals that are carried out outside of the store; what is done there is tested with the
//! engine and the server.

use serde_json::{Value, json};
use workforce_domain::approval::ExecutionStep;
use workforce_domain::port::StepFault;

use crate::approvals::{act, now, of};
use crate::support::{Api, api_tests, id};

/// A company with a lead, whose issue belongs to a project with a repository.
pub(crate) struct Office {
    pub(crate) company: Value,
    pub(crate) lead: Value,
    pub(crate) key: String,
    pub(crate) project: Value,
    issue: Value,
}

impl Office {
    pub(crate) fn new(api: &Api) -> Self {
        let company = api.company("Acme");
        let lead = api.agent(&company, "Lea");
        let key = api.key(&lead);
        let project = json!({
            "name": "Letters", "workspace": { "cwd": "/srv/letters", "defaultBaseBranch": "main" },
        });
        let path = format!("/api/companies/{}/projects", id(&company));
        let project = api.post(&path, &project).ok(201);
        let issue = json!({
            "title": "Greet", "status": "todo", "assigneeAgentId": id(&lead),
            "projectId": id(&project),
        });
        let issue = api.issue(&company, &issue);
        Self {
            company,
            lead,
            key,
            project,
            issue,
        }
    }

    pub(crate) fn plan(&self, workspace: &Value) -> Value {
        let payload = json!({ "issueId": id(&self.issue), "workspace": workspace });
        json!({ "type": "approve_issue_plan", "payload": payload })
    }

    /// The plan that the lead filed.
    pub(crate) fn filed(&self, api: &Api) -> Value {
        let plan = self.plan(&json!({ "ticketKey": "ABC-1" }));
        api.bearing(&self.key)
            .post(&of(&self.company), &plan)
            .ok(201)
    }

    /// The same after the board approved it.
    pub(crate) fn approved(&self, api: &Api) -> Value {
        api.post(&act(&self.filed(api), "approve"), &json!({}))
            .ok(200)
    }

    pub(crate) fn issue_id(&self) -> &str {
        id(&self.issue)
    }

    pub(crate) fn path(&self) -> String {
        format!("/api/issues/{}", id(&self.issue))
    }

    pub(crate) fn pull_request(&self) -> Value {
        let payload = json!({ "issueId": id(&self.issue) });
        json!({ "type": "approve_pull_request", "payload": payload })
    }
}

api_tests! {
    fn a_plan_is_resolved_when_it_is_filed_and_looked_at_before_it_is_decided(api) {
        let office = Office::new(api);
        let tricks = json!({
            "ticketKey": "ABC-1", "branch": "fix/greeting", "baseBranch": "production",
            "sourceRepoCwd": "/etc", "repoUrl": "ext::sh",
        });
        let filed = api
            .bearing(&office.key)
            .post(&of(&office.company), &office.plan(&tricks))
            .ok(201);
        let workspace = &office.project["workspaces"][0];
        assert_eq!(filed["payload"]["resolvedWorkspaces"], json!([{
            "projectWorkspaceId": workspace["id"], "name": workspace["name"],
            "ticketKey": "ABC-1", "branch": "fix/greeting", "baseBranch": "main",
        }]));
        let shown = now(api, &filed);
        assert_eq!(shown["preflight"][0]["clean"], true);
        assert_eq!(shown["preflight"][0]["branch"], "fix/greeting");
        assert_eq!(shown["execution"], Value::Null);
    }

    fn an_approved_plan_gives_its_issue_a_worktree_and_shows_the_steps(api) {
        let office = Office::new(api);
        let approved = office.approved(api);
        assert_eq!(approved["status"], "approved");
        assert_eq!(approved["execution"]["state"], "completed");
        assert_eq!(approved["execution"]["attempts"], 1);
        let issue = api.get(&office.path()).ok(200);
        assert_eq!(issue["status"], "in_progress");
        let part = json!({ "title": "Part", "parentId": id(&office.issue) });
        let part = api.issue(&office.company, &part);
        assert_eq!(part["executionWorkspaceId"], issue["executionWorkspaceId"]);
        let worktree = api.get(&format!("{}/workspace", office.path())).ok(200);
        assert_eq!(worktree["id"], issue["executionWorkspaceId"]);
        assert_eq!(worktree["branch"], "feature/ABC-1");
        assert_eq!(worktree["state"]["changedFiles"][0]["path"], "new.txt");
        assert_eq!(worktree["liveRunId"], Value::Null);
        let twice = api.post(&act(&approved, "approve"), &json!({}));
        twice.problem(422, "approval_not_pending");
    }

    fn a_step_that_fails_leaves_the_approval_to_be_approved_again(api) {
        let office = Office::new(api);
        let filed = office.filed(api);
        let approve = act(&filed, "approve");
        for (step, fault, status) in [
            (ExecutionStep::Source, StepFault::SourceRepoDirty, 409),
            (ExecutionStep::Source, StepFault::WorkspaceUnavailable, 409),
            (ExecutionStep::Base, StepFault::BaseBranchMissing, 409),
            (ExecutionStep::Worktree, StepFault::BranchInUse, 409),
            (ExecutionStep::Worktree, StepFault::WorkspaceBusy, 409),
            (ExecutionStep::Worktree, StepFault::WorkspaceMissing, 409),
            (ExecutionStep::Commit, StepFault::UnsafeFiles, 409),
            (ExecutionStep::Commit, StepFault::GitCommitFailed, 409),
            (ExecutionStep::Sync, StepFault::SyncConflict, 409),
            (ExecutionStep::Push, StepFault::WorkChanged, 409),
            (ExecutionStep::Push, StepFault::GitPushRejected, 409),
            (ExecutionStep::Push, StepFault::GitRemoteFailed, 502),
            (ExecutionStep::Push, StepFault::GitFailed, 502),
            (ExecutionStep::PullRequest, StepFault::PrCreateFailed, 502),
            (ExecutionStep::Complete, StepFault::Interrupted, 503),
        ] {
            api.steps.fail(step, fault, &json!({ "paths": ["a.txt"] }));
            let code = match fault {
                StepFault::Interrupted => "server_stopping".to_owned(),
                fault => fault.to_string(),
            };
            let refused = api.post(&approve, &json!({})).problem(status, &code);
            assert_eq!(refused["details"]["paths"], json!(["a.txt"]));
            let shown = now(api, &filed);
            assert_eq!(shown["status"], "pending");
            assert_eq!(shown["execution"]["state"], "failed");
            assert_eq!(shown["execution"]["step"], step.to_string());
            assert_eq!(shown["execution"]["code"], fault.to_string());
        }
        let approved = api.post(&approve, &json!({ "force": true })).ok(200);
        assert_eq!(approved["execution"]["attempts"], 16);
        assert_eq!(approved["execution"]["forced"], true);
    }

    fn nothing_else_is_decided_while_an_approval_is_carried_out(api) {
        let office = Office::new(api);
        let filed = office.filed(api);
        api.steps.stop_once();
        let lost = api.post(&act(&filed, "approve"), &json!({}));
        lost.problem(500, "internal");
        assert_eq!(now(api, &filed)["execution"]["state"], "executing");
        for action in ["approve", "reject", "request-revision", "cancel"] {
            let refused = api.post(&act(&filed, action), &json!({}));
            let refused = refused.problem(409, "execution_in_progress");
            assert_eq!(refused["details"]["approvalId"], filed["id"], "{action}");
        }
        let again = api.bearing(&office.key).post(&act(&filed, "resubmit"), &json!({}));
        again.problem(409, "execution_in_progress");
    }

    fn a_workspace_is_kept_while_an_open_ticket_has_a_worktree_of_it(api) {
        let office = Office::new(api);
        office.approved(api);
        let workspace = id(&office.project["workspaces"][0]);
        let project = format!("/api/projects/{}", id(&office.project));
        let place = format!("{project}/workspaces/{workspace}");
        for path in [&place, &project] {
            let refused = api.send("DELETE", path, &[], b"").problem(409, "workspace_in_use");
            assert_eq!(refused["details"], json!({ "workspaceId": workspace, "issueId": id(&office.issue) }));
        }
        api.patch(&office.path(), &json!({ "status": "cancelled" })).ok(200);
        for path in [&place, &project] {
            api.send("DELETE", path, &[], b"").ok(200);
        }
    }

    fn a_plan_without_a_repository_is_refused_when_it_is_filed(api) {
        let office = Office::new(api);
        let elsewhere = json!({ "name": "Other", "workspace": { "cwd": "/srv/other" } });
        let path = format!("/api/companies/{}/projects", id(&office.company));
        let elsewhere = api.post(&path, &elsewhere).ok(201);
        let foreign = json!({ "projectWorkspaceId": elsewhere["workspaces"][0]["id"] });
        let lead = api.bearing(&office.key);
        lead.post(&of(&office.company), &office.plan(&foreign))
            .problem(409, "workspace_unavailable");
        api.patch(&office.path(), &json!({ "projectId": null })).ok(200);
        lead.post(&of(&office.company), &office.plan(&json!({})))
            .problem(409, "workspace_unavailable");
        assert_eq!(api.get(&office.path()).ok(200)["status"], "todo");
        let filed = office.plan(&Value::Null);
        let filed = lead.post(&of(&office.company), &filed).ok(201);
        let shown = now(api, &filed);
        assert_eq!(shown["preflight"], Value::Null);
        api.post(&act(&filed, "reject"), &json!({ "decisionNote": "no" })).ok(200);
    }

    fn a_plan_in_the_description_asks_for_a_worktree(api) {
        let office = Office::new(api);
        let lead = api.bearing(&office.key);
        let place = &office.project["workspaces"][0];
        let place = format!("/api/projects/{}/workspaces/{}", id(&office.project), id(place));
        let base = |branch: &str| api.patch(&place, &json!({ "defaultBaseBranch": branch })).ok(200);
        base("fix/base");
        let written = json!({
            "description": "On fix/base.\n<plan>1. do</plan>", "status": "in_review", "title": "New",
        });
        lead.patch(&office.path(), &json!({ "status": "in_progress" })).ok(200);
        lead.patch(&office.path(), &written).problem(409, "workspace_unavailable");
        assert_eq!(api.get(&office.path()).ok(200)["title"], "Greet");
        base("main");
        let answer = lead.patch(&office.path(), &written).ok(200);
        let plan = json!({ "id": answer["rewritten"]["approvalId"] });
        let filed = now(api, &plan);
        assert_eq!(filed["payload"]["resolvedWorkspaces"][0]["branch"], "fix/base", "{filed}");
        api.post(&act(&plan, "approve"), &json!({})).ok(200);
        assert_ne!(api.get(&office.path()).ok(200)["executionWorkspaceId"], Value::Null);
    }

    fn a_plan_that_is_sent_again_is_resolved_again(api) {
        let office = Office::new(api);
        let filed = office.filed(api);
        api.post(&act(&filed, "request-revision"), &json!({ "decisionNote": "x" })).ok(200);
        api.patch(&office.path(), &json!({ "projectId": null })).ok(200);
        let payload = office.plan(&json!({ "ticketKey": "ABC-2" }))["payload"].clone();
        let again = json!({ "payload": payload });
        let lead = api.bearing(&office.key);
        lead.post(&act(&filed, "resubmit"), &again)
            .problem(409, "workspace_unavailable");
        api.patch(&office.path(), &json!({ "projectId": id(&office.project) })).ok(200);
        let sent = lead.post(&act(&filed, "resubmit"), &again).ok(200);
        let resolved = &sent["payload"]["resolvedWorkspaces"][0];
        assert_eq!(resolved["branch"], "feature/ABC-2");
        let approve = |tag: Option<&str>| {
            let tag = tag.map(|tag| ("If-Match", tag));
            api.send("POST", &act(&filed, "approve"), tag.as_slice(), b"{}")
        };
        approve(Some("\"1\"")).problem(412, "revision_conflict");
        assert_eq!(now(api, &filed)["execution"], Value::Null);
        approve(api.get(&format!("/api/approvals/{}", id(&filed))).header("etag")).ok(200);
    }

    fn a_ticket_has_one_open_issue(api) {
        let office = Office::new(api);
        office.approved(api);
        let other = json!({
            "title": "Greet again", "status": "todo", "assigneeAgentId": id(&office.lead),
            "projectId": id(&office.project),
        });
        let other = api.issue(&office.company, &other);
        let plan = json!({
            "type": "approve_issue_plan",
            "payload": { "issueId": id(&other), "workspace": { "ticketKey": "ABC-1" } },
        });
        let plan = api.post(&of(&office.company), &plan).ok(201);
        let refused = api.post(&act(&plan, "approve"), &json!({}));
        let refused = refused.problem(409, "ticket_in_use");
        assert_eq!(refused["details"]["issueId"], office.issue["id"]);
        api.patch(&office.path(), &json!({ "status": "cancelled" })).ok(200);
        let approved = api.post(&act(&plan, "approve"), &json!({})).ok(200);
        assert_eq!(approved["status"], "approved");
    }

    fn a_pull_request_shows_the_work_as_git_found_it(api) {
        let office = Office::new(api);
        office.approved(api);
        let lead = api.bearing(&office.key);
        let forged = json!({ "issueId": office.issue_id(), "work": [{ "commit": "forged" }] });
        let ask = json!({ "type": "approve_pull_request", "payload": forged });
        let filed = lead.post(&of(&office.company), &ask).ok(201);
        let is_shown = |approval: &Value| {
            let work = approval["payload"]["work"].as_array().unwrap();
            assert_eq!(work.len(), 1, "{approval}");
            assert_eq!(work[0]["commit"], "0123", "{approval}");
        };
        is_shown(&filed);
        let same = lead.post(&of(&office.company), &ask).ok(200);
        assert_eq!(same["id"], filed["id"]);
        is_shown(&same);
        let resubmit = |payload: &Value| {
            api.post(&act(&filed, "request-revision"), &json!({})).ok(200);
            lead.post(&act(&filed, "resubmit"), payload).ok(200)
        };
        is_shown(&resubmit(&json!({ "payload": forged })));
        is_shown(&resubmit(&json!({})));
        assert_eq!(api.get(&office.path()).ok(200)["advance"], Value::Null);
        // What its agent has to mend is looked at when it says that it is done.
        api.steps.fail(ExecutionStep::Sync, StepFault::SyncConflict, &json!({}));
        is_shown(&resubmit(&json!({})));
        assert_eq!(api.get(&office.path()).ok(200)["advance"], Value::Null);
        // While its agent works, nobody can look; that is done as soon as it is at rest.
        api.steps.fail(ExecutionStep::Commit, StepFault::WorkspaceBusy, &json!({}));
        is_shown(&resubmit(&json!({ "payload": forged })));
        assert_eq!(api.get(&office.path()).ok(200)["advance"]["attempts"], 0);
    }

    fn a_pull_request_is_asked_for_when_the_parts_have_ended_and_ends_them_all(api) {
        let office = Office::new(api);
        office.approved(api);
        let part = json!({ "title": "Part", "status": "todo", "parentId": id(&office.issue) });
        let part = api.issue(&office.company, &part);
        let lead = api.bearing(&office.key);
        let open = lead.post(&of(&office.company), &office.pull_request());
        let open = open.problem(409, "children_open");
        assert_eq!(open["details"]["children"][0]["id"], part["id"]);
        let path = format!("/api/issues/{}", id(&part));
        api.patch(&path, &json!({ "status": "cancelled" })).ok(200);
        for (fault, status) in [
            (StepFault::SyncConflict, 409),
            (StepFault::UnsafeFiles, 409),
            (StepFault::GitCommitFailed, 409),
            (StepFault::WorkspaceBusy, 409),
            (StepFault::WorkspaceMissing, 409),
            (StepFault::BaseBranchMissing, 409),
            (StepFault::GitRemoteFailed, 502),
            (StepFault::GitFailed, 502),
        ] {
            api.steps.fail(ExecutionStep::Sync, fault, &json!({}));
            let refused = lead.post(&of(&office.company), &office.pull_request());
            refused.problem(status, &fault.to_string());
        }
        let filed = lead.post(&of(&office.company), &office.pull_request()).ok(201);
        let late = json!({ "title": "Late", "status": "todo", "parentId": id(&office.issue) });
        let late = api.issue(&office.company, &late);
        let approved = api.post(&act(&filed, "approve"), &json!({})).ok(200);
        assert_eq!(approved["payload"]["branch"], "feature/ABC-1");
        assert_eq!(approved["payload"]["pullRequestUrl"], Value::Null);
        for ended in [&office.issue, &late] {
            let ended = api.get(&format!("/api/issues/{}", id(ended))).ok(200);
            assert_eq!(ended["status"], "done");
        }
        let activity = format!("/api/issues/{}/activity", id(&late));
        let activity = api.get(&activity).ok(200);
        let cascade = |row: &Value| row["details"]["completedBy"] == "cascade";
        assert!(activity.as_array().unwrap().iter().any(cascade), "{activity}");
    }

    fn a_worktree_is_looked_at_and_compared(api) {
        let office = Office::new(api);
        let path = format!("{}/workspace", office.path());
        api.get(&path).problem(409, "workspace_missing");
        office.approved(api);
        let diff = api.get(&format!("{path}/diff")).ok(200);
        assert_eq!(diff["truncated"], true);
        assert_eq!(diff["includesUncommitted"], true);
        let all = api.get(&format!("{path}/diff?limitBytes=1048576&committed=true")).ok(200);
        assert_eq!(all["truncated"], false);
        assert_eq!(all["includesUncommitted"], false);
        for bad in ["limitBytes=-1", "limitBytes=1048577", "committed=maybe", "executionWorkspaceId=x"] {
            api.get(&format!("{path}/diff?{bad}")).problem(400, "invalid_request");
        }
        let other = "executionWorkspaceId=01890000-0000-7000-8000-000000000000";
        api.get(&format!("{path}?{other}")).problem(404, "not_found");
        for place in [path.clone(), format!("{path}/diff")] {
            for (fault, status) in [
                (StepFault::WorkspaceMissing, 409),
                (StepFault::WorkspaceUnavailable, 409),
                (StepFault::WorkspaceBusy, 409),
                (StepFault::BaseBranchMissing, 409),
                (StepFault::GitCommitFailed, 409),
                (StepFault::GitFailed, 502),
            ] {
                api.steps.fail(ExecutionStep::Worktree, fault, &json!({}));
                api.get(&place).problem(status, &fault.to_string());
            }
        }
        let stranger = api.company("Elsewhere");
        let stranger = api.key(&api.agent(&stranger, "Stan"));
        api.bearing(&stranger).get(&path).problem(404, "not_found");
    }
}
