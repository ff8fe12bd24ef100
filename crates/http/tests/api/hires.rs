//! Hiring with the board's approval.

use serde_json::{Value, json};

use crate::approvals::{act, faulty, history, now, of};
use crate::support::{Api, NOTHING, api_tests, id};

/// A company that wants an approval for new agents, with its ceo's key.
fn careful(api: &Api) -> (Value, Value, String) {
    let company = api
        .post("/api/companies", &json!({ "name": "Acme" }))
        .ok(201);
    let agents = format!("/api/companies/{}/agents", id(&company));
    let ceo = json!({ "name": "Cleo", "role": "ceo" });
    let ceo = api.post(&agents, &ceo).ok(201);
    let key = api.key(&ceo);
    (company, ceo, key)
}

fn hires(company: &Value) -> String {
    format!("/api/companies/{}/agent-hires", id(company))
}

fn agent(api: &Api, agent: &Value) -> Value {
    api.get(&format!("/api/agents/{}", id(agent))).ok(200)
}

fn runs(api: &Api, company: &Value, agent: &Value) -> Vec<Value> {
    let path = format!(
        "/api/companies/{}/heartbeat-runs?agentId={}",
        id(company),
        id(agent)
    );
    api.get(&path).ok(200).as_array().unwrap().clone()
}

/// What the board should look at, by pointer and kind.
fn attention(approval: &Value) -> Vec<(String, String)> {
    let marks = approval["attention"].as_array().unwrap();
    marks
        .iter()
        .map(|mark| {
            let text = |key: &str| mark[key].as_str().unwrap().to_owned();
            (text("pointer"), text("kind"))
        })
        .collect()
}

