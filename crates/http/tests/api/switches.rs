//! The switches of companies and agents, and what they lock (docs/access.md#company-switches).

use serde_json::{Value, json};
use workforce_http::registry::Access;

use crate::support::{NOTHING, api_tests, id};

/// What may be sent to an agent's routes with these paths; `{}` to all others.
fn body(method: &str, path: &str, agent: &Value, issue: &Value) -> Value {
    match (method, path) {
        ("POST", "/api/companies/{companyId}/agents") => json!({ "name": "Eve", "role": "qa" }),
        ("POST", "/api/companies/{companyId}/goals" | "/api/companies/{companyId}/issues") => {
            json!({ "title": "New" })
        }
        ("POST", "/api/companies/{companyId}/projects") => json!({ "name": "New" }),
        ("PATCH", "/api/agents/{agentId}" | "/api/issues/{issueId}" | "/api/goals/{goalId}") => {
            json!({ "title": "Changed" })
        }
        ("PATCH", "/api/projects/{projectId}") => json!({ "name": "Changed" }),
        ("POST", "/api/issues/{issueId}/comments") => json!({ "body": "Said" }),
        ("POST", "/api/issues/{issueId}/reviews") => {
            json!({ "verdict": "commented", "body": "Said" })
        }
        ("POST", "/api/issues/{issueId}/checkout") => {
            json!({ "agentId": id(agent), "expectedStatuses": [issue["status"]] })
        }
        _ => json!({}),
    }
}

/// What an agent may do while its company is stopped: money that was spent is counted all the
/// same.
const STILL_ALLOWED: [&str; 1] = ["POST /api/companies/{companyId}/cost-events"];

/// Routes that change something and were sent what they ask for, so that nothing but the
/// company's status is in the way.
const BLOCKED: [&str; 13] = [
    "PATCH /api/agents/{agentId}",
    "PATCH /api/goals/{goalId}",
    "PATCH /api/issues/{issueId}",
    "PATCH /api/projects/{projectId}",
    "POST /api/agents/{agentId}/heartbeat/invoke",
    "POST /api/companies/{companyId}/agents",
    "POST /api/companies/{companyId}/goals",
    "POST /api/companies/{companyId}/issues",
    "POST /api/companies/{companyId}/projects",
    "POST /api/issues/{issueId}/checkout",
    "POST /api/issues/{issueId}/comments",
    "POST /api/issues/{issueId}/release",
    "POST /api/issues/{issueId}/reviews",
];

