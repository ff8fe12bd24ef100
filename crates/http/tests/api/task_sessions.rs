//! What the programs of agents keep from run to run (docs/heartbeats.md#sessions).

use std::convert::Infallible;

use serde_json::{Value, json};
use workforce_domain::agent::AdapterType;
use workforce_domain::port::Failure;
use workforce_domain::session::{AgentSession, TaskKey};
use workforce_domain::text::SessionId;
use workforce_domain::time::Timestamp;

use crate::support::{Api, api_tests, id};

fn sessions(agent: &Value) -> String {
    format!("/api/agents/{}/task-sessions", id(agent))
}

fn reset(agent: &Value) -> String {
    format!("/api/agents/{}/runtime-state/reset-session", id(agent))
}

/// Has an agent keep a session about each of these tasks.
fn keep(api: &Api, agent: &Value, tasks: &[TaskKey]) {
    let kept: Result<(), Failure<Infallible>> = api.store.write(|tx| {
        for (task, hours) in tasks.iter().zip(1..) {
            let used = Timestamp::from_micros(hours * 3_600_000_000);
            tx.sessions_mut().save_session(&AgentSession {
                company: agent["companyId"].as_str().unwrap().parse().unwrap(),
                agent: id(agent).parse().unwrap(),
                adapter_type: AdapterType::ClaudeLocal,
                task: *task,
                session: SessionId::parse("abc-1").unwrap(),
                directory: "/srv/hidden".into(),
                fingerprint: "hidden".into(),
                runs: 2,
                input_tokens: 1 << 40,
                usage_baseline: "{\"hidden\":1}".into(),
                last_result: Some("hidden".into()),
                begun_at: Timestamp::from_micros(0),
                last_used_at: used,
                last_run: None,
            })?;
        }
        Ok(())
    });
    kept.unwrap();
}

fn keys(api: &Api, agent: &Value) -> Vec<String> {
    let listed = api.get(&sessions(agent)).ok(200);
    let keys = listed.as_array().unwrap().iter();
    keys.map(|it| it["taskKey"].as_str().unwrap().to_owned())
        .collect()
}

/// What the activity of a company says of sessions that were forgotten, newest first.
fn told(api: &Api, company: &Value) -> Vec<Value> {
    let activity = api
        .get(&format!("/api/companies/{}/activity", id(company)))
        .ok(200);
    let rows = activity.as_array().unwrap().iter();
    rows.filter(|row| row["action"] == "agent.sessions_reset")
        .map(|row| row["details"].clone())
        .collect()
}

api_tests! {
    fn sessions_are_shown_without_what_the_program_needs_alone(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        assert_eq!(api.get(&sessions(&ada)).ok(200), json!([]));
        keep(api, &ada, &[TaskKey::General]);
        let answer = api.get(&sessions(&ada));
        assert!(!answer.text.contains("hidden"), "{}", answer.text);
        assert_eq!(
            answer.ok(200),
            json!([{
                "companyId": id(&company), "agentId": id(&ada), "adapterType": "claude_local",
                "taskKey": "general", "sessionId": "abc-1", "runs": 2,
                "inputTokens": 1_u64 << 40, "begunAt": "1970-01-01T00:00:00.000Z",
                "lastUsedAt": "1970-01-01T01:00:00.000Z", "lastRunId": null,
            }])
        );
        api.bearing(&api.key(&ada)).get(&sessions(&ada)).ok(200);
        let spy = api.key(&api.agent(&api.company("Other"), "Spy"));
        api.bearing(&spy).get(&sessions(&ada)).problem(404, "not_found");
    }

    fn the_board_makes_an_agent_forget_its_sessions(api) {
        let company = api.company("Acme");
        let (ada, bob) = (api.agent(&company, "Ada"), api.agent(&company, "Bob"));
        let issues = ["a", "b", "c", "d"].map(|title| api.issue(&company, &json!({ "title": title })));
        let of = |issue: &Value| TaskKey::Issue(id(issue).parse().unwrap());
        let tasks = [TaskKey::General, of(&issues[0]), of(&issues[1]), of(&issues[2]), of(&issues[3])];
        for agent in [&ada, &bob] {
            keep(api, agent, &tasks);
        }
        let newest_first: Vec<_> = tasks.iter().rev().map(ToString::to_string).collect();
        assert_eq!(keys(api, &ada), newest_first);

        let named = [
            "general".to_owned(),
            format!("issue:{}", id(&issues[0])),
            id(&issues[1]).to_owned(),
            issues[2]["identifier"].as_str().unwrap().to_owned(),
        ];
        for (name, left) in named.iter().zip([4, 3, 2, 1]) {
            let body = json!({ "taskKey": name });
            let state = format!("/api/agents/{}/runtime-state", id(&ada));
            assert_eq!(api.post(&reset(&ada), &body).ok(200), api.get(&state).ok(200));
            assert_eq!(keys(api, &ada).len(), left, "{name}");
            assert_eq!(told(api, &company)[0], json!({ "taskKey": name, "sessions": 1 }));
        }
        assert_eq!(keys(api, &ada), [tasks[4].to_string()]);
        for nothing in ["general", "issue:", "ACM-99", "anything else"] {
            api.post(&reset(&ada), &json!({ "taskKey": nothing })).ok(200);
        }
        assert_eq!((keys(api, &ada).len(), told(api, &company).len()), (1, 4));
        api.send("POST", &reset(&ada), &[], b"").ok(200);
        assert_eq!(told(api, &company)[0], json!({ "taskKey": null, "sessions": 1 }));
        assert_eq!((keys(api, &ada).len(), keys(api, &bob).len()), (0, 5));
    }

    fn only_the_board_resets_sessions(api) {
        let ada = api.agent(&api.company("Acme"), "Ada");
        keep(api, &ada, &[TaskKey::General]);
        api.post(&reset(&ada), &json!({ "taskKey": 7 })).problem(400, "invalid_json");
        api.bearing(&api.key(&ada)).post(&reset(&ada), &json!({})).problem(403, "board_required");
        assert_eq!(keys(api, &ada), ["general"]);
    }
}
