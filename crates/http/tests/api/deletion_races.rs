//! A thing is deleted while a request uses it: the request wins, or finds it gone, or is refused.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::support::{Answer, Api, api_tests, id};

/// How often each deletion meets each use.
const ROUNDS: usize = 8;

/// A method, a path and a body.
type Ask = (&'static str, String, Value);

/// Something that is deleted, and requests that use it.
struct Target {
    path: String,
    uses: Vec<Ask>,
}

/// What stays.
struct Stage<'a> {
    api: &'a Api,
    company: Value,
    agent: Value,
    issue: Value,
    goal: Value,
    project: Value,
    made: AtomicUsize,
}

impl<'a> Stage<'a> {
    fn on(api: &'a Api) -> Self {
        let company = api.company("Acme");
        let new = |kind: &str, body: &Value| {
            let path = format!("/api/companies/{}/{kind}", id(&company));
            api.post(&path, body).ok(201)
        };
        Self {
            api,
            agent: api.agent(&company, "Ada"),
            issue: new("issues", &json!({ "title": "Stays" })),
            goal: new("goals", &json!({ "title": "Stays" })),
            project: new("projects", &json!({ "name": "Stays" })),
            company,
            made: AtomicUsize::new(0),
        }
    }

    fn of(&self, kind: &str) -> String {
        format!("/api/companies/{}/{kind}", id(&self.company))
    }

    /// A new thing under a name that no other has; its path and its id.
    fn fresh(&self, kind: &str, field: &str, extra: Value) -> (String, String) {
        let name = format!("made {}", self.made.fetch_add(1, Ordering::SeqCst));
        let mut body = extra;
        body.as_object_mut()
            .unwrap()
            .insert(field.to_owned(), json!(name));
        let made = self.api.post(&self.of(kind), &body).ok(201);
        let made = id(&made).to_owned();
        (format!("/api/{kind}/{made}"), made)
    }

    fn cost(&self, field: &str, value: &str) -> Ask {
        let mut body = json!({
            "agentId": id(&self.agent), "provider": "p", "model": "m", "costCents": 1,
        });
        body.as_object_mut()
            .unwrap()
            .insert(field.to_owned(), json!(value));
        ("POST", self.of("cost-events"), body)
    }

    fn make(&self, kind: &str, body: Value) -> Ask {
        ("POST", self.of(kind), body)
    }

    fn change(&self, kind: &str, of: &Value, body: Value) -> Ask {
        ("PATCH", format!("/api/{kind}/{}", id(of)), body)
    }

    fn goal(&self) -> Target {
        let (path, goal) = self.fresh("goals", "title", json!({}));
        let uses = vec![
            self.make("issues", json!({ "title": "x", "goalId": goal })),
            self.change("issues", &self.issue, json!({ "goalId": goal })),
            self.make("goals", json!({ "title": "x", "parentId": goal })),
            self.change("goals", &self.goal, json!({ "parentId": goal })),
            self.make("projects", json!({ "name": "x", "goalIds": [goal] })),
            self.change("projects", &self.project, json!({ "goalIds": [goal] })),
            self.cost("goalId", &goal),
            ("PATCH", path.clone(), json!({ "title": "y" })),
            ("DELETE", path.clone(), Value::Null),
        ];
        Target { path, uses }
    }

    fn project(&self) -> Target {
        let (path, project) = self.fresh("projects", "name", json!({}));
        let uses = vec![
            self.make("issues", json!({ "title": "x", "projectId": project })),
            self.change("issues", &self.issue, json!({ "projectId": project })),
            (
                "POST",
                format!("{path}/workspaces"),
                json!({ "cwd": "/srv/x" }),
            ),
            (
                "PUT",
                format!("{path}/conventions"),
                json!({ "conventionsMd": "- x" }),
            ),
            self.cost("projectId", &project),
            (
                "PATCH",
                path.clone(),
                json!({ "goalIds": [id(&self.goal)] }),
            ),
            ("DELETE", path.clone(), Value::Null),
        ];
        Target { path, uses }
    }

    fn workspace(&self) -> Target {
        let of = format!("/api/projects/{}/workspaces", id(&self.project));
        let made = self.api.post(&of, &json!({ "cwd": "/srv/x" })).ok(201);
        let path = format!("{of}/{}", id(&made));
        let uses = vec![
            ("PATCH", path.clone(), json!({ "name": "y" })),
            ("POST", of, json!({ "cwd": "/srv/y", "isPrimary": true })),
            ("DELETE", path.clone(), Value::Null),
        ];
        Target { path, uses }
    }

    fn label(&self) -> Target {
        let (path, label) = self.fresh("labels", "name", json!({ "color": "#aabbcc" }));
        let uses = vec![
            self.make("issues", json!({ "title": "x", "labelIds": [label] })),
            self.change("issues", &self.issue, json!({ "labelIds": [label] })),
            ("PATCH", path.clone(), json!({ "color": "#ccbbaa" })),
            ("DELETE", path.clone(), Value::Null),
        ];
        Target { path, uses }
    }

