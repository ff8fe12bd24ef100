use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use workforce_domain::run::RunErrorCode;
use workforce_guard::{ChildEnvironment, Containment, DEFAULT_LOG_CAP, Start};

use super::settings::ProcessSettings;
use super::{Adapter, RunFuture};
use crate::execution_result::ExecutionResult;
use crate::live::LiveRun;
use crate::run_context::RunContext;
use crate::run_environment::environment;
use crate::state::EngineState;
use crate::{guarded_run, project_context};

/// Runs an agent as a local program (docs/heartbeats.md#process-adapter).
pub(super) struct ProcessAdapter;

impl Adapter for ProcessAdapter {
    fn execute<'a>(
        &'a self,
        state: &'a Arc<EngineState>,
        live: &'a Arc<LiveRun>,
        context: &'a RunContext,
    ) -> RunFuture<'a> {
        Box::pin(async move {
            match prepare(state, live, context).await {
                Ok(start) => guarded_run::execute(state, live, start).await,
                Err(ending) => Some(ending),
            }
        })
    }
}

/// What the guard is to start; an ending before that is the error.
async fn prepare(
    state: &Arc<EngineState>,
    live: &LiveRun,
    context: &RunContext,
) -> Result<Start, ExecutionResult> {
    let run = &context.claimed.run;
    let settings = ProcessSettings::read(&context.settings)
        .map_err(|fault| ExecutionResult::failed(RunErrorCode::ConfigInvalid, fault.to_string()))?;
    let cwd = working_directory(state, context, &settings).await?;
    let environment = environment(&state.config, context, &settings.env, &cwd)
        .map_err(|fault| ExecutionResult::failed(RunErrorCode::ConfigInvalid, fault.to_string()))?;
    let told = write_context(state, context).await?;
    let containment = contain(state, context, told, &cwd, &environment).await?;
    if let Some(halt) = live.halted() {
        return Err(ExecutionResult::halted(halt));
    }
    let patience = state.config.patience();
    Ok(Start {
        run: run.id,
        fence: run.fence,
        folder: state.config.guard_folder(run.company, run.id),
        program: settings.program.into(),
        arguments: settings.args.into_iter().map(Into::into).collect(),
        cwd,
        environment,
        stdin: settings.stdin,
        log: state.config.log_path(run.company, run.id),
        log_cap: DEFAULT_LOG_CAP,
        secrets: context.secrets.clone(),
        limits: settings.limits,
        patience: patience.saturating_sub(live.renewed_at().elapsed()),
        containment,
        memo: serde_json::Value::Null,
    })
}

/// The agent's own directory, else that of the project's workspace, else a
/// home that is the agent's alone.
async fn working_directory(
    state: &EngineState,
    context: &RunContext,
    settings: &ProcessSettings,
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
        make_folder(state, folder.clone(), "temporary folder").await?;
        own.push(folder);
    }
    let copy = context.copy.as_ref().map(|copy| copy.folder.clone());
    let told: Vec<PathBuf> = told.into_iter().chain(copy).collect();
    let mut places = vec![cwd.to_owned()];
    places.extend(environment.get("HOME").map(PathBuf::from));
    Ok(state.config.containment.of_run(&own, &told, &places))
}

/// The folder that is the agent's alone.
async fn make_home(state: &EngineState, context: &RunContext) -> Result<PathBuf, ExecutionResult> {
    let home = state.config.home_of(context.claimed.agent.id);
    make_folder(state, home.clone(), "home").await?;
    Ok(home)
}

async fn make_folder(
    state: &EngineState,
    folder: PathBuf,
    name: &str,
) -> Result<(), ExecutionResult> {
    let shown = folder.display().to_string();
    let made = offload(move || DirBuilder::new().recursive(true).mode(0o700).create(folder));
    made.await.map_err(|error| {
        let error_text = format!("the agent's {name} {shown} cannot be made: {error}");
        ExecutionResult::failed(RunErrorCode::SpawnFailed, error_text).because(state, &error)
    })
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
    let written = offload({
        let path = path.clone();
        move || project_context::write(&path, &layer)
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
