use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::unistd::geteuid;
use workforce_agent_programs::{
    AgentProgram, HomeFile, ProgramSettings, RunUser, Session, command_line,
};
use workforce_app::prompt::{
    self, InstructionCopy, Prompt, PromptFacts, PromptInput, WorkingPlace,
};
use workforce_domain::port::StoreError;
use workforce_domain::run::{PromptDigest, RunErrorCode};
use workforce_guard::Start;

use super::local::{Command, Place, make_place, offload, unusable};
use super::{Adapter, RunFuture};
use crate::execution_result::ExecutionResult;
use crate::guarded_run;
use crate::live::LiveRun;
use crate::run_context::RunContext;
use crate::state::EngineState;

/// Runs an agent by an agent program, which gets a prompt
/// (docs/heartbeats.md#agent-programs).
pub(super) struct AgentProgramAdapter(pub(super) AgentProgram);

impl Adapter for AgentProgramAdapter {
    fn execute<'a>(
        &'a self,
        state: &'a Arc<EngineState>,
        live: &'a Arc<LiveRun>,
        context: &'a RunContext,
    ) -> RunFuture<'a> {
        Box::pin(async move {
            match prepare(self.0, state, live, context).await {
                Ok((start, prompt)) => guarded_run::execute(state, live, start, Some(prompt)).await,
                Err(ending) => Some(ending),
            }
        })
    }
}

/// What the guard is to start; an ending before that is the error.
async fn prepare(
    program: AgentProgram,
    state: &EngineState,
    live: &LiveRun,
    context: &RunContext,
) -> Result<(Start, PromptDigest), ExecutionResult> {
    let settings = ProgramSettings::read(&context.settings).map_err(|fault| unusable(&fault))?;
    let line = command_line(
        program,
        &settings,
        Session::New { id: None },
        user_of(context),
    )
    .map_err(|fault| unusable(&fault))?;
    let place = make_place(state, context, &line.environment).await?;
    write_home_files(state, &place, line.home_files).await?;
    let facts = facts(state, context).await?;
    let prompt = compose(context, &facts, &settings, &place);
    let command = settings.command.filter(|command| !command.is_empty());
    let command = Command {
        program: command
            .unwrap_or_else(|| program.definition().command.to_owned())
            .into(),
        arguments: line.arguments.into_iter().map(Into::into).collect(),
        stdin: Some(prompt.joined()),
        agent_program: Some(program),
        preamble: preamble(context, &prompt),
    };
    let digest = PromptDigest {
        sha256: prompt.digest(),
        bytes: i32::try_from(prompt.len()).unwrap_or(i32::MAX),
    };
    Ok((place.start(state, live, context, command), digest))
}

/// Whether the program runs as root, which some refuse.
fn user_of(context: &RunContext) -> RunUser {
    let env = context.settings.get("env").and_then(|env| env.as_object());
    let says = |value: &serde_json::Value| {
        let plain = value.as_str().or_else(|| value.get("value")?.as_str());
        plain == Some("1")
    };
    match env.and_then(|env| env.get("IS_SANDBOX")).is_some_and(says) {
        _ if !geteuid().is_root() => RunUser::Ordinary,
        true => RunUser::RootInSandbox,
        false => RunUser::Root,
    }
}

async fn facts(state: &EngineState, context: &RunContext) -> Result<PromptFacts, ExecutionResult> {
    let claimed = context.claimed.clone();
    let now = state.store.ports.clock.now();
    let facts: Result<PromptFacts, StoreError> = state
        .store
        .read(move |reads| prompt::facts(reads, &claimed, now))
        .await;
    facts.map_err(|error| {
        tracing::error!(%error, cause = ?error, "the prompt of a run cannot be written");
        ExecutionResult::broken("the store failed before the start")
    })
}

fn compose(
    context: &RunContext,
    facts: &PromptFacts,
    settings: &ProgramSettings,
    place: &Place,
) -> Prompt {
    let cwd = place.cwd.to_string_lossy();
    let copy = context.copy.as_ref();
    let folder = copy.map(|copy| copy.folder.to_string_lossy());
    let skill = copy.map(|copy| copy.skill.to_string_lossy());
    let others: Vec<&str> = copy
        .iter()
        .flat_map(|copy| copy.others.iter().map(String::as_str))
        .collect();
    let instructions = copy
        .zip(folder.as_deref())
        .map(|(copy, folder)| InstructionCopy {
            folder,
            entry_file: &copy.entry_name,
            entry: &copy.entry_text,
            others: &others,
        });
    let prompt = prompt::compose(&PromptInput {
        claimed: &context.claimed,
        facts,
        instructions,
        skill: skill.as_deref(),
        project_layer: context.project_layer.as_deref(),
        place: WorkingPlace {
            cwd: &cwd,
            branch: None,
            base_branch: None,
        },
        template: settings.prompt_template.as_deref(),
        hand_over: None,
        resumed: false,
    });
    for name in &prompt.unknown_placeholders {
        tracing::warn!(run = %context.claimed.run.id, name, "a prompt template names nothing");
    }
    prompt
}

/// The prompt as the log shows it.
fn preamble(context: &RunContext, prompt: &Prompt) -> String {
    let text = prompt.joined();
    let text = context.patterns.scrub(&text).unwrap_or(text);
    format!(
        "[prompt: {} bytes, sha256 {}]\n{text}\n[end of the prompt]\n",
        prompt.len(),
        prompt.digest()
    )
}

/// Writes what the program needs in its home, where it has not written it itself.
async fn write_home_files(
    state: &EngineState,
    place: &Place,
    files: Vec<HomeFile>,
) -> Result<(), ExecutionResult> {
    let Some(home) = place.environment.get("HOME").map(PathBuf::from) else {
        return Ok(());
    };
    let written = offload(move || files.iter().try_for_each(|file| write(&home, file)));
    written.await.map_err(|error| {
        let text = format!("what the program needs in its home cannot be written: {error}");
        ExecutionResult::failed(RunErrorCode::SpawnFailed, text).because(state, &error)
    })
}

fn write(home: &Path, file: &HomeFile) -> io::Result<()> {
    let path = home.join(file.path);
    if let Some(folder) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match made {
        Ok(mut made) => made.write_all(file.content.as_bytes()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
