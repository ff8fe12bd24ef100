//! Fields that name something: what does not exist in the company is refused, and what belongs to
//! another company does not exist (docs/access.md#companies).

use serde_json::{Value, json};

use crate::approvals::faulty;
use crate::support::{Api, NOTHING, api_tests, id};

fn of(company: &Value, part: &str) -> String {
    format!("/api/companies/{}/{part}", id(company))
}

/// The ids of an agent, a goal and a project that a company has none of: unknown ones, and those
/// of another company.
fn strangers(api: &Api) -> [[String; 3]; 2] {
    let other = api.company("Other");
    let agent = api.agent(&other, "Eve");
    let goal = api
        .post(&of(&other, "goals"), &json!({ "title": "Theirs" }))
        .ok(201);
    let project = api
        .post(&of(&other, "projects"), &json!({ "name": "Theirs" }))
        .ok(201);
    [
        [NOTHING, NOTHING, NOTHING].map(str::to_owned),
        [id(&agent), id(&goal), id(&project)].map(str::to_owned),
    ]
}

api_tests! {
    fn goals_name_goals_and_agents_of_their_company(api) {
        let company = api.company("Acme");
        let goals = of(&company, "goals");
        let goal = api.post(&goals, &json!({ "title": "Ours" })).ok(201);
        let path = format!("/api/goals/{}", id(&goal));
        for [agent, other_goal, _project] in strangers(api) {
            for (field, stranger) in [("parentId", other_goal), ("ownerAgentId", agent)] {
                let made = json!({ "title": "New", field: stranger });
                let pointer = format!("/{field}");
                faulty(&api.post(&goals, &made), "reference_not_found", &pointer);
                let change = json!({ field: stranger });
                faulty(&api.patch(&path, &change), "reference_not_found", &pointer);
            }
        }
        assert_eq!(api.get(&goals).ok(200), json!([goal]));
    }

    fn projects_name_goals_and_agents_of_their_company(api) {
        let company = api.company("Acme");
        let projects = of(&company, "projects");
        let project = api.post(&projects, &json!({ "name": "Ours" })).ok(201);
        let path = format!("/api/projects/{}", id(&project));
        for [agent, goal, _project] in strangers(api) {
            for (body, pointer) in [
                (json!({ "name": "New", "goalIds": [goal] }), "/goalIds/0"),
                (json!({ "name": "New", "leadAgentId": agent }), "/leadAgentId"),
            ] {
                faulty(&api.post(&projects, &body), "reference_not_found", pointer);
                faulty(&api.patch(&path, &body), "reference_not_found", pointer);
            }
        }
        assert_eq!(api.get(&projects).ok(200), json!([project]));
    }

    fn projects_have_their_bounds_and_keep_what_is_the_boards(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let projects = of(&company, "projects");
        let project = api.post(&projects, &json!({ "name": "Ours" })).ok(201);
        let path = format!("/api/projects/{}", id(&project));
        let many = vec![NOTHING; 101];
        faulty(&api.patch(&path, &json!({ "goalIds": many })), "invalid_field", "/goalIds");
        let body = json!({ "name": "New", "goalIds": many });
        faulty(&api.post(&projects, &body), "invalid_field", "/goalIds");
        let workspaces = format!("{path}/workspaces");
        for workspace in [json!({}), json!({ "name": "nowhere" })] {
            faulty(&api.post(&workspaces, &workspace), "invalid_field", "/cwd");
        }
        let body = json!({ "repoUrl": "https://ada:hunter2@example.org/x" });
        faulty(&api.post(&workspaces, &body), "invalid_field", "/repoUrl");
        assert_eq!(api.get(&workspaces).ok(200), json!([]));

        let key = api.key(&ada);
        let own = api.bearing(&key);
        let seeded = json!({ "name": "New", "workspace": { "cwd": "/srv/x" } });
        own.post(&projects, &seeded).problem(403, "board_required");
        for rule in [json!({ "reviewRequired": true }), json!({ "remoteRequired": false })] {
            own.patch(&path, &rule).problem(403, "board_required");
        }
    }

    fn costs_name_what_there_is_and_what_can_be(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let events = of(&company, "cost-events");
        let cost = |extra: Value| {
            let mut body = json!({
                "agentId": id(&ada), "provider": "p", "model": "m", "costCents": 1,
            });
            body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            body
        };
        for [agent, goal, project] in strangers(api) {
            for (field, stranger) in [
                ("agentId", agent.as_str()),
                ("goalId", &goal),
                ("projectId", &project),
                ("issueId", NOTHING),
                ("runId", NOTHING),
            ] {
                let answer = api.post(&events, &cost(json!({ field: stranger })));
                faulty(&answer, "reference_not_found", &format!("/{field}"));
            }
        }
        for (extra, pointer) in [
            (json!({ "inputTokens": 1_000_000_000_001_i64 }), "/inputTokens"),
            (json!({ "occurredAt": "2000-01-01T00:00:00Z" }), "/occurredAt"),
        ] {
            faulty(&api.post(&events, &cost(extra)), "invalid_field", pointer);
        }
        assert_eq!(api.get(&events).ok(200), json!([]));
    }

    fn an_issue_is_named_by_its_identifier_wherever_its_id_is(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let issue = json!({ "title": "Work", "status": "todo", "assigneeAgentId": id(&ada) });
        let issue = api.post(&of(&company, "issues"), &issue).ok(201);
        let part = json!({ "title": "Part", "parentId": issue["identifier"] });
        let part = api.post(&of(&company, "issues"), &part).ok(201);
        api.post(&of(&company, "issues"), &json!({ "title": "Other" })).ok(201);
        let identifier = issue["identifier"].as_str().unwrap();

        let cost = json!({
            "agentId": id(&ada), "provider": "p", "model": "m", "costCents": 1,
            "issueId": identifier.to_lowercase(),
        });
        let cost = api.post(&of(&company, "cost-events"), &cost).ok(201);
        assert_eq!(cost["issueId"], issue["id"]);

        for (list, field) in [
            ("heartbeat-runs?issueId=", "issueId"),
            ("issues?parentId=", "parentId"),
            ("activity?entityType=issue&entityId=", "entityId"),
            ("activity?entityId=", "entityId"),
        ] {
            let [by_id, by_identifier, none] = [id(&issue), identifier, "ACM-999"]
                .map(|name| api.get(&of(&company, &format!("{list}{name}"))).ok(200));
            assert_eq!(by_identifier, by_id, "{list}");
            assert_ne!(by_id, json!([]), "{list}");
            assert_eq!(by_id[0][field], issue["id"], "{list}");
            assert_eq!(none, json!([]), "{list}");
        }
        assert_eq!(part["parentId"], issue["id"]);
        api.get(&of(&company, "heartbeat-runs?issueId=x")).problem(400, "invalid_request");
    }

    fn one_companys_identifier_is_nothing_in_another(api) {
        let [acme, other] = ["Acme", "Other"].map(|name| api.company(name));
        let ada = api.agent(&acme, "Ada");
        let theirs = api.post(&of(&other, "issues"), &json!({ "title": "T" })).ok(201);
        let cost = json!({
            "agentId": id(&ada), "provider": "p", "model": "m", "costCents": 1,
            "issueId": theirs["identifier"],
        });
        let answer = api.post(&of(&acme, "cost-events"), &cost);
        faulty(&answer, "reference_not_found", "/issueId");
        let runs = format!("heartbeat-runs?issueId={}", theirs["identifier"].as_str().unwrap());
        assert_eq!(api.bearing(&api.key(&ada)).get(&of(&acme, &runs)).ok(200), json!([]));
    }
}
