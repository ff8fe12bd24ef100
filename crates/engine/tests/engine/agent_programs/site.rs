use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use workforce_domain::agent::AdapterType;
use workforce_domain::id::{AgentId, IssueId};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::run::Run;
use workforce_model_imitation::{
    LoggedRequest, ModelImitation, Program, Script, installed_for_test,
};

use crate::support::House;

/// A program that works for a company.
pub(super) struct Site {
    pub(super) house: House,
    pub(super) imitation: ModelImitation,
    program: Program,
    pub(super) config: Value,
}

impl Site {
    /// `None` where the program is not installed.
    pub(super) fn new(program: Program) -> Option<Self> {
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
    pub(super) async fn run(&self) -> Run {
        let engine = self.house.start();
        self.assign();
        let run = self.ended().await.remove(0);
        engine.shutdown().await;
        run
    }

    /// Gives an agent an issue to work on.
    pub(super) fn assign(&self) -> (AgentId, IssueId) {
        let agent = self.house.hire_with(self.config.clone(), |command| {
            command.adapter_type = Some(match self.program {
                Program::Codex => AdapterType::CodexLocal,
                _ => AdapterType::ClaudeLocal,
            });
        });
        let issue = self.house.assign(agent, |issue| {
            let text = workforce_domain::text::Description::parse("Paint it blue.");
            issue.description = Some(text.expect("a text"));
        });
        (agent, issue)
    }

    /// All runs, once they have ended, oldest first.
    pub(super) async fn ended(&self) -> Vec<Run> {
        self.house.all_ended_within(Duration::from_secs(100)).await
    }

    /// The oldest run, once it has ended. Another may be queued by then.
    pub(super) async fn first_ended(&self) -> Run {
        let begun = Instant::now();
        loop {
            let oldest = self.house.runs(&[]).pop().expect("a run");
            if oldest.status.is_terminal() {
                return oldest;
            }
            assert!(begun.elapsed() < Duration::from_secs(100), "{oldest:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// What the imitation was asked as the model.
    pub(super) fn calls(&self) -> Vec<LoggedRequest> {
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
