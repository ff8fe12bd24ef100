//! Real agent programs, whose model is an imitation.

use std::path::Path;

use serde_json::{Map, Value, json};
use workforce_domain::agent::AdapterType;
use workforce_domain::run::{Run, RunErrorCode, RunStatus};
use workforce_model_imitation::{
    ErrorKind, Failure, Kind, LoggedRequest, ModelImitation, Program, Reply, Rule, Script,
    installed_for_test,
};

use crate::support::House;

/// A program that works for a company.
struct Site {
    house: House,
    imitation: ModelImitation,
    program: Program,
    config: Value,
}

impl Site {
    /// `None` where the program is not installed.
    fn new(program: Program) -> Option<Self> {
        let executable = installed_for_test(program)?;
        let house = House::new();
        let imitation = ModelImitation::start(Script::new()).expect("an imitation");
        let home = house.path("home");
        std::fs::create_dir(&home).expect("a home");
        imitation
            .write_settings_for(program, &home)
            .expect("settings");
        let mut env: Map<String, Value> = imitation
            .environment_for(program)
            .into_iter()
            .map(|(name, value)| (name, value.into()))
            .collect();
        env.insert("HOME".into(), json!(home));
        env.insert("IS_SANDBOX".into(), "1".into());
        env.insert("PATH".into(), path_with(&executable).into());
        let config = json!({
            "command": executable,
            "model": model(program),
            "extraArgs": imitation.arguments_for(program),
            "env": env,
            "timeoutSec": 90,
        });
        Some(Self {
            house,
            imitation,
            program,
            config,
        })
    }

    /// Runs an agent about an issue to the end.
    async fn run(&self) -> Run {
        let engine = self.house.start();
        let agent = self.house.hire_with(self.config.clone(), |command| {
            command.adapter_type = Some(match self.program {
                Program::Codex => AdapterType::CodexLocal,
                _ => AdapterType::ClaudeLocal,
            });
        });
        self.house.assign(agent, |issue| {
            issue.description =
                Some(workforce_domain::text::Description::new("Paint it blue.").expect("a text"));
        });
        let runs = self
            .house
            .all_ended_within(std::time::Duration::from_secs(100))
            .await;
        engine.shutdown().await;
        runs.into_iter().next().expect("a run")
    }

    /// What the imitation was asked as the model.
    fn calls(&self) -> Vec<LoggedRequest> {
        let mut requests = self.imitation.requests();
        requests.retain(|request| request.call.is_some());
        requests
    }
}

fn model(program: Program) -> &'static str {
    match program {
        Program::Codex => "gpt-5",
        _ => "claude-sonnet-4-5",
    }
}

fn path_with(executable: &Path) -> String {
    let folder = executable.parent().expect("a folder").display();
    format!("{folder}:{}", std::env::var("PATH").expect("a path"))
}

async fn works(program: Program) {
    let Some(site) = Site::new(program) else {
        return;
    };
    let sink = site.imitation.sink_url("done");
    site.imitation.set_script(Script::from(
        Rule::new()
            .then(Reply::shell(format!(
                "curl -s {sink} -d \"$WORKFORCE_TASK_IDENTIFIER\""
            )))
            .then(Reply::text("It is blue now.")),
    ));
    let run = site.run().await;
    let log = site.house.log(run.id);
    assert_eq!(
        (run.status, run.error.as_deref()),
        (RunStatus::Succeeded, None),
        "{log}"
    );
    assert_eq!(run.result_text.as_deref(), Some("It is blue now."));
    assert!(
        run.session.is_some() && run.prompt_sha256.is_some(),
        "{run:?}"
    );
    let requests = site.imitation.requests();
    let done = requests.iter().find(|request| request.kind == Kind::Sink);
    let done = done.and_then(|done| done.body.clone());
    let done = done.expect("its command ran");
    let calls = site.calls();
    let call = calls
        .last()
        .and_then(|call| call.call.as_ref())
        .expect("a call");
    let prompt = call.prompts.first().expect("a prompt");
    for told in ["Ada", "Acme", "Build it", "Paint it blue.", "workforce.md"] {
        assert!(prompt.contains(told), "{told}: {prompt}");
    }
    assert!(
        log.contains("[prompt: ") && log.contains("Paint it blue."),
        "{log}"
    );
    assert!(prompt.contains(&done) && !done.is_empty(), "{done}");
}

async fn fails(program: Program, kind: ErrorKind) -> Option<Run> {
    let mut site = Site::new(program)?;
    site.config["env"]["CLAUDE_CODE_MAX_RETRIES"] = "0".into();
    site.imitation
        .set_script(Script::from(Rule::new().then(Failure::of(kind))));
    let run = site.run().await;
    assert_eq!(run.status, RunStatus::Failed);
    Some(run)
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_code_works_on_an_issue() {
    works(Program::Claude).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn codex_works_on_an_issue() {
    works(Program::Codex).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn why_a_program_failed_is_told_by_its_class() {
    for (program, kind, code) in [
        (Program::Claude, ErrorKind::Auth, RunErrorCode::AuthRequired),
        (
            Program::Claude,
            ErrorKind::RateLimit,
            RunErrorCode::ProviderLimit,
        ),
        (
            Program::Claude,
            ErrorKind::Context,
            RunErrorCode::ContextTooLong,
        ),
        (
            Program::Codex,
            ErrorKind::RateLimit,
            RunErrorCode::ProviderLimit,
        ),
        (
            Program::Codex,
            ErrorKind::Quota,
            RunErrorCode::ProviderLimit,
        ),
    ] {
        if let Some(run) = fails(program, kind).await {
            assert_eq!(
                run.error_code,
                Some(code),
                "{program:?} {kind:?}: {:?}",
                run.error
            );
        }
    }
}