api_tests! {
    fn a_hire_is_a_draft_until_the_board_agrees(api) {
        let (company, ceo, key) = careful(api);
        let issue = api.issue(&company, &json!({ "title": "Grow the team" }));
        let body = json!({
            "name": "Bob Byte",
            "role": "engineer",
            "reportsTo": id(&ceo),
            "capabilities": "code",
            "budgetMonthlyCents": 500,
            "sourceIssueId": issue["identifier"],
        });
        let hired = api.bearing(&key).post(&hires(&company), &body).ok(201);
        let (draft, approval) = (&hired["agent"], &hired["approval"]);
        assert_eq!(draft["status"], "pending_approval");
        assert_eq!(draft["budgetMonthlyCents"], 500);
        assert_eq!(approval["type"], "hire_agent");
        assert_eq!(approval["status"], "pending");
        assert_eq!(approval["requestedByAgentId"], ceo["id"]);
        assert_eq!(approval["payload"]["agentId"], draft["id"]);
        assert_eq!(approval["payload"]["name"], "Bob Byte");
        assert_eq!(approval["payload"]["budgetMonthlyCents"], 500);
        assert_eq!(approval["linkedIssueIds"], json!([issue["id"]]));
        assert_eq!(approval["attention"], json!([]));

        let draft_path = format!("/api/agents/{}", id(draft));
        api.post(&format!("{draft_path}/keys"), &json!({})).problem(409, "agent_pending_approval");
        let invoke = format!("{draft_path}/heartbeat/invoke");
        api.post(&invoke, &json!({})).problem(409, "agent_pending_approval");
        let work = json!({ "title": "Work", "assigneeAgentId": id(draft) });
        let issues = format!("/api/companies/{}/issues", id(&company));
        faulty(&api.post(&issues, &work), "invalid_field", "/assigneeAgentId");
        let comments = format!("/api/issues/{}/comments", id(&issue));
        let mention = api.post(&comments, &json!({ "body": "@Bob Byte hello" })).ok(201);
        assert_eq!(mention["mentions"], json!([]));
        assert_eq!(runs(api, &company, draft), Vec::<Value>::new());

        let granted = api.post(&act(approval, "approve"), &json!({ "decisionNote": "welcome" }));
        assert_eq!(granted.ok(200)["status"], "approved");
        let bob = agent(api, draft);
        assert_eq!(bob["status"], "active");
        for field in ["name", "role", "reportsTo", "capabilities", "budgetMonthlyCents"] {
            assert_eq!(bob[field], draft[field], "{field}");
        }
        let bobs_key = api.key(&bob);
        assert_eq!(api.bearing(&bobs_key).get("/api/agents/me").ok(200)["id"], bob["id"]);
        let told = runs(api, &company, &ceo);
        assert_eq!(told[0]["reason"], "approval_approved");
        let events = format!("/api/companies/{}/activity?entityId={}", id(&company), id(draft));
        let events = api.get(&events).ok(200);
        assert_eq!(events[0]["action"], "agent.key_created");
        assert_eq!(events[1]["action"], "agent.hired");
    }

    fn who_is_refused_or_withdrawn_never_works(api) {
        let (company, _ceo, key) = careful(api);
        let body = json!({ "name": "Bob", "role": "engineer" });
        for action in ["reject", "cancel"] {
            let hired = api.bearing(&key).post(&hires(&company), &body).ok(201);
            let ended = match action {
                "cancel" => api.bearing(&key).post(&act(&hired["approval"], action), &json!({})),
                _ => api.post(&act(&hired["approval"], action), &json!({ "decisionNote": "no" })),
            };
            ended.ok(200);
            assert_eq!(agent(api, &hired["agent"])["status"], "terminated");
            let keys = format!("/api/agents/{}/keys", id(&hired["agent"]));
            api.post(&keys, &json!({})).problem(409, "agent_terminated");
        }
        let hired = api.bearing(&key).post(&hires(&company), &body).ok(201);
        let terminate = format!("/api/agents/{}/terminate", id(&hired["agent"]));
        api.post(&terminate, &json!({})).ok(200);
        let cancelled = now(api, &hired["approval"]);
        assert_eq!(cancelled["status"], "cancelled");
        assert_eq!(cancelled["events"][1]["details"], json!({ "reason": "draft_terminated" }));
        api.post(&act(&cancelled, "approve"), &json!({})).problem(422, "approval_not_pending");
    }

    fn a_credential_of_a_draft_opens_nothing(api) {
        let (company, ceo, _key) = careful(api);
        // A key that was made before cannot exist; one is put there past the rules.
        api.store.breaks_on_purpose(&["drafts_wait_for_a_decision", "only_the_employed_have_keys"]);
        let key = api.key(&ceo);
        let state = format!("UPDATE agents SET lifecycle = 'pending_approval' WHERE id = '{}'", id(&ceo));
        api.store.execute(&state);
        api.bearing(&key).get("/api/agents/me").problem(401, "agent_inactive");
        api.bearing(&key).post(&hires(&company), &json!({ "name": "x" })).problem(401, "agent_inactive");
    }

    fn the_boards_changes_of_a_draft_are_told(api) {
        let (company, _ceo, key) = careful(api);
        let body = json!({ "name": "Bob", "role": "engineer" });
        let hired = api.bearing(&key).post(&hires(&company), &body).ok(201);
        let path = format!("/api/agents/{}", id(&hired["agent"]));
        assert_eq!(
            attention(&hired["approval"]),
            [("/budgetMonthlyCents".to_owned(), "no_budget_limit".to_owned())]
        );
        let change = json!({ "budgetMonthlyCents": 100, "title": "Junior" });
        api.patch(&path, &change).ok(200);
        let edited = now(api, &hired["approval"]);
        assert_eq!(history(&edited), ["created", "edited"]);
        let event = &edited["events"][1];
        assert_eq!(event["actorType"], "board");
        assert_eq!(event["details"]["changed"], json!(["budgetMonthlyCents", "title"]));
        assert_eq!(edited["payload"]["budgetMonthlyCents"], 100);
        assert_eq!(edited["payload"]["title"], "Junior");
        assert_eq!(edited["attention"], json!([]));
        api.patch(&path, &json!({ "title": "Junior" })).ok(200);
        assert_eq!(history(&now(api, &edited)).len(), 2, "what changes nothing is not told");
        let sneaky = api.bearing(&key).patch(&path, &json!({ "title": "Boss" }));
        sneaky.problem(403, "forbidden");
        api.post(&act(&edited, "approve"), &json!({})).ok(200);
        let bob = agent(api, &hired["agent"]);
        assert_eq!((&bob["title"], &bob["budgetMonthlyCents"]), (&json!("Junior"), &json!(100)));
        api.patch(&path, &json!({ "title": "Senior" })).ok(200);
        assert_eq!(history(&now(api, &edited)), ["created", "edited", "approved"]);
    }

    fn a_hire_that_is_sent_again_changes_the_draft(api) {
        let (company, _ceo, key) = careful(api);
        let config = json!({ "command": "work", "env": { "API_TOKEN": "sesame", "MODE": "fast" } });
        let body = json!({
            "name": "Bob", "role": "engineer", "budgetMonthlyCents": 100, "adapterConfig": config,
        });
        let hired = api.bearing(&key).post(&hires(&company), &body).ok(201);
        let approval = &hired["approval"];
        let shown = &approval["payload"]["adapterConfig"]["env"];
        assert_eq!(shown["MODE"], "fast");
        assert_eq!(shown["API_TOKEN"], "***REDACTED***");
        assert!(!api.get(&of(&company)).text.contains("sesame"));
        api.post(&act(approval, "request-revision"), &json!({ "decisionNote": "cheaper" })).ok(200);
        let bad = json!({ "payload": { "budgetMonthlyCents": -1 } });
        let bad = api.bearing(&key).post(&act(approval, "resubmit"), &bad);
        faulty(&bad, "invalid_field", "/payload/budgetMonthlyCents");
        let mut payload = approval["payload"].clone();
        payload["budgetMonthlyCents"] = json!(50);
        payload["adapterConfig"]["args"] = json!(["--yolo"]);
        payload["because"] = json!("you asked");
        let again = json!({ "payload": payload });
        let again = api.bearing(&key).post(&act(approval, "resubmit"), &again).ok(200);
        assert_eq!(again["payload"]["budgetMonthlyCents"], 50);
        assert_eq!(again["payload"]["because"], "you asked");
        assert!(attention(&again).contains(&("/adapterConfig/args".into(), "dangerous_flag".into())));
        assert_eq!(agent(api, &hired["agent"])["budgetMonthlyCents"], 50);
        api.post(&act(approval, "approve"), &json!({})).ok(200);
        let stored = agent(api, &hired["agent"]);
        assert_eq!(stored["adapterConfig"]["args"], json!(["--yolo"]));
        assert_eq!(stored["adapterConfig"]["env"]["MODE"], "fast");
    }

    fn what_is_sent_again_replaces_the_whole_proposal(api) {
        let (company, _ceo, key) = careful(api);
        let body = json!({
            "name": "Bob", "role": "engineer", "title": "Senior", "budgetMonthlyCents": 100,
            "permissions": { "canCreateAgents": true }, "metadata": { "a": 1 },
            "adapterConfig": { "command": "work" }, "runtimeConfig": { "heartbeat": { "intervalSec": 60 } },
        });
        let hired = api.bearing(&key).post(&hires(&company), &body).ok(201);
        api.post(&act(&hired["approval"], "request-revision"), &json!({})).ok(200);
        let resubmit = act(&hired["approval"], "resubmit");
        let nameless = api.bearing(&key).post(&resubmit, &json!({ "payload": { "role": "qa" } }));
        faulty(&nameless, "invalid_field", "/payload/name");
        let payload = json!({ "payload": { "name": "Rob", "role": "qa" } });
        let again = api.bearing(&key).post(&resubmit, &payload).ok(200);
        let draft = agent(api, &hired["agent"]);
        for (field, value) in [
            ("name", json!("Rob")),
            ("role", json!("qa")),
            ("title", Value::Null),
            ("budgetMonthlyCents", json!(0)),
            ("adapterConfig", json!({})),
            ("runtimeConfig", json!({})),
            ("metadata", json!({})),
        ] {
            assert_eq!((&draft[field], &again["payload"][field]), (&value, &value), "{field}");
        }
        assert_eq!(draft["permissions"]["canCreateAgents"], false);
    }

    fn how_a_proposed_agent_is_run_is_not_for_everybody(api) {
        let (company, ceo, key) = careful(api);
        let peer = api.key(&api.agent(&company, "Eve"));
        let boss = api.agent(&company, "Max");
        let config = json!({ "command": "work", "env": { "DSN": "postgres://u:open@db/x" } });
        let body = json!({
            "name": "Bob", "role": "engineer", "adapterConfig": config, "reportsTo": id(&boss),
            "runtimeConfig": { "heartbeat": { "intervalSec": 60 } },
        });
        let hired = api.bearing(&key).post(&hires(&company), &body).ok(201);
        let one = format!("/api/approvals/{}", id(&hired["approval"]));
        let boss = api.key(&boss);
        for decided in [false, true] {
            for path in [one.clone(), of(&company)] {
                let shown = api.bearing(&peer).get(&path);
                assert!(!shown.text.contains("open@db") && !shown.text.contains("intervalSec"), "{}", shown.text);
                for who in [&key, &boss] {
                    assert!(api.bearing(who).get(&path).text.contains("open@db"));
                }
                assert!(api.get(&path).text.contains("open@db"));
            }
            if !decided {
                api.post(&act(&hired["approval"], "approve"), &json!({})).ok(200);
            }
        }
        assert_eq!(api.bearing(&peer).get(&one).ok(200)["payload"]["adapterConfig"], json!({}));
        assert_eq!(api.bearing(&peer).get(&one).ok(200)["requestedByAgentId"], ceo["id"]);
    }

    fn what_an_agent_proposes_is_marked_where_it_is_risky(api) {
        let (company, _ceo, key) = careful(api);
        let body = json!({
            "name": "Mallory",
            "role": "ceo",
            "permissions": { "canCreateAgents": true },
            "adapterType": "claude_local",
            "adapterConfig": {
                "command": "/bin/bash",
                "shell": true,
                "dangerouslySkipPermissions": true,
                "extraArgs": ["--no-sandbox"],
                "instructionsFilePath": "/etc/passwd",
            },
        });
        let hired = api.bearing(&key).post(&hires(&company), &body).ok(201);
        let marks = attention(&hired["approval"]);
        let marks: Vec<_> = marks.iter().map(|(at, kind)| (at.as_str(), kind.as_str())).collect();
        for mark in [
            ("/role", "privileged_role"),
            ("/permissions/canCreateAgents", "can_create_agents"),
            ("/budgetMonthlyCents", "no_budget_limit"),
            ("/adapterConfig/command", "command"),
            ("/adapterConfig/command", "shell"),
            ("/adapterConfig/shell", "shell"),
            ("/adapterConfig/dangerouslySkipPermissions", "dangerous_flag"),
            ("/adapterConfig/extraArgs", "dangerous_flag"),
            ("/adapterConfig/instructionsFilePath", "external_instructions"),
        ] {
            assert!(marks.contains(&mark), "{mark:?} of {marks:?}");
        }
        let mut own = body;
        own["allowSameName"] = true.into();
        let own = api.post(&hires(&company), &own).ok(201);
        assert_eq!(own["approval"]["attention"], json!([]), "the board knows what it proposes");
    }

    fn only_who_may_hire_hires(api) {
        let (company, _ceo, _key) = careful(api);
        let agents = format!("/api/companies/{}/agents", id(&company));
        let clerk = api.post(&agents, &json!({ "name": "Clerk" })).ok(201);
        let key = api.key(&clerk);
        let body = json!({ "name": "Bob", "role": "engineer" });
        api.bearing(&key).post(&hires(&company), &body).problem(403, "forbidden");
        let filed = json!({ "type": "hire_agent", "payload": body });
        api.bearing(&key).post(&of(&company), &filed).problem(403, "forbidden");
        let may = json!({ "permissions": { "canCreateAgents": true } });
        api.patch(&format!("/api/agents/{}", id(&clerk)), &may).ok(200);
        api.bearing(&key).post(&hires(&company), &body).ok(201);
        for (body, pointer) in [
            (json!({ "name": "Bea", "reportsTo": NOTHING }), "/reportsTo"),
            (json!({ "name": "Bea", "sourceIssueId": NOTHING }), "/sourceIssueId"),
            (json!({ "name": "Bea", "sourceIssueIds": ["x"] }), "/sourceIssueIds/0"),
        ] {
            faulty(&api.post(&hires(&company), &body), "reference_not_found", pointer);
        }
        let huge = json!({ "name": "Bea", "capabilities": "x".repeat(100 * 1024) });
        faulty(&api.post(&hires(&company), &huge), "invalid_field", "/payload");
        api.post(&hires(&company), &json!({ "role": "x" })).problem(400, "invalid_json");
        api.post(&hires(&company), &json!({ "name": "Bob", "budgetMonthlyCents": 0.5 })).problem(400, "invalid_json");
        let listed = api.get(&agents).ok(200);
        let drafts = listed.as_array().unwrap().iter().filter(|it| it["status"] == "pending_approval");
        assert_eq!(drafts.count(), 1, "what is refused leaves no draft");
    }

    fn where_no_approval_is_wanted_an_agent_works_at_once(api) {
        let company = api.company("Acme");
        let agents = format!("/api/companies/{}/agents", id(&company));
        let ceo = api.post(&agents, &json!({ "name": "Cleo", "role": "ceo" })).ok(201);
        let key = api.key(&ceo);
        let body = json!({ "name": "Bob", "role": "engineer", "budgetMonthlyCents": 100 });
        let hired = api.bearing(&key).post(&hires(&company), &body).ok(201);
        assert_eq!(hired["approval"], Value::Null);
        assert_eq!(hired["agent"]["status"], "active");
        // What only the board may give still goes to the board.
        let body = json!({ "name": "Bea", "role": "engineer", "adapterConfig": { "command": "x" } });
        let hired = api.bearing(&key).post(&hires(&company), &body).ok(201);
        assert_eq!(hired["agent"]["status"], "pending_approval");
        assert_eq!(hired["approval"]["status"], "pending");
        let own = json!({ "name": "Cyd", "role": "engineer", "adapterConfig": { "command": "x" } });
        let own = api.post(&hires(&company), &own).ok(201);
        assert_eq!(own["approval"], Value::Null);
    }

    fn a_hire_that_is_filed_without_a_draft_makes_one(api) {
        let (company, ceo, key) = careful(api);
        let body = json!({
            "type": "hire_agent",
            "payload": { "hire": { "name": "Nested", "role": "qa", "budgetMonthlyCents": 70 }, "why": "bugs" },
        });
        let asked = api.bearing(&key).post(&of(&company), &body).ok(201);
        assert_eq!(asked["payload"]["name"], "Nested");
        assert_eq!(asked["payload"]["why"], "bugs");
        let draft = agent(api, &json!({ "id": asked["payload"]["agentId"] }));
        assert_eq!(draft["status"], "pending_approval");
        assert_eq!((&draft["role"], &draft["budgetMonthlyCents"]), (&json!("qa"), &json!(70)));
        let again = json!({ "type": "hire_agent", "payload": { "agentId": draft["id"] } });
        assert_eq!(api.bearing(&key).post(&of(&company), &again).ok(200), asked);
        api.post(&act(&asked, "approve"), &json!({})).ok(200);
        assert_eq!(agent(api, &draft)["status"], "active");
        assert_eq!(agent(api, &draft)["name"], "Nested");
        faulty(&api.post(&of(&company), &again), "invalid_field", "/payload/agentId");
        for payload in [json!({ "name": "X", "role": "Y Z" }), json!({ "name": 5, "role": "qa" })] {
            let body = json!({ "type": "hire_agent", "payload": payload });
            api.post(&of(&company), &body).problem(422, "invalid_field");
        }
        let ceos = json!({ "type": "hire_agent", "payload": { "agentId": ceo["id"] } });
        faulty(&api.post(&of(&company), &ceos), "invalid_field", "/payload/agentId");
    }
}
