use serde_json::{Value, json};

use crate::support::{Api, NOTHING, api_tests, id};

fn delete(api: &Api, path: &str) -> Value {
    api.send("DELETE", path, &[], b"").ok(200)
}

/// The actions of a company, the latest first.
fn actions(api: &Api, company: &Value) -> Vec<String> {
    let rows = api.get(&format!("/api/companies/{}/activity", id(company)));
    let rows = rows.ok(200);
    let action = |row: &Value| row["action"].as_str().unwrap().to_owned();
    rows.as_array().unwrap().iter().map(action).collect()
}

api_tests! {
    fn an_issue_goes_and_its_children_stay(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let parent = api.issue(&company, &json!({ "title": "Epic" }));
        let body = json!({ "title": "Step", "status": "todo", "parentId": id(&parent) });
        let issue = api.issue(&company, &body);
        let child = api.issue(&company, &json!({ "title": "Sub", "parentId": id(&issue) }));
        let path = format!("/api/issues/{}", id(&issue));
        api.post(&format!("{path}/comments"), &json!({ "body": "well" })).ok(201);
        api.post(&format!("{path}/checkout"), &json!({ "agentId": id(&ada) })).ok(200);
        let cost = json!({
            "agentId": id(&ada), "issueId": id(&issue), "provider": "p", "model": "m",
            "costCents": 3,
        });
        api.post(&format!("/api/companies/{}/cost-events", id(&company)), &cost).ok(201);

        let key = api.key(&ada);
        api.bearing(&key).send("DELETE", &path, &Value::Null).problem(403, "board_required");
        assert_eq!(delete(api, &path), json!({ "ok": true }));
        api.get(&path).problem(404, "not_found");
        api.get(&format!("{path}/comments")).problem(404, "not_found");
        api.send("DELETE", &path, &[], b"").problem(404, "not_found");
        let orphan = api.get(&format!("/api/issues/{}", id(&child))).ok(200);
        assert_eq!((&orphan["parentId"], &orphan["ancestors"]), (&Value::Null, &json!([])));
        let costs = api.get(&format!("/api/companies/{}/costs/summary", id(&company))).ok(200);
        assert_eq!(costs["spendCents"], 3);
        assert_eq!(actions(api, &company)[0], "issue.deleted");
        let wakes = api.get(&format!("/api/companies/{}/live-runs", id(&company))).ok(200);
        assert_eq!(wakes, json!([]));
        // Its number is not given out again.
        let next = api.issue(&company, &json!({ "title": "Next" }));
        assert_eq!(next["identifier"], "ACM-4");
    }

    fn a_goal_goes_and_what_served_it_stays(api) {
        let company = api.company("Acme");
        let goals = format!("/api/companies/{}/goals", id(&company));
        let goal = api.post(&goals, &json!({ "title": "Grow" })).ok(201);
        let below = json!({ "title": "Sell", "parentId": id(&goal) });
        let below = api.post(&goals, &below).ok(201);
        let projects = format!("/api/companies/{}/projects", id(&company));
        let project = json!({ "name": "Site", "goalIds": [id(&goal)] });
        let project = api.post(&projects, &project).ok(201);
        let issue = api.issue(&company, &json!({ "title": "Step", "goalId": id(&goal) }));
        let path = format!("/api/goals/{}", id(&goal));
        let key = api.key(&api.agent(&company, "Ada"));
        api.bearing(&key).send("DELETE", &path, &Value::Null).problem(403, "board_required");
        assert_eq!(delete(api, &path), json!({ "ok": true }));
        api.get(&path).problem(404, "not_found");
        api.send("DELETE", &path, &[], b"").problem(404, "not_found");
        let below = api.get(&format!("/api/goals/{}", id(&below))).ok(200);
        assert_eq!(below["parentId"], Value::Null);
        let project = api.get(&format!("/api/projects/{}", id(&project))).ok(200);
        assert_eq!((&project["goals"], &project["goalId"]), (&json!([]), &Value::Null));
        let issue = api.get(&format!("/api/issues/{}", id(&issue))).ok(200);
        assert_eq!((&issue["goalId"], &issue["goal"]), (&Value::Null, &Value::Null));
        assert_eq!(actions(api, &company)[0], "goal.deleted");
    }

    fn a_project_goes_with_its_workspaces_and_its_issues_stay(api) {
        let company = api.company("Acme");
        let projects = format!("/api/companies/{}/projects", id(&company));
        let body = json!({ "name": "Site", "workspace": { "cwd": "/srv/site" } });
        let project = api.post(&projects, &body).ok(201);
        let issue = api.issue(&company, &json!({ "title": "Step", "projectId": id(&project) }));
        let path = format!("/api/projects/{}", id(&project));
        let key = api.key(&api.agent(&company, "Ada"));
        api.bearing(&key).send("DELETE", &path, &Value::Null).problem(403, "board_required");
        assert_eq!(delete(api, &path), json!({ "ok": true }));
        api.get(&path).problem(404, "not_found");
        api.get(&format!("{path}/workspaces")).problem(404, "not_found");
        let issue = api.get(&format!("/api/issues/{}", id(&issue))).ok(200);
        assert_eq!((&issue["projectId"], &issue["project"]), (&Value::Null, &Value::Null));
        assert_eq!(actions(api, &company)[0], "project.deleted");
        assert_eq!(api.get(&projects).ok(200), json!([]));
        // Its short name is free again.
        assert_eq!(api.post(&projects, &body).ok(201)["urlKey"], "site");
    }

    fn what_does_not_exist_cannot_be_deleted(api) {
        for kind in ["issues", "goals", "projects", "labels"] {
            let path = format!("/api/{kind}/{NOTHING}");
            api.send("DELETE", &path, &[], b"").problem(404, "not_found");
        }
    }

    fn a_project_is_found_by_its_short_name(api) {
        let (company, other) = (api.company("Acme"), api.company("Bolt"));
        let projects = format!("/api/companies/{}/projects", id(&company));
        let project = api.post(&projects, &json!({ "name": "The Site" })).ok(201);
        let at = |company: &Value| format!("/api/projects/the-site?companyId={}", id(company));
        assert_eq!(api.get(&at(&company)).ok(200), project);
        api.get(&at(&other)).problem(404, "not_found");
        api.get("/api/projects/the-site").problem(404, "not_found");
        let (ada, bob) = (api.agent(&company, "Ada"), api.agent(&other, "Bob"));
        let (ada, bob) = (api.key(&ada), api.key(&bob));
        assert_eq!(api.bearing(&ada).get("/api/projects/the-site").ok(200), project);
        api.bearing(&bob).get("/api/projects/the-site").problem(404, "not_found");
        api.bearing(&bob).get(&at(&company)).problem(404, "not_found");
    }
}
