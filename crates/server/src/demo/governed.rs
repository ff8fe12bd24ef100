//! A ticket from its plan to its pull request: `workforce demo --governed`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::narrator::{GLANCE, Narrator, id, say};
use crate::client::Client;

const LEAD: &str = include_str!("lead.sh");
const WRITER: &str = include_str!("writer.sh");

/// The story ends well long before.
const PATIENCE: Duration = Duration::from_secs(120);

/// Tells the story on the service that `board` calls: in a repository that is made for
/// it, with a bare one in the place of a forge, or in the one at `repository`.
pub(super) fn play(board: &Client, folder: &Path, repository: Option<&str>) -> anyhow::Result<()> {
    let place = Place::make(folder, repository)?;
    let cast = Cast::hire(board, folder, &place)?;
    let issue = cast.file_the_issue(board)?;
    let mut narrator = Narrator::new(
        &cast.company,
        "issue.created",
        [(&*cast.lead, "Lea Lead"), (&*cast.writer, "Wim Writer")],
    );
    let begun = Instant::now();
    loop {
        narrator.catch_up(board)?;
        cast.decide(board)?;
        let now = board.get(&format!("/api/issues/{issue}"))?;
        if now["status"] == "done" {
            break;
        }
        ensure!(
            begun.elapsed() < PATIENCE,
            "the ticket did not end; it is {}",
            now["status"]
        );
        std::thread::sleep(GLANCE);
    }
    narrator.wait_for_quiet(board, PATIENCE)?;
    print_end(board, &cast, &place)
}

/// Where the work is done.
struct Place {
    /// What the project's workspace says.
    workspace: Value,
    /// The repository that is pushed to, where it is on this machine.
    remote: Option<PathBuf>,
}

impl Place {
    fn make(folder: &Path, repository: Option<&str>) -> anyhow::Result<Self> {
        if let Some(url) = repository {
            say(&format!("The project works in {url}."))?;
            return Ok(Self {
                workspace: json!({ "repoUrl": url }),
                remote: None,
            });
        }
        let (source, remote) = (folder.join("letters"), folder.join("letters.git"));
        git(folder, &["init", "--quiet", "--bare", "letters.git"])?;
        git(
            folder,
            &["init", "--quiet", "--initial-branch=main", "letters"],
        )?;
        std::fs::write(source.join("README.md"), "# Letters\n")?;
        git(&source, &["add", "README.md"])?;
        git(&source, &["commit", "--quiet", "--message=Begin"])?;
        let address = format!("file://{}", remote.display());
        git(&source, &["remote", "add", "origin", &address])?;
        git(&source, &["push", "--quiet", "origin", "main"])?;
        say("The board has a repository, letters, with a bare one in the place of a forge.")?;
        Ok(Self {
            workspace: json!({ "cwd": source, "defaultBaseBranch": "main" }),
            remote: Some(remote),
        })
    }
}

