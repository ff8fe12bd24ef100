//! What happens in the demo, and how it is shown.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use workforce_board::demo::{ENGINEER, MANAGER};

use super::narrator::{GLANCE, Narrator, id, print_costs, say};
use crate::client::Client;

/// The story ends well long before.
const PATIENCE: Duration = Duration::from_secs(30);
/// Tells the story on the service that `board` calls.
pub(super) fn play(board: &Client, folder: &Path) -> anyhow::Result<()> {
    let cast = Cast::hire(board, folder)?;
    let issue = cast.file_the_issue(board)?;
    say("\nThe manager's heartbeat is invoked; from here on the agents act by themselves.\n")?;
    board.call(
        "POST",
        &format!("/api/agents/{}/heartbeat/invoke", cast.manager),
        &Value::Null,
    )?;

    let mut narrator = Narrator::new(
        &cast.company,
        "heartbeat.invoked",
        [
            (&*cast.manager, "Mara Manager"),
            (&*cast.engineer, "Eli Engineer"),
            (&*cast.rival, "Rita Rival"),
        ],
    );
    let begun = Instant::now();
    let mut conflict_shown = false;
    loop {
        let status = board.get(&format!("/api/issues/{issue}"))?["status"].clone();
        narrator.catch_up(board)?;
        if status == "in_progress" && !conflict_shown {
            cast.run_into_a_conflict(board, &issue)?;
            conflict_shown = true;
        }
        if status == "done" {
            break;
        }
        ensure!(
            begun.elapsed() < PATIENCE,
            "the agents did not finish; the issue is {status}"
        );
        std::thread::sleep(GLANCE);
    }
    narrator.wait_for_quiet(board, PATIENCE)?;
    ensure!(conflict_shown, "nobody ran into a checkout conflict");
    ensure!(
        narrator.saw("budget.soft_alert"),
        "no budget alert was raised"
    );
    print_end(board, &cast, &issue)
}

/// Who takes part.
struct Cast {
    company: String,
    manager: String,
    engineer: String,
    rival: String,
}

impl Cast {
    fn hire(board: &Client, folder: &Path) -> anyhow::Result<Self> {
        let program = std::env::current_exe()?;
        let company = id(&board.call(
            "POST",
            "/api/companies",
            &json!({ "name": "Morning Greetings", "description": "Greets people by letter." }),
        )?)?;
        let hire = |body: Value| -> anyhow::Result<String> {
            id(&board.call("POST", &format!("/api/companies/{company}/agents"), &body)?)
        };
        let scripted = |name: &str, script: &str, env: Value| -> anyhow::Result<Value> {
            let path = folder.join(name);
            std::fs::write(&path, script)?;
            let mut env = env;
            env["CLI"] = json!(program);
            Ok(json!({ "command": "/bin/sh", "args": [path], "env": env, "timeoutSec": 30 }))
        };
        let manager = hire(json!({
            "name": "Mara Manager", "role": "manager", "title": "Head of Letters",
        }))?;
        let engineer = hire(json!({
            "name": "Eli Engineer", "role": "engineer", "reportsTo": manager,
            "budgetMonthlyCents": 10, "adapterType": "process",
            "adapterConfig": scripted("engineer.sh", ENGINEER, json!({}))?,
        }))?;
        let script = scripted("manager.sh", MANAGER, json!({}))?;
        let adapter = json!({ "adapterConfig": script });
        board.call("PATCH", &format!("/api/agents/{manager}"), &adapter)?;
        let rival =
            hire(json!({ "name": "Rita Rival", "role": "engineer", "reportsTo": manager }))?;
        say("The board founds the company Morning Greetings and hires")?;
        say("  Mara Manager, who hands out work and reviews it,")?;
        say("  Eli Engineer, who may spend 10 cents a month,")?;
        say("  Rita Rival, another engineer.")?;
        Ok(Self {
            company,
            manager,
            engineer,
            rival,
        })
    }

    fn file_the_issue(&self, board: &Client) -> anyhow::Result<String> {
        let path = |what: &str| format!("/api/companies/{}/{what}", self.company);
        let goal = id(&board.call(
            "POST",
            &path("goals"),
            &json!({ "title": "Everybody is greeted", "level": "company", "status": "active" }),
        )?)?;
        let project = id(&board.call(
            "POST",
            &path("projects"),
            &json!({ "name": "Letters", "goalIds": [goal], "status": "in_progress" }),
        )?)?;
        let issue = board.call(
            "POST",
            &path("issues"),
            &json!({
                "title": "Write the greeting", "priority": "high",
                "projectId": project, "goalId": goal,
            }),
        )?;
        let identifier = issue["identifier"].as_str().unwrap_or_default();
        say(&format!(
            "The board files {identifier}, Write the greeting, into the backlog."
        ))?;
        id(&issue)
    }

    /// Another agent reaches for the issue that the engineer works on.
    fn run_into_a_conflict(&self, board: &Client, issue: &str) -> anyhow::Result<()> {
        let key = board.call(
            "POST",
            &format!("/api/agents/{}/keys", self.rival),
            &json!({}),
        )?;
        let key = key["key"].as_str().context("a key without value")?;
        let answer = board.with_token(key).send(
            "POST",
            &format!("/api/issues/{issue}/checkout"),
            &json!({ "agentId": self.rival }).to_string(),
        )?;
        let problem: Value = serde_json::from_str(&answer.body)?;
        ensure!(
            answer.status == 409,
            "a second checkout answered {}",
            answer.status
        );
        let reason = problem["details"]["reason"].as_str().unwrap_or_default();
        say(&format!(
            "  Rita Rival     tries to check out the same issue: {} {}, because of {reason}",
            answer.status,
            problem["code"].as_str().unwrap_or_default(),
        ))
    }
}

fn print_end(board: &Client, cast: &Cast, issue: &str) -> anyhow::Result<()> {
    let issue = board.get(&format!("/api/issues/{issue}"))?;
    let identifier = issue["identifier"].as_str().unwrap_or_default();
    say(&format!("\n{identifier} is done."))?;
    print_costs(board, &cast.company)
}
