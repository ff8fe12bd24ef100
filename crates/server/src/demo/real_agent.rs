//! What `workforce demo --agent` shows: a real agent program works on an issue
//! in a git repository, and answers a question about it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::{Value, json};
use workforce_agent_programs::{AgentProgram, ProgramDefinition};
use workforce_domain::agent::AdapterType;

use super::narrator::{GLANCE, Narrator, id, print_costs, say};
use crate::client::Client;

/// For how long a program is waited for.
const PATIENCE: Duration = Duration::from_secs(15 * 60);
/// What the demo may spend, in cents.
const BUDGET_CENTS: u32 = 200;
const NAME: &str = "Eli Engineer";

/// An agent program to choose: the word for it, and how it is hired.
#[derive(Clone, Copy, Debug)]
pub(super) struct Agent {
    word: &'static str,
    program: AgentProgram,
    adapter_type: AdapterType,
}

const AGENTS: [Agent; 6] = [
    Agent::new("claude", AgentProgram::Claude, AdapterType::ClaudeLocal),
    Agent::new("codex", AgentProgram::Codex, AdapterType::CodexLocal),
    Agent::new("gemini", AgentProgram::Gemini, AdapterType::GeminiLocal),
    Agent::new(
        "opencode",
        AgentProgram::Opencode,
        AdapterType::OpencodeLocal,
    ),
    Agent::new("pi", AgentProgram::Pi, AdapterType::PiLocal),
    Agent::new("cursor", AgentProgram::Cursor, AdapterType::Cursor),
];

impl Agent {
    const fn new(word: &'static str, program: AgentProgram, adapter_type: AdapterType) -> Self {
        Self {
            word,
            program,
            adapter_type,
        }
    }

    /// Reads the word for one.
    pub(super) fn parser() -> impl TypedValueParser<Value = Self> {
        PossibleValuesParser::new(AGENTS.map(|agent| agent.word)).try_map(|word| {
            let mut agents = AGENTS.into_iter();
            agents
                .find(|agent| agent.word == word)
                .context("no such agent program")
        })
    }

    /// Variables of the user with which the program signs in and finds its
    /// model.
    pub(super) fn variables(self) -> impl Iterator<Item = String> {
        const ADDRESSES: [&str; 3] = [
            "ANTHROPIC_BASE_URL",
            "GOOGLE_GEMINI_BASE_URL",
            "OPENCODE_CONFIG_CONTENT",
        ];
        let keys = self.program.definition().key_variables.iter();
        keys.copied().chain(ADDRESSES).map(str::to_owned)
    }
}

/// Tells the story on the service that `board` calls.
pub(super) fn play(
    board: &Client,
    folder: &Path,
    agent: Agent,
    model: Option<&str>,
) -> anyhow::Result<()> {
    let definition = agent.program.definition();
    let repository = make_repository(folder)?;
    let company = id(&board.call(
        "POST",
        "/api/companies",
        &json!({
            "name": "Morning Greetings", "description": "Greets people by letter.",
            // What a flat plan does not bill counts as well.
            "budgetBasis": "estimated",
        }),
    )?)?;
    let of_company = |what: &str| format!("/api/companies/{company}/{what}");
    let mut config = json!({ "timeoutSec": 600 });
    if let Some(model) = model {
        config["model"] = model.into();
    }
    check(board, &company, agent, &config)?;
    let engineer = id(&board.call(
        "POST",
        &of_company("agents"),
        &json!({
            "name": NAME, "role": "engineer", "budgetMonthlyCents": BUDGET_CENTS,
            "adapterType": agent.adapter_type, "adapterConfig": config,
        }),
    )?)?;
    let project = id(&board.call(
        "POST",
        &of_company("projects"),
        &json!({ "name": "Letters", "workspace": { "name": "letters", "cwd": repository } }),
    )?)?;
    say(&format!(
        "The board hires {NAME}, who is {} with your own login\nand may spend {BUDGET_CENTS} cents. \
         The work is done in {}.",
        definition.name,
        repository.display()
    ))?;
    let mut narrator = Narrator::new(&company, "heartbeat.started", [(&*engineer, NAME)]);
    let issue = id(&board.call(
        "POST",
        &of_company("issues"),
        &json!({
            "title": "Write the greeting", "priority": "high", "status": "todo",
            "projectId": project, "assigneeAgentId": engineer,
            "description": "Write `greeting.md`: a heading and one friendly sentence for a \
                Monday morning. Commit it if the folder is a git repository. Then set this \
                issue to done, with a comment of one sentence.",
        }),
    )?)?;
    say("An issue is assigned to it; from here on the agent acts by itself.\n")?;
    watch(board, &mut narrator, &company, 1).with_context(|| help(definition))?;
    let done = board.get(&format!("/api/issues/{issue}"))?;
    show_greeting(&repository)?;
    say(&format!(
        "{} is {}.",
        done["identifier"].as_str().unwrap_or_default(),
        done["status"].as_str().unwrap_or_default()
    ))?;

    let question = format!("@{NAME}, which word in it do you like best? Answer in a comment.");
    say(&format!("\nThe board asks: {question}\n"))?;
    let comments = format!("/api/issues/{issue}/comments");
    board.call("POST", &comments, &json!({ "body": question }))?;
    let answer = watch(board, &mut narrator, &company, 2)?;
    say(match answer["sessionResumed"].as_bool() {
        Some(true) => "\nIt went on with the same session. Its comments:",
        _ => "\nIts comments:",
    })?;
    let comments = board.get(&comments)?;
    let comments = comments.as_array().into_iter().flatten().rev();
    for comment in comments.filter(|comment| comment["authorAgentId"] == engineer.as_str()) {
        say(&format!(
            "  {}",
            comment["body"].as_str().unwrap_or_default()
        ))?;
    }
    say("")?;
    print_costs(board, &company)
}

