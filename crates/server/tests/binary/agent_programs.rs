//! Real agent programs at work for the real server; their model is an imitation.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tempfile::TempDir;
use workforce_model_imitation::{
    LoggedRequest, ModelImitation, Program, Reply, Rule, Script, Usage, installed_for_test,
};

use crate::harness::{Server, folder};
use crate::office::{Database, on_both};

/// A run of a program that starts slowly on a busy computer.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// A company with a git repository, and an agent that is a real program.
pub(crate) struct Workshop {
    pub(crate) server: Server,
    pub(crate) imitation: ModelImitation,
    places: TempDir,
    pub(crate) company: String,
    pub(crate) agent: String,
    project: String,
    _data: TempDir,
}

impl Workshop {
    /// `None` where the program is not installed.
    pub(crate) fn open(program: Program, flags: &[&str]) -> Option<Self> {
        let executable = installed_for_test(program)?;
        let (data, places) = (folder(), folder());
        let server = Server::start_with(
            data.path(),
            flags,
            &[("WORKFORCE_CONTAINMENT", "best-effort")],
        );
        let imitation = ModelImitation::start(Script::new()).unwrap();
        let home = places.path().join("home");
        std::fs::create_dir(&home).unwrap();
        imitation.write_settings_for(program, &home).unwrap();
        let repository = repository(places.path());
        let id = |record: &Value| record["id"].as_str().unwrap().to_owned();
        let company = id(&server.post("/api/companies", &json!({ "name": "Acme" })));
        let of_company = |what: &str| format!("/api/companies/{company}/{what}");
        let agent = id(&server.post(
            &of_company("agents"),
            &json!({
                "name": "Ada", "role": "engineer", "adapterType": adapter_type(program),
                "adapterConfig": config(program, &imitation, &executable, &home),
            }),
        ));
        let project = id(&server.post(
            &of_company("projects"),
            &json!({ "name": "House", "workspace": { "name": "main", "cwd": repository } }),
        ));
        Some(Self {
            server,
            imitation,
            places,
            company,
            agent,
            project,
            _data: data,
        })
    }

    /// Makes the program run commands and then say something, whatever it is asked.
    pub(crate) fn play(&self, commands: &[&str], last: &str) {
        let rule = commands.iter().fold(Rule::new(), |rule, command| {
            rule.then(Reply::shell(*command).usage(OF_A_STEP))
        });
        let rule = rule.then(Reply::text(last).usage(OF_A_STEP));
        self.imitation.set_script(Script::from(rule));
    }

    pub(crate) fn assign(&self) -> String {
        let issue = self.server.post(
            &format!("/api/companies/{}/issues", self.company),
            &json!({
                "title": "Paint the door", "description": "Blue, please.", "status": "todo",
                "assigneeAgentId": self.agent, "projectId": self.project,
            }),
        );
        issue["id"].as_str().unwrap().to_owned()
    }

    /// The runs of the agent, oldest first, once `count` have ended.
    pub(crate) fn ended(&self, count: usize) -> Vec<Value> {
        let path = format!("/api/companies/{}/heartbeat-runs", self.company);
        let begun = Instant::now();
        loop {
            let runs = self.server.get(&path);
            let mut runs = runs.as_array().unwrap().clone();
            runs.reverse();
            let is_live = |run: &Value| run["status"] == "queued" || run["status"] == "running";
            if runs.len() >= count && !runs.iter().any(is_live) {
                return runs;
            }
            assert!(begun.elapsed() < LONG, "{runs:#?}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    pub(crate) fn log(&self, run: &Value) -> String {
        let path = format!("/api/heartbeat-runs/{}/log", run["id"].as_str().unwrap());
        let log = self.server.get(&path);
        log["content"].as_str().unwrap_or_default().to_owned()
    }

    /// What the model was asked in its latest call.
    fn latest_call(&self) -> LoggedRequest {
        let mut calls = self.imitation.requests();
        calls.retain(|request| request.call.is_some());
        calls.pop().unwrap()
    }
}

const OF_A_STEP: Usage = Usage {
    input: 1000,
    cached: 500,
    cache_write: 0,
    output: 40,
    reasoning: 0,
};

/// A git repository with one commit.
fn repository(places: &Path) -> PathBuf {
    let repository = places.join("house");
    std::fs::create_dir(&repository).unwrap();
    git(&repository, &["init", "-q", "-b", "main"]);
    git(&repository, &["config", "user.name", "Ada"]);
    git(&repository, &["config", "user.email", "ada@acme.example"]);
    std::fs::write(repository.join("door.txt"), "grey\n").unwrap();
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "-q", "-m", "A door"]);
    repository
}