/// Runs git as the person whose repository it is.
#[expect(
    clippy::disallowed_methods,
    reason = "it is no agent that is started here, but what a person would start"
)]
fn git(folder: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let person = ["-c", "user.name=Board", "-c", "user.email=board@localhost"];
    let output = Command::new("git")
        .current_dir(folder)
        .args(person)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .context("the demo needs the program `git`")?;
    ensure!(
        output.status.success(),
        "git {}: {}",
        arguments.first().unwrap_or(&""),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Who takes part.
struct Cast {
    company: String,
    project: String,
    lead: String,
    writer: String,
}

impl Cast {
    fn hire(board: &Client, folder: &Path, place: &Place) -> anyhow::Result<Self> {
        let program = std::env::current_exe()?;
        let founded = json!({ "name": "Morning Greetings" });
        let company = id(&board.call("POST", "/api/companies", &founded)?)?;
        let path = |what: &str| format!("/api/companies/{company}/{what}");
        let project = json!({ "name": "Letters", "workspace": place.workspace });
        let project = id(&board.call("POST", &path("projects"), &project)?)?;
        let scripted = |name: &str, script: &str, mut env: Value| -> anyhow::Result<Value> {
            let file = folder.join(name);
            std::fs::write(&file, script)?;
            env["CLI"] = json!(program);
            Ok(json!({ "command": "/bin/sh", "args": [file], "env": env, "timeoutSec": 30 }))
        };
        let hire = |body: Value| id(&board.call("POST", &path("agents"), &body)?);
        let lead = hire(json!({ "name": "Lea Lead", "role": "manager" }))?;
        let writer = hire(json!({
            "name": "Wim Writer", "role": "engineer", "reportsTo": lead,
            "adapterType": "process", "adapterConfig": scripted("writer.sh", WRITER, json!({}))?,
        }))?;
        let env = json!({ "ENGINEER_ID": writer, "PROJECT_ID": project });
        let script = json!({ "adapterConfig": scripted("lead.sh", LEAD, env)? });
        board.call("PATCH", &format!("/api/agents/{lead}"), &script)?;
        say("It founds Morning Greetings and hires Lea Lead and Wim Writer.\n")?;
        Ok(Self {
            company,
            project,
            lead,
            writer,
        })
    }

    fn file_the_issue(&self, board: &Client) -> anyhow::Result<String> {
        let issue = json!({
            "title": "Greet everybody", "status": "todo", "projectId": self.project,
            "assigneeAgentId": self.lead, "description": "ticket: MORNING-1",
        });
        let path = format!("/api/companies/{}/issues", self.company);
        id(&board.call("POST", &path, &issue)?)
    }

    /// The board agrees to whatever waits for it.
    fn decide(&self, board: &Client) -> anyhow::Result<()> {
        let path = format!("/api/companies/{}/approvals", self.company);
        let waiting = board.get(&format!("{path}?status=pending"))?;
        for approval in waiting.as_array().into_iter().flatten() {
            let (id, kind) = (id(approval)?, approval["type"].as_str().unwrap_or_default());
            say(&format!("  The board      reads {kind} and approves it"))?;
            let approved =
                board.call("POST", &format!("/api/approvals/{id}/approve"), &json!({}))?;
            let steps = approved["execution"]["steps"].as_array();
            for step in steps.into_iter().flatten() {
                let name = step["step"].as_str().unwrap_or_default();
                say(&format!("  workforce      {}", told(name, &step["result"])))?;
            }
        }
        Ok(())
    }
}

/// What was done in a step.
fn told(step: &str, result: &Value) -> String {
    let text = |key: &str| result[key].as_str().unwrap_or_default().to_owned();
    let short = |key: &str| text(key).chars().take(10).collect::<String>();
    match step {
        "source" => "looks at the repository: it is clean".to_owned(),
        "base" => format!("finds {} at {}", text("branch"), short("commit")),
        "worktree" => format!("makes a worktree on {}", text("branch")),
        "commit" => format!("commits: {}", short("commit")),
        "sync" => format!("merges {}: {}", text("baseBranch"), short("commit")),
        "push" => format!("pushes {}", text("branch")),
        _ => match result["url"].as_str() {
            Some(url) => format!("opens the pull request {url}"),
            None => format!("opens no pull request: {}", text("reason")),
        },
    }
}

fn print_end(board: &Client, cast: &Cast, place: &Place) -> anyhow::Result<()> {
    say("\nThe ticket is done.")?;
    if let Some(remote) = &place.remote {
        let log = ["log", "--format=  %h %an: %s", "feature/MORNING-1"];
        say("What the remote has on feature/MORNING-1:")?;
        say(git(remote, &log)?.trim_end())?;
        let file = git(remote, &["show", "feature/MORNING-1:greeting.md"])?;
        say(&format!("\n{}", file.trim_end()))?;
        return Ok(());
    }
    let path = format!("/api/companies/{}/approvals?status=approved", cast.company);
    let approvals = board.get(&path)?;
    let url = approvals
        .as_array()
        .into_iter()
        .flatten()
        .find_map(|approval| approval["payload"]["pullRequestUrl"].as_str());
    say(url.unwrap_or("No pull request was opened: name a forge and its token."))
}