/// Says at once what the program needs and is not there.
fn check(board: &Client, company: &str, agent: Agent, config: &Value) -> anyhow::Result<()> {
    let checked = board.call(
        "POST",
        &format!("/api/companies/{company}/adapter-check"),
        &json!({ "adapterType": agent.adapter_type, "adapterConfig": config }),
    )?;
    let checks = checked["checks"].as_array().into_iter().flatten();
    let failed = checks.filter(|check| check["status"] == "failed");
    let faults: Vec<&str> = failed
        .filter_map(|check| check["message"].as_str())
        .collect();
    ensure!(
        faults.is_empty(),
        "{}: {}",
        help(agent.program.definition()),
        faults.join("; ")
    );
    Ok(())
}

/// What to do where the program does not work.
fn help(definition: &ProgramDefinition) -> String {
    let install = match &definition.package {
        Some(package) => format!("npm install -g {}@{}", package.name, package.version),
        None => "see its own page".to_owned(),
    };
    format!(
        "the agent cannot do its work. Is {name} there, and signed in?\n  Install: {install}\n  \
         Sign in: {sign_in}\n  What happened",
        name = definition.name,
        sign_in = definition.sign_in,
    )
}

/// A folder to work in: a git repository where git is installed.
#[expect(
    clippy::disallowed_methods,
    reason = "it is the demo's own tool and no agent"
)]
fn make_repository(folder: &Path) -> anyhow::Result<PathBuf> {
    let repository = folder.join("letters");
    fs::create_dir_all(&repository)?;
    let made = Command::new("git")
        .args(["init", "--quiet"])
        .arg(&repository)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    // Without git it is a folder, and the agent is told so.
    drop(made);
    Ok(repository)
}

/// Tells what happens until so many runs have ended; the latest of them.
fn watch(
    board: &Client,
    narrator: &mut Narrator,
    company: &str,
    count: usize,
) -> anyhow::Result<Value> {
    let path = format!("/api/companies/{company}/heartbeat-runs");
    let begun = Instant::now();
    loop {
        let runs = board.get(&path)?;
        narrator.catch_up(board)?;
        let runs = runs.as_array().context("no list of runs")?;
        let ended = |run: &&Value| run["finishedAt"].is_string();
        if let Some(failed) = runs.iter().find(|run| run["status"] == "failed") {
            bail!(
                "the run failed: {} ({})",
                failed["error"].as_str().unwrap_or_default(),
                failed["errorCode"].as_str().unwrap_or_default()
            );
        }
        if let Some(stopped) = runs
            .iter()
            .find(|run| run["errorCode"] == "budget_exhausted")
        {
            bail!(
                "the agent was stopped at its budget of {BUDGET_CENTS} cents ({})",
                stopped["status"].as_str().unwrap_or_default()
            );
        }
        if runs.iter().filter(ended).count() >= count && runs.iter().all(|run| ended(&run)) {
            narrator.catch_up(board)?;
            return runs.first().cloned().context("no run");
        }
        ensure!(begun.elapsed() < PATIENCE, "the agent did not finish");
        std::thread::sleep(GLANCE);
    }
}

fn show_greeting(repository: &Path) -> anyhow::Result<()> {
    let Ok(greeting) = fs::read_to_string(repository.join("greeting.md")) else {
        return say("\nIt wrote no greeting.md.");
    };
    say("\ngreeting.md:")?;
    greeting
        .lines()
        .try_for_each(|line| say(&format!("  {line}")))?;
    say("")
}
