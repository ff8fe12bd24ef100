//! What all programs have in common that run on this computer: where they work,
//! what they know and what they are kept from.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use workforce_agent_programs::UsageBaseline;
use workforce_domain::run::RunErrorCode;
use workforce_guard::{
    ChildEnvironment, Containment, DEFAULT_LOG_CAP, HomeFile, JudgedBy, Limits, ResourceLimits,
    Start,
};

use super::settings::LocalSettings;
use crate::execution_result::ExecutionResult;
use crate::live::LiveRun;
use crate::private_files;
use crate::run_context::RunContext;
use crate::run_environment::environment;
use crate::state::EngineState;

/// Where a program runs.
pub(super) struct Place {
    pub(super) cwd: PathBuf,
    pub(super) environment: ChildEnvironment,
    containment: Containment,
    limits: Limits,
    resource_limits: ResourceLimits,
}

/// What runs there.
pub(super) struct Command {
    pub(super) program: OsString,
    pub(super) arguments: Vec<OsString>,
    /// What it needs in its home.
    pub(super) home_files: Vec<HomeFile>,
    pub(super) stdin: Option<String>,
    pub(super) judged_by: JudgedBy,
    /// What its session was counted for before.
    pub(super) usage_baseline: UsageBaseline,
    /// What the log begins with.
    pub(super) preamble: String,
    /// What is to be known at its end.
    pub(super) memo: Value,
}

/// A run that does not begin, since its configuration cannot be used.
pub(super) fn unusable(fault: &dyn std::error::Error) -> ExecutionResult {
    ExecutionResult::failed(RunErrorCode::ConfigInvalid, fault.to_string())
}

/// Makes the place of a run. `variables` are what its program needs beside the
/// agent's own variables, which win.
pub(super) async fn make_place(
    state: &EngineState,
    context: &RunContext,
    variables: &[(&'static str, String)],
) -> Result<Place, ExecutionResult> {
    let settings = LocalSettings::read(&context.settings).map_err(|fault| unusable(&fault))?;
    let cwd = working_directory(state, context, &settings).await?;
    let needed = variables.iter();
    let own: Vec<(String, String)> = needed
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .chain(settings.env.iter().cloned())
        .collect();
    let environment =
        environment(&state.config, context, &own, &cwd).map_err(|fault| unusable(&fault))?;
    let told = write_context(state, context).await?;
    let containment = contain(state, context, told, &cwd, &environment).await?;
    Ok(Place {
        cwd,
        environment,
        containment,
        limits: settings.limits,
        resource_limits: settings.resource_limits,
    })
}

/// Makes the place of a program of workforce's own, which needs nothing of its
/// agent's.
pub(super) async fn make_bare_place(
    state: &EngineState,
    context: &RunContext,
    environment: ChildEnvironment,
    limits: Limits,
) -> Result<Place, ExecutionResult> {
    let cwd = make_home(state, context).await?;
    let containment = contain(state, context, None, &cwd, &environment).await?;
    Ok(Place {
        cwd,
        environment,
        containment,
        limits,
        resource_limits: ResourceLimits::default(),
    })
}

impl Place {
    /// What the guard is to start.
    pub(super) fn start(
        self,
        state: &EngineState,
        live: &LiveRun,
        context: &RunContext,
        command: Command,
    ) -> Start {
        let run = &context.claimed.run;
        let patience = state.config.patience();
        Start {
            run: run.id,
            fence: run.fence,
            folder: state.config.guard_folder(run.company, run.id),
            program: command.program,
            arguments: command.arguments,
            cwd: self.cwd,
            environment: self.environment,
            home_files: command.home_files,
            stdin: command.stdin,
            log: state.config.log_path(run.company, run.id),
            log_cap: DEFAULT_LOG_CAP,
            secrets: context.secrets.clone(),
            judged_by: command.judged_by,
            usage_baseline: command.usage_baseline,
            preamble: command.preamble,
            limits: self.limits,
            resource_limits: self.resource_limits,
            patience: patience.saturating_sub(live.renewed_at().elapsed()),
            containment: self.containment,
            memo: command.memo,
        }
    }
}

/// The agent's own directory, else that of the project's workspace, else a
/// home that is the agent's alone.
async fn working_directory(
    state: &EngineState,
    context: &RunContext,
    settings: &LocalSettings,
) -> Result<PathBuf, ExecutionResult> {
    if let Some(cwd) = &settings.cwd {
        return Ok(cwd.clone());
    }
    let workspace = context.workspace.as_ref();
    if let Some(cwd) = workspace.and_then(|workspace| workspace.source.cwd()) {
        return Ok(Path::new(cwd.as_str()).to_owned());
    }
    make_home(state, context).await
}

/// What the run is kept from, and what of the server's files it is shown.
async fn contain(
    state: &EngineState,
    context: &RunContext,
    told: Option<PathBuf>,
    cwd: &Path,
    environment: &ChildEnvironment,
) -> Result<Containment, ExecutionResult> {
    let run = &context.claimed.run;
    let mut own = vec![make_home(state, context).await?];
    if let Some(folder) = state.config.temporary_folder(run.company, run.id) {
        let (made, owner) = (folder.clone(), state.config.containment.owner());
        let work = offload(move || {
            private_files::make_folder(&made)?;
            owner.give(&made)
        });
        let made = work.await;
        made.map_err(|error| unmade(state, "temporary folder", &folder, &error))?;
        own.push(folder);
    }
    let copy = context.copy.iter();
    let copy = copy.flat_map(|copy| [copy.folder.clone(), copy.skill.clone()]);
    let told: Vec<PathBuf> = told.into_iter().chain(copy).collect();
    let mut places = vec![cwd.to_owned()];
    places.extend(environment.get("HOME").map(PathBuf::from));
    Ok(state.config.containment.of_run(&own, &told, &places))
}

/// The folder that is the agent's alone.
async fn make_home(state: &EngineState, context: &RunContext) -> Result<PathBuf, ExecutionResult> {
    let (config, agent) = (state.config.clone(), context.claimed.agent.id);
    let made = offload(move || config.make_home(agent)).await;
    made.map_err(|error| unmade(state, "home", &state.config.home_of(agent), &error))
}

fn unmade(state: &EngineState, name: &str, folder: &Path, error: &io::Error) -> ExecutionResult {
    let folder = folder.display();
    let error_text = format!("the agent's {name} {folder} cannot be made: {error}");
    ExecutionResult::failed(RunErrorCode::SpawnFailed, error_text).because(state, error)
}

/// Writes down what the agent is told about its project, where there is
/// something to tell.
async fn write_context(
    state: &EngineState,
    context: &RunContext,
) -> Result<Option<PathBuf>, ExecutionResult> {
    let Some(layer) = context.project_layer.clone() else {
        return Ok(None);
    };
    let run = &context.claimed.run;
    let path = state.config.context_path(run.company, run.id);
    let (company, id, config) = (run.company, run.id, state.config.clone());
    let written = offload({
        let path = path.clone();
        move || {
            config.make_run_folder(company, id)?;
            private_files::write_file(&path, &layer)?;
            config.containment.owner().give(&path)
        }
    });
    written.await.map(|()| Some(path)).map_err(|error| {
        tracing::error!(%error, run = %run.id, "a run cannot be told about its project");
        ExecutionResult::broken(format!(
            "the context of its project cannot be written: {error}"
        ))
        .because(state, &error)
    })
}

async fn offload<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)))
}