api_tests! {
    fn a_company_is_paused_resumed_archived_and_taken_back(api) {
        let company = api.company("Acme");
        let path = format!("/api/companies/{}", id(&company));
        let flip = |switch: &str| api.send("POST", &format!("{path}/{switch}"), &[], b"");
        let paused = flip("pause").ok(200);
        assert_eq!((&paused["status"], &paused["pauseReason"]), (&json!("paused"), &json!("manual")));
        assert!(paused["pausedAt"].is_string());
        assert_eq!(flip("pause").ok(200), paused);
        assert_eq!(api.get("/api/companies").ok(200), json!([paused]));
        let resumed = flip("resume").ok(200);
        assert_eq!((&resumed["status"], &resumed["pauseReason"]), (&json!("active"), &json!(null)));
        assert_eq!(flip("resume").ok(200), resumed);
        let archived = flip("archive").ok(200);
        assert!(archived["archivedAt"].is_string());
        for switch in ["pause", "resume"] {
            let problem = flip(switch).problem(409, "company_not_active");
            assert_eq!(problem["details"]["status"], "archived");
        }
        assert_eq!(api.get("/api/companies").ok(200), json!([]));
        assert_eq!(api.get("/api/companies?status=archived,paused").ok(200), json!([archived]));
        assert_eq!(api.get("/api/companies?includeArchived=true").ok(200), json!([archived]));
        let back = flip("unarchive").ok(200);
        assert_eq!((&back["status"], &back["archivedAt"]), (&json!("active"), &json!(null)));
        assert_eq!(flip("unarchive").ok(200), back);
        api.send("POST", &format!("/api/companies/{NOTHING}/pause"), &[], b"").problem(404, "not_found");
    }

    fn a_patch_names_any_status(api) {
        let company = api.company("Acme");
        let path = format!("/api/companies/{}", id(&company));
        for status in ["paused", "archived", "paused", "active", "archived", "active"] {
            let changed = api.patch(&path, &json!({ "status": status })).ok(200);
            assert_eq!(changed["status"], status);
        }
        for wrong in [json!("gone"), json!(null), json!(5)] {
            api.patch(&path, &json!({ "status": wrong })).problem(400, "invalid_json");
        }
        let key = api.key(&api.agent(&company, "Ada"));
        api.bearing(&key).patch(&path, &json!({ "status": "paused" })).problem(403, "board_required");
    }

    fn an_agent_changes_nothing_while_its_company_is_stopped_and_reads_everything(api) {
        let company = api.company("Acme");
        let boss = api.post(
            &format!("/api/companies/{}/agents", id(&company)),
            &json!({ "name": "Boss", "role": "ceo" }),
        ).ok(201);
        let key = api.key(&boss);
        let path = |part: &str| format!("/api/companies/{}/{part}", id(&company));
        let goal = api.post(&path("goals"), &json!({ "title": "Goal" })).ok(201);
        let project = api.post(&path("projects"), &json!({ "name": "Site" })).ok(201);
        let issue = api.issue(&company, &json!({
            "title": "Work", "status": "todo", "assigneeAgentId": id(&boss),
        }));
        let run = api.post(&format!("/api/agents/{}/heartbeat/invoke", id(&boss)), &json!({})).ok(202);
        let fill = |template: &str| {
            [
                ("{companyId}", id(&company)), ("{agentId}", id(&boss)), ("{goalId}", id(&goal)),
                ("{projectId}", id(&project)), ("{issueId}", id(&issue)), ("{runId}", id(&run)),
            ]
            .iter()
            .fold(template.to_owned(), |path, (name, value)| path.replace(name, value))
        };
        for status in ["paused", "archived"] {
            api.patch(&format!("/api/companies/{}", id(&company)), &json!({ "status": status })).ok(200);
            let mut blocked = Vec::new();
            for route in workforce_http::routes::all().list() {
                let name = format!("{} {}", route.method, route.path);
                if matches!(route.access, Access::Public | Access::Board) {
                    continue;
                }
                // What is left in braces names nothing.
                let path = fill(&route.path).replace(['{', '}'], "");
                if route.method == "GET" {
                    let answer = api.bearing(&key).send_with("GET", &path, &[("Accept", "application/json")], &Value::Null);
                    assert!(!answer.text.contains("company_not_active"), "{name}: {}", answer.text);
                    continue;
                }
                let sent = body(&route.method, &route.path, &boss, &issue);
                let answer = api.bearing(&key).send(&route.method, &path, &sent);
                if STILL_ALLOWED.contains(&name.as_str()) {
                    continue;
                }
                assert!(answer.status >= 400, "{name} in a company that is {status}: {}", answer.text);
                if BLOCKED.contains(&name.as_str()) {
                    let problem = answer.problem(409, "company_not_active");
                    assert_eq!(problem["details"]["status"], status, "{name}");
                    blocked.push(name);
                }
            }
            blocked.sort();
            assert_eq!(blocked, BLOCKED, "every route was tried");
        }
    }

    fn the_board_forces_a_resumption_over_the_budget(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let path = format!("/api/agents/{}", id(&ada));
        api.patch(&path, &json!({ "budgetMonthlyCents": 100 })).ok(200);
        let cost = json!({
            "agentId": id(&ada), "provider": "p", "model": "m", "inputTokens": 1, "outputTokens": 1,
            "costCents": 150,
        });
        api.post(&format!("/api/companies/{}/cost-events", id(&company)), &cost).ok(201);
        let resume = format!("{path}/resume");
        for gentle in [json!({}), json!({ "force": false })] {
            api.post(&resume, &gentle).problem(409, "budget_exhausted");
        }
        api.post(&resume, &json!({ "force": null })).problem(400, "invalid_json");
        api.post(&resume, &json!({ "force": "yes" })).problem(400, "invalid_json");
        api.bearing(&api.key(&ada)).post(&resume, &json!({ "force": true })).problem(403, "board_required");
        let forced = api.post(&resume, &json!({ "force": true })).ok(200);
        assert_eq!((&forced["status"], &forced["pauseReason"]), (&json!("active"), &json!(null)));
        assert_eq!(forced["budgetOverrideMonth"].as_str().unwrap().len(), "2026-11".len());
        let activity = api.get(&format!("/api/companies/{}/activity?entityType=agent", id(&company))).ok(200);
        assert_eq!(activity[0]["action"], "agent.resumed");
        assert_eq!(activity[0]["details"]["override"], true);
        let raised = api.patch(&path, &json!({ "budgetMonthlyCents": 1000 })).ok(200);
        assert_eq!(raised["budgetOverrideMonth"], json!(null));
    }

    fn a_company_goes_for_good_once_it_is_archived(api) {
        let company = api.company("Acme");
        let path = format!("/api/companies/{}", id(&company));
        let ada = api.agent(&company, "Ada");
        let key = api.key(&ada);
        api.issue(&company, &json!({ "title": "Work", "status": "todo", "assigneeAgentId": id(&ada) }));
        let project = json!({ "name": "Site", "workspace": { "cwd": "/tmp/site" } });
        api.post(&format!("{path}/projects"), &project).ok(201);
        let other = api.company("Other");
        let delete = || api.send("DELETE", &path, &[], b"");
        delete().problem(409, "company_not_archived");
        api.bearing(&key).send("DELETE", &path, &Value::Null).problem(403, "board_required");
        api.send("POST", &format!("{path}/archive"), &[], b"").ok(200);
        assert_eq!(api.logs.length(), 100);
        assert_eq!(delete().ok(200), json!({ "ok": true }));
        assert_eq!(api.logs.length(), 0);
        delete().problem(404, "not_found");
        api.get(&path).problem(404, "not_found");
        api.bearing(&key).get("/api/agents/me").problem(401, "credential_invalid");
        assert_eq!(api.get("/api/companies?includeArchived=true").ok(200)[0]["id"], other["id"]);
    }

    fn an_agent_goes_only_if_it_left_no_trace(api) {
        let company = api.company("Acme");
        let [mistake, worker] = ["Mistake", "Worker"].map(|name| api.agent(&company, name));
        api.key(&mistake);
        api.issue(&company, &json!({ "title": "Work", "assigneeAgentId": id(&worker) }));
        let delete = |agent: &Value| {
            api.send("DELETE", &format!("/api/agents/{}", id(agent)), &[], b"")
        };
        delete(&worker).problem(409, "agent_has_history");
        assert_eq!(delete(&mistake).ok(200), json!({ "ok": true }));
        delete(&mistake).problem(404, "not_found");
        let key = api.key(&worker);
        let path = format!("/api/agents/{}", id(&worker));
        api.bearing(&key).send("DELETE", &path, &Value::Null).problem(403, "board_required");
    }
}