    fn agent(&self) -> Target {
        let (path, agent) = self.fresh("agents", "name", json!({ "role": "engineer" }));
        let assigned = json!({ "title": "x", "status": "todo", "assigneeAgentId": agent });
        let hired = json!({ "name": "x", "role": "engineer", "reportsTo": agent });
        let checkout = format!("/api/issues/{}/checkout", id(&self.issue));
        let uses = vec![
            self.make("issues", assigned),
            self.change("issues", &self.issue, json!({ "assigneeAgentId": agent })),
            ("POST", checkout, json!({ "agentId": agent })),
            self.make("goals", json!({ "title": "x", "ownerAgentId": agent })),
            self.change("goals", &self.goal, json!({ "ownerAgentId": agent })),
            self.make("projects", json!({ "name": "x", "leadAgentId": agent })),
            self.change("projects", &self.project, json!({ "leadAgentId": agent })),
            self.make("agents", hired),
            self.change("agents", &self.agent, json!({ "reportsTo": agent })),
            ("POST", format!("{path}/keys"), json!({})),
            ("POST", format!("{path}/heartbeat/invoke"), json!({})),
            ("POST", format!("{path}/pause"), json!({})),
            ("POST", format!("{path}/terminate"), json!({})),
            ("PATCH", path.clone(), json!({ "title": "y" })),
            self.cost("agentId", &agent),
            ("DELETE", path.clone(), Value::Null),
        ];
        Target { path, uses }
    }

    fn issue(&self) -> Target {
        let assigned = json!({ "status": "todo", "assigneeAgentId": id(&self.agent) });
        let (path, issue) = self.fresh("issues", "title", assigned);
        let plan = json!({ "type": "approve_issue_plan", "payload": { "issueId": issue } });
        let agent = json!({ "agentId": id(&self.agent) });
        let uses = vec![
            (
                "POST",
                format!("{path}/comments"),
                json!({ "body": "@Ada look" }),
            ),
            ("POST", format!("{path}/checkout"), agent),
            ("POST", format!("{path}/release"), json!({})),
            (
                "PATCH",
                path.clone(),
                json!({ "goalId": id(&self.goal), "status": "done" }),
            ),
            self.make("issues", json!({ "title": "x", "parentId": issue })),
            self.change("issues", &self.issue, json!({ "parentId": issue })),
            self.make("approvals", plan),
            self.cost("issueId", &issue),
            ("DELETE", path.clone(), Value::Null),
        ];
        Target { path, uses }
    }

    fn secret(&self) -> Target {
        let name = format!("MADE_{}", self.made.fetch_add(1, Ordering::SeqCst));
        let made = json!({ "name": name, "value": "hunter2" });
        let made = self.api.post(&self.of("secrets"), &made).ok(201);
        let path = format!("/api/secrets/{}", id(&made));
        let reference = json!({ "type": "secret_ref", "secretId": id(&made), "version": "latest" });
        let config = json!({ "command": "true", "env": { "TOKEN": reference } });
        let hired = json!({ "name": "x", "role": "engineer", "adapterConfig": config });
        let uses = vec![
            self.make("agents", hired),
            self.change("agents", &self.agent, json!({ "adapterConfig": config })),
            ("POST", format!("{path}/rotate"), json!({ "value": "v2" })),
            ("DELETE", path.clone(), Value::Null),
        ];
        Target {
            path: format!("{path}?force=true"),
            uses,
        }
    }

    fn company(&self) -> Target {
        let made = self.api.company("ReaderGone");
        let path = format!("/api/companies/{}", id(&made));
        self.api
            .post(&format!("{path}/archive"), &json!({}))
            .ok(200);
        let uses = vec![
            ("PATCH", path.clone(), json!({ "description": "y" })),
            ("POST", format!("{path}/unarchive"), json!({})),
            ("POST", format!("{path}/goals"), json!({ "title": "x" })),
            ("POST", format!("{path}/issues"), json!({ "title": "x" })),
            (
                "POST",
                format!("{path}/agents"),
                json!({ "name": "x", "role": "engineer" }),
            ),
            (
                "POST",
                format!("{path}/labels"),
                json!({ "name": "x", "color": "#aabbcc" }),
            ),
            ("DELETE", path.clone(), Value::Null),
        ];
        Target { path, uses }
    }
}

fn ask(api: &Api, (method, path, body): &Ask) -> Answer {
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    api.send(method, path, &[], body.as_bytes())
}

/// Deletes each of many things while something uses it, and looks that nobody is told of a fault.
fn race<'a>(stage: &Stage<'a>, target: impl Fn(&Stage<'a>) -> Target) {
    let mut deleted = 0;
    for place in 0..target(stage).uses.len() {
        for _ in 0..ROUNDS {
            let Target { path, uses } = target(stage);
            let [deletion, using] = [&("DELETE", path, Value::Null), &uses[place]];
            let start = Barrier::new(2);
            let answers = std::thread::scope(|scope| {
                [deletion, using]
                    .map(|request| {
                        let start = &start;
                        scope.spawn(move || {
                            start.wait();
                            ask(stage.api, request)
                        })
                    })
                    .map(|thread| thread.join().unwrap())
            });
            for (answer, request) in answers.iter().zip([deletion, using]) {
                assert!(
                    matches!(answer.status, 200 | 201 | 202 | 204 | 404 | 409 | 422),
                    "{request:?} against {deletion:?}: {answer:?}"
                );
            }
            deleted += usize::from(answers[0].status < 300);
        }
    }
    assert!(deleted > 0, "nothing was deleted");
}

api_tests! {
    fn goals_go_while_they_are_used(api) {
        race(&Stage::on(api), Stage::goal);
    }

    fn projects_go_while_they_are_used(api) {
        race(&Stage::on(api), Stage::project);
    }

    fn workspaces_go_while_they_are_used(api) {
        race(&Stage::on(api), Stage::workspace);
    }

    fn labels_go_while_they_are_used(api) {
        race(&Stage::on(api), Stage::label);
    }

    fn agents_go_while_they_are_used(api) {
        race(&Stage::on(api), Stage::agent);
    }

    fn issues_go_while_they_are_used(api) {
        race(&Stage::on(api), Stage::issue);
    }

    fn secrets_go_while_they_are_used(api) {
        race(&Stage::on(api), Stage::secret);
    }

    fn companies_go_while_they_are_used(api) {
        race(&Stage::on(api), Stage::company);
    }
}