fn git(repository: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .arg("-C")
        .arg(repository)
        .args(arguments)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "git {arguments:?}: {printed}");
    String::from_utf8(done.stdout).unwrap()
}

const fn adapter_type(program: Program) -> &'static str {
    match program {
        Program::Claude => "claude_local",
        Program::Codex => "codex_local",
        Program::Gemini => "gemini_local",
        Program::Opencode => "opencode_local",
        Program::Pi => "pi_local",
    }
}

fn config(program: Program, imitation: &ModelImitation, executable: &Path, home: &Path) -> Value {
    let variables = imitation.environment_for(program).into_iter();
    let mut env: Map<String, Value> = variables
        .map(|(name, value)| (name, value.into()))
        .collect();
    env.insert("HOME".into(), json!(home));
    env.insert("IS_SANDBOX".into(), "1".into());
    let path = std::env::var("PATH").unwrap();
    let own = executable.parent().unwrap().display();
    env.insert("PATH".into(), format!("{own}:{path}").into());
    let model = match program {
        Program::Claude => Some("claude-sonnet-4-5"),
        Program::Codex => Some("gpt-5"),
        Program::Gemini => Some("gemini-2.5-pro"),
        Program::Opencode | Program::Pi => None,
    };
    json!({
        "command": executable, "model": model, "env": env, "timeoutSec": 110,
        "extraArgs": imitation.arguments_for(program),
    })
}

pub(crate) const WORK: [&str; 4] = [
    r#"workforce api POST "/api/issues/$WORKFORCE_TASK_ID/checkout" '{}' >/dev/null && echo mine"#,
    "echo blue > door.txt && git commit -qam 'Paint the door' && git log --oneline | head -1",
    r#"workforce api POST "/api/issues/$WORKFORCE_TASK_ID/comments" '{"body": "It is drying."}' >/dev/null && echo told"#,
    r#"workforce api PATCH "/api/issues/$WORKFORCE_TASK_ID" '{"status": "done", "comment": "The door is blue."}' >/dev/null && echo done"#,
];

