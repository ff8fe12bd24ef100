use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Server, folder, is_alive, script, wait_for_pid};

fn hire(server: &Server, company: &str, name: &str, adapter: &Value) -> String {
    let agent = server.post(
        &format!("/api/companies/{company}/agents"),
        &json!({ "name": name, "role": "engineer", "adapterConfig": adapter }),
    );
    agent["id"].as_str().unwrap().to_owned()
}

fn found(server: &Server) -> String {
    server.post("/api/companies", &json!({ "name": "Acme" }))["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn a_run_sees_only_allowed_variables_and_its_token_dies_with_it() {
    let data = folder();
    let server = Server::start_with(
        data.path(),
        &[],
        &[
            ("SERVER_ONLY_SECRET", "hush"),
            ("DATABASE_PASSWORD", "hush"),
        ],
    );
    let company = found(&server);
    let seen = data.path().join("seen");
    let program = script(
        data.path(),
        "agent.sh",
        &format!("env > {0}.part && mv {0}.part {0}\n", seen.display()),
    );
    let adapter = json!({ "command": "/bin/sh", "args": [program], "env": { "MINE": "yes" } });
    let agent = hire(&server, &company, "Ada", &adapter);
    let run = server.post(&format!("/api/agents/{agent}/heartbeat/invoke"), &json!({}));
    let run = format!("/api/heartbeat-runs/{}", run["id"].as_str().unwrap());
    let ended = server.wait_for(&run, |run| {
        run["status"] != "queued" && run["status"] != "running"
    });
    assert_eq!(ended["status"], "succeeded", "{ended}");

    let seen = std::fs::read_to_string(seen).unwrap();
    let value = |name: &str| {
        seen.lines()
            .find_map(|line| line.strip_prefix(&format!("{name}=")))
            .map(str::to_owned)
    };
    assert_eq!(value("SERVER_ONLY_SECRET"), None);
    assert_eq!(value("DATABASE_PASSWORD"), None);
    assert_eq!(value("MINE").as_deref(), Some("yes"));
    assert_eq!(value("WORKFORCE_AGENT_ID").as_deref(), Some(agent.as_str()));
    assert_eq!(value("WORKFORCE_WAKE_REASON").as_deref(), Some("manual"));
    assert_eq!(value("WORKFORCE_API_URL"), Some(server.base.clone()));
    let token = value("WORKFORCE_API_KEY").unwrap();
    assert!(token.starts_with("wfr_"));
    let (status, answer) = server.send("GET", "/api/agents/me", Some(&token), &Value::Null);
    assert_eq!(
        (status, &answer["code"]),
        (401, &json!("credential_invalid"))
    );
}

#[test]
fn a_run_works_through_the_interface_with_its_token() {
    let data = folder();
    let server = Server::start(data.path());
    let company = found(&server);
    let cli = env!("CARGO_BIN_EXE_workforce");
    let program = script(
        data.path(),
        "agent.sh",
        "set -eu\n\
         issue=/api/issues/$WORKFORCE_TASK_ID\n\
         $CLI api POST $issue/checkout \"{\\\"agentId\\\": \\\"$WORKFORCE_AGENT_ID\\\"}\"\n\
         $CLI api PATCH $issue '{\"status\": \"done\", \"comment\": \"Finished.\"}'\n",
    );
    let adapter = json!({ "command": "/bin/sh", "args": [program], "env": { "CLI": cli } });
    let agent = hire(&server, &company, "Ada", &adapter);
    let issue = server.post(
        &format!("/api/companies/{company}/issues"),
        &json!({ "title": "Say hello", "status": "todo", "assigneeAgentId": agent }),
    );
    let issue = format!("/api/issues/{}", issue["id"].as_str().unwrap());
    let done = server.wait_for(&issue, |issue| issue["status"] == "done");
    assert!(
        done["started_at"].is_string() && done["completedAt"].is_string(),
        "{done}"
    );
    let comments = server.get(&format!("{issue}/comments"));
    assert_eq!(comments[0]["body"], "Finished.");
    assert_eq!(comments[0]["authorAgentId"], json!(agent));
    assert!(comments[0]["createdByRunId"].is_string());
}

#[test]
fn a_grandchild_that_ignores_term_is_gone_when_the_run_is_over() {
    let data = folder();
    let server = Server::start(data.path());
    let company = found(&server);
    let pid_file = data.path().join("grandchild");
    let program = script(
        data.path(),
        "agent.sh",
        &format!(
            "setsid sh -c 'trap \"\" TERM; echo $$ > {0}; while :; do sleep 1; done' &\n\
             while [ ! -s {0} ]; do sleep 0.05; done\n",
            pid_file.display()
        ),
    );
    let adapter = json!({ "command": "/bin/sh", "args": [program], "graceSec": 0.2 });
    let agent = hire(&server, &company, "Ada", &adapter);
    let run = server.post(&format!("/api/agents/{agent}/heartbeat/invoke"), &json!({}));
    let run = format!("/api/heartbeat-runs/{}", run["id"].as_str().unwrap());
    server.wait_for(&run, |run| run["status"] == "succeeded");
    assert!(!is_alive(wait_for_pid(&pid_file)));
}

/// A script of an agent that was written for Paperclip.
const FOR_PAPERCLIP: &str = r#"
set -eu
auth="Authorization: Bearer $PAPERCLIP_API_KEY"
run="X-Paperclip-Run-Id: $PAPERCLIP_RUN_ID"
json="Content-Type: application/json"
curl -fsS -H "$auth" "$PAPERCLIP_API_URL/api/agents/me" | grep -q "$PAPERCLIP_AGENT_ID"
curl -fsS -H "$auth" "$PAPERCLIP_API_URL/api/companies/$PAPERCLIP_COMPANY_ID/issues?assigneeAgentId=$PAPERCLIP_AGENT_ID&status=todo,in_progress,blocked" | grep -q "$PAPERCLIP_TASK_ID"
curl -fsS -X POST -H "$auth" -H "$run" -H "$json" "$PAPERCLIP_API_URL/api/issues/$PAPERCLIP_TASK_ID/checkout" \
  -d "{\"agentId\": \"$PAPERCLIP_AGENT_ID\", \"expectedStatuses\": [\"todo\", \"backlog\", \"blocked\"]}"
curl -fsS -X POST -H "$auth" -H "$run" -H "$json" "$PAPERCLIP_API_URL/api/issues/$PAPERCLIP_TASK_ID/comments" \
  -d '{"body": "Half done."}'
curl -fsS -X PATCH -H "$auth" -H "$run" -H "$json" "$PAPERCLIP_API_URL/api/issues/$PAPERCLIP_TASK_ID" \
  -d "{\"status\": \"done\", \"comment\": \"Woken by $PAPERCLIP_WAKE_REASON.\"}"
"#;

#[test]
fn a_script_that_was_written_for_paperclip_works_unchanged() {
    let data = folder();
    let server = Server::start(data.path());
    let company = found(&server);
    let program = script(data.path(), "paperclip.sh", FOR_PAPERCLIP);
    let agent = server.post(
        &format!("/api/companies/{company}/agents"),
        &json!({
            "name": "Ada", "role": "engineer", "runtimeConfig": { "compat": "paperclip" },
            "adapterConfig": { "command": "/bin/sh", "args": [program] },
        }),
    );
    let issue = server.post(
        &format!("/api/companies/{company}/issues"),
        &json!({ "title": "Work", "status": "todo", "assigneeAgentId": agent["id"] }),
    );
    let issue = format!("/api/issues/{}", issue["id"].as_str().unwrap());
    server.wait_for(&issue, |issue| issue["status"] == "done");
    let comments = server.get(&format!("{issue}/comments"));
    let bodies: Vec<_> = comments
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["body"])
        .collect();
    assert_eq!(bodies, ["Woken by issue_assigned.", "Half done."]);
}

#[test]
fn runs_are_counted_by_how_they_ended() {
    let data = folder();
    let server = Server::start_with(data.path(), &[], &[]);
    let company = found(&server);
    for (name, command) in [("Ada", "exit 0"), ("Ben", "exit 3")] {
        let adapter = json!({ "command": "/bin/sh", "args": ["-c", command] });
        let agent = hire(&server, &company, name, &adapter);
        let run = server.post(&format!("/api/agents/{agent}/heartbeat/invoke"), &json!({}));
        let run = format!("/api/heartbeat-runs/{}", run["id"].as_str().unwrap());
        server.wait_for(&run, |run| run["finishedAt"].is_string());
    }
    let counted = [
        "workforce_runs_started_total 2\n",
        "workforce_runs_finished_total{status=\"succeeded\",error_code=\"\"} 1\n",
        "workforce_runs_finished_total{status=\"failed\",error_code=\"adapter_failed\"} 1\n",
    ];
    // They are counted when the transaction has ended that tells of the end.
    let all = |told: &String| counted.iter().all(|line| told.contains(line));
    let mut told = (0..100).map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        server.metrics()
    });
    assert!(told.any(|told| all(&told)), "{}", server.metrics());
}
