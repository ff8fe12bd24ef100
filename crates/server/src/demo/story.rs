//! What happens in the demo, and how it is shown.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::client::Client;

const MANAGER: &str = include_str!("manager.sh");
const ENGINEER: &str = include_str!("engineer.sh");

/// The story ends well long before.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often the activity is looked at.
const GLANCE: Duration = Duration::from_millis(150);

fn say(line: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{line}").context("failed to print")
}

fn id(value: &Value) -> anyhow::Result<String> {
    Ok(value["id"]
        .as_str()
        .context("an answer without id")?
        .to_owned())
}

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

    let mut narrator = Narrator::new(&cast);
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
    wait_for_quiet(board, &cast.company, &mut narrator)?;
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
        let script = scripted("manager.sh", MANAGER, json!({ "ENGINEER_ID": engineer }))?;
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

/// Prints each activity once, as it happens.
struct Narrator {
    path: String,
    names: HashMap<String, &'static str>,
    seen: HashMap<String, String>,
    begun: bool,
}

impl Narrator {
    fn new(cast: &Cast) -> Self {
        Self {
            path: format!("/api/companies/{}/activity?limit=100", cast.company),
            names: HashMap::from([
                (cast.manager.clone(), "Mara Manager"),
                (cast.engineer.clone(), "Eli Engineer"),
                (cast.rival.clone(), "Rita Rival"),
            ]),
            seen: HashMap::new(),
            begun: false,
        }
    }

    fn saw(&self, action: &str) -> bool {
        self.seen.values().any(|seen| seen == action)
    }

    fn catch_up(&mut self, board: &Client) -> anyhow::Result<()> {
        let rows = board.get(&self.path)?;
        for row in rows.as_array().into_iter().flatten().rev() {
            let (id, action) = (
                id(row)?,
                row["action"].as_str().unwrap_or_default().to_owned(),
            );
            if self.seen.contains_key(&id) {
                continue;
            }
            // What the board set up is told already.
            self.begun |= action == "heartbeat.invoked";
            if self.begun
                && let Some(line) = self.line(&action, row)
            {
                say(&line)?;
            }
            self.seen.insert(id, action);
        }
        Ok(())
    }

    fn line(&self, action: &str, row: &Value) -> Option<String> {
        let details = &row["details"];
        let by_id = |id: &Value| id.as_str().and_then(|id| self.names.get(id)).copied();
        let actor = by_id(&row["actorId"]).unwrap_or("workforce");
        let text = |key: &str| details[key].as_str().unwrap_or_default().to_owned();
        let told = match action {
            "heartbeat.started" => {
                format!(
                    "starts {} ({})",
                    by_id(&details["agentId"])?,
                    text("reason")
                )
            }
            "heartbeat.finished" => {
                format!(
                    "sees the run of {} end: {}",
                    by_id(&details["agentId"])?,
                    text("status")
                )
            }
            "issue.checked_out" => "checks the issue out".to_owned(),
            "issue.updated" => match details["to"].as_str() {
                Some(to) => format!("moves the issue from {} to {to}", text("from")),
                None => "changes the issue".to_owned(),
            },
            "issue.comment_added" => "comments".to_owned(),
            "cost.reported" => format!("reports a cost of {} cents", text("costCents")),
            "budget.soft_alert" => format!(
                "alerts: {} has used {} % of its budget",
                by_id(&row["entityId"])?,
                text("utilizationPercent")
            ),
            _ => return None,
        };
        Some(format!("  {actor:<14} {told}"))
    }
}

/// Waits until the last run has ended, so that its cost is in.
fn wait_for_quiet(board: &Client, company: &str, narrator: &mut Narrator) -> anyhow::Result<()> {
    let begun = Instant::now();
    let path = format!("/api/companies/{company}/heartbeat-runs?status=queued,running");
    while begun.elapsed() < PATIENCE {
        let live = board.get(&path)?;
        narrator.catch_up(board)?;
        if live.as_array().is_some_and(Vec::is_empty) {
            return Ok(());
        }
        std::thread::sleep(GLANCE);
    }
    anyhow::bail!("a run did not end")
}

fn print_end(board: &Client, cast: &Cast, issue: &str) -> anyhow::Result<()> {
    let issue = board.get(&format!("/api/issues/{issue}"))?;
    say(&format!(
        "\n{} is {}.",
        issue["identifier"].as_str().unwrap_or_default(),
        "done"
    ))?;
    let costs = format!("/api/companies/{}/costs", cast.company);
    let summary = board.get(&format!("{costs}/summary"))?;
    say(&format!(
        "It cost {} cents this month:",
        summary["spendCents"]
    ))?;
    for row in board
        .get(&format!("{costs}/by-agent"))?
        .as_array()
        .into_iter()
        .flatten()
    {
        if row["costCents"] != 0 {
            let name = row["agentName"].as_str().unwrap_or_default();
            let share = &row["utilizationPercent"];
            let budget = &row["budgetCents"];
            let limit = if *budget == 0 {
                "no limit".to_owned()
            } else {
                format!("{share} % of {budget}")
            };
            say(&format!(
                "  {name:<14} {:>5} cents ({limit})",
                row["costCents"].to_string()
            ))?;
        }
    }
    Ok(())
}