/// From an assignment to a finished issue, and once more for a mention.
fn works(program: Program, flags: &[&str]) {
    let Some(shop) = Workshop::open(program, flags) else {
        return;
    };
    shop.play(&WORK, "The door is blue now.");
    let issue = shop.assign();
    let runs = shop.ended(1);
    let log = shop.log(&runs[0]);
    assert_eq!(runs[0]["status"], "succeeded", "{:#}\n{log}", runs[0]);
    assert_eq!(runs[0]["reason"], "issue_assigned");
    let done = shop.server.get(&format!("/api/issues/{issue}"));
    assert_eq!(done["status"], "done", "{log}");
    let bodies = || {
        let comments = shop.server.get(&format!("/api/issues/{issue}/comments"));
        let comments = comments.as_array().unwrap().clone();
        let bodies = comments
            .iter()
            .map(|it| it["body"].as_str().unwrap().to_owned());
        bodies.collect::<Vec<_>>()
    };
    for body in ["It is drying.", "The door is blue."] {
        assert!(
            bodies().iter().any(|it| it == body),
            "{body}: {:?}",
            bodies()
        );
    }
    let repository = shop.places.path().join("house");
    assert_eq!(
        git(&repository, &["log", "-1", "--format=%s"]).trim(),
        "Paint the door"
    );
    assert_eq!(git(&repository, &["status", "--short"]), "");
    assert_booked(&shop, program, &runs[0], WORK.len() + 1);

    shop.play(
        &[r#"workforce api POST "/api/issues/$WORKFORCE_TASK_ID/comments" '{"body": "Two coats."}' >/dev/null && echo told"#],
        "I answered.",
    );
    shop.server.post(
        &format!("/api/issues/{issue}/comments"),
        &json!({ "body": "@Ada, how many coats?" }),
    );
    let runs = shop.ended(2);
    assert_eq!(runs.len(), 2, "{runs:#?}");
    let log = shop.log(&runs[1]);
    assert_eq!(runs[1]["status"], "succeeded", "{:#}\n{log}", runs[1]);
    assert_eq!(runs[1]["reason"], "issue_comment_mentioned");
    assert!(bodies().iter().any(|it| it == "Two coats."), "{log}");
    // In the same conversation: the model sees what it was asked first.
    assert_eq!(runs[1]["sessionId"], runs[0]["sessionId"]);
    assert_eq!(runs[1]["sessionResumed"], true);
    let call = shop.latest_call().call.unwrap();
    assert!(
        call.prompts[0].contains("Blue, please."),
        "{:?}",
        call.prompts
    );
    assert!(
        call.prompts
            .iter()
            .any(|prompt| prompt.contains("how many coats?"))
    );
    assert_booked(&shop, program, &runs[1], 2);
}

/// Each call of the model is booked once, with the run and its issue.
#[track_caller]
pub(crate) fn assert_booked(shop: &Workshop, program: Program, run: &Value, calls: usize) {
    let path = format!("/api/companies/{}/cost-events", shop.company);
    let of_it = |event: &&Value| event["runId"] == run["id"];
    let events = shop.server.get(&path).as_array().unwrap().clone();
    let of_run = events.iter().filter(of_it);
    let sum = |key: &str| {
        let tokens = of_run.clone().map(|event| event[key].as_u64().unwrap());
        tokens.sum::<u64>()
    };
    let calls = u64::try_from(calls).unwrap();
    let told = ["inputTokens", "cachedInputTokens", "outputTokens"].map(sum);
    assert_eq!(told, [1000 * calls, 500 * calls, 40 * calls], "{events:#?}");
    // What the program tells, or else the list of prices.
    let of_a_call = match program {
        Program::Claude => Some(375_000),
        Program::Codex | Program::Gemini => Some(171_250),
        Program::Opencode | Program::Pi => None,
    };
    let cost: i64 = of_run
        .clone()
        .map(|event| micros(&event["costCents"]))
        .sum();
    if let Some(of_a_call) = of_a_call {
        let all = of_a_call * i64::try_from(calls).unwrap();
        assert_eq!(cost, all, "{events:#?}");
    }
    for event in of_run {
        assert_eq!(
            (&event["source"], &event["issueId"]),
            (&json!("metered"), &run["issueId"])
        );
    }
}

/// An amount of cents in millionths.
pub(crate) fn micros(cents: &Value) -> i64 {
    let text = cents.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    format!("{whole}{fraction:0<6}").parse().unwrap()
}

on_both! {
    fn claude_code_works_in_a_repository_and_answers_a_mention(database) {
        works(Program::Claude, &database.flags());
    }

    fn codex_works_in_a_repository_and_answers_a_mention(database) {
        works(Program::Codex, &database.flags());
    }
}

#[test]
fn gemini_cli_works_in_a_repository_and_answers_a_mention() {
    works(Program::Gemini, &Database::Sqlite.flags());
}

#[test]
fn opencode_works_in_a_repository_and_answers_a_mention() {
    works(Program::Opencode, &Database::Sqlite.flags());
}

#[test]
fn pi_works_in_a_repository_and_answers_a_mention() {
    works(Program::Pi, &Database::Sqlite.flags());
}
