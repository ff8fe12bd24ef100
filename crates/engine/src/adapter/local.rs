//! What all programs have in common that run on this computer: where they work,
//! what they know and what they are kept from.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use workforce_agent_programs::{SessionId, UsageBaseline};
use workforce_domain::id::AgentId;
use workforce_domain::project::Workspace;
use workforce_domain::run::RunErrorCode;
use workforce_guard::{
    ChildEnvironment, Containment, DEFAULT_LOG_CAP, HomeFile, JudgedBy, Limits, ResourceLimits,
    Start,
};

use super::settings::LocalSettings;
use crate::execution_result::ExecutionResult;
use crate::live::LiveRun;
use crate::private_files;
use crate::run_context::{Occupant, RunContext};
use crate::run_environment::{base_environment, environment};
use crate::state::EngineState;

/// So much output of a program is kept that is only looked at, in bytes.
const TRIAL_LOG_CAP: u64 = 64 * 1024;

/// Where a program runs.
pub(crate) struct Place {
    pub(crate) cwd: PathBuf,
    pub(crate) environment: ChildEnvironment,
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
    /// The session that it goes on with.
    pub(super) resumed: Option<SessionId>,
    /// What its session was counted for before.
    pub(super) usage_baseline: UsageBaseline,
    /// What the log begins with.
    pub(super) preamble: String,
    /// What is to be known at its end.
    pub(super) memo: Value,
}

/// A run that does not begin, since its configuration cannot be used.
pub(crate) fn unusable(fault: &dyn std::error::Error) -> ExecutionResult {
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
    let occupant = context.occupant();
    let cwd = match &context.worktree {
        Some(worktree) => worktree.path.clone(),
        None => {
            let workspace = context.workspace.as_ref();
            working_directory(state, occupant, &settings, workspace).await?
        }
    };
    let own = own_variables(variables, &settings);
    let environment =
        environment(&state.config, context, &own, &cwd).map_err(|fault| unusable(&fault))?;
    let copy = context.copy.iter();
    let copy = copy.flat_map(|copy| [copy.folder.clone(), copy.skill.clone()]);
    let told = write_context(state, context).await?.into_iter().chain(copy);
    let mut shares = Shares {
        told: told.collect(),
        ..Shares::default()
    };
    if let Some(worktree) = &context.worktree {
        shares.told.extend(worktree.read.iter().cloned());
        shares.own.push(worktree.path.clone());
        shares.own.extend(worktree.own.iter().cloned());
        shares.places.extend(worktree.written.iter().cloned());
    }
    let containment = contain(state, occupant, &shares, &cwd, &environment).await?;
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
    let occupant = context.occupant();
    let cwd = make_home(state, occupant.agent).await?;
    let shares = Shares::default();
    let containment = contain(state, occupant, &shares, &cwd, &environment).await?;
    Ok(Place {
        cwd,
        environment,
        containment,
        limits,
        resource_limits: ResourceLimits::default(),
    })
}

/// Makes the place of a program that is only looked at: that of a run, without what
/// runs are told.
pub(crate) async fn make_trial_place(
    state: &EngineState,
    occupant: Occupant,
    settings: &LocalSettings,
    variables: &[(&'static str, String)],
    limits: Limits,
) -> Result<Place, ExecutionResult> {
    let (config, folder) = (state.config.clone(), occupant);
    let made = offload(move || config.make_run_folder(folder.company, folder.run)).await;
    let folder = state.config.run_folder(occupant.company, occupant.run);
    made.map_err(|error| unmade(state, "folder", &folder, &error))?;
    let cwd = working_directory(state, occupant, settings, None).await?;
    let own = own_variables(variables, settings);
    let environment =
        base_environment(&state.config, occupant, &own).map_err(|fault| unusable(&fault))?;
    let shares = Shares::default();
    let containment = contain(state, occupant, &shares, &cwd, &environment).await?;
    Ok(Place {
        cwd,
        environment,
        containment,
        limits,
        resource_limits: settings.resource_limits,
    })
}

impl Place {
    /// The start of a program there that is only looked at. Whatever it leaves behind
    /// is in the folder of the run.
    pub(crate) fn trial(
        &self,
        state: &EngineState,
        occupant: Occupant,
        (program, arguments): (OsString, &[&str]),
        secrets: &[String],
    ) -> Start {
        let folder = state.config.run_folder(occupant.company, occupant.run);
        Start {
            run: occupant.run,
            fence: 0,
            folder: state.config.guard_folder(occupant.company, occupant.run),
            program,
            arguments: arguments.iter().map(Into::into).collect(),
            cwd: self.cwd.clone(),
            environment: self.environment.clone(),
            home_files: Vec::new(),
            stdin: None,
            log: folder.join("trial.log"),
            log_cap: TRIAL_LOG_CAP,
            secrets: secrets.to_vec(),
            judged_by: JudgedBy::ExitCode,
            resumed: None,
            usage_baseline: UsageBaseline::NEW_SESSION,
            preamble: String::new(),
            limits: self.limits,
            resource_limits: self.resource_limits,
            patience: state.config.patience(),
            containment: self.containment.clone(),
            memo: Value::Null,
        }
    }

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
            resumed: command.resumed,
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
    occupant: Occupant,
    settings: &LocalSettings,
    workspace: Option<&Workspace>,
) -> Result<PathBuf, ExecutionResult> {
    if let Some(cwd) = &settings.cwd {
        return Ok(cwd.clone());
    }
    if let Some(cwd) = workspace.and_then(|workspace| workspace.source.cwd()) {
        return Ok(Path::new(cwd.as_str()).to_owned());
    }
    make_home(state, occupant.agent).await
}

/// The variables of a program: what it needs, and the agent's own, which win.
fn own_variables(
    needed: &[(&'static str, String)],
    settings: &LocalSettings,
) -> Vec<(String, String)> {
    let needed = needed.iter();
    needed
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .chain(settings.env.iter().cloned())
        .collect()
}

/// What a run is shown of the server's files beside its home, and where else it
/// writes.
#[derive(Default)]
struct Shares {
    /// Files and folders to read.
    told: Vec<PathBuf>,
    /// Folders of the server's that are the run's own.
    own: Vec<PathBuf>,
    /// Folders elsewhere that it writes to.
    places: Vec<PathBuf>,
}

/// What the run is kept from, and what of the server's files it is shown.
async fn contain(
    state: &EngineState,
    occupant: Occupant,
    shares: &Shares,
    cwd: &Path,
    environment: &ChildEnvironment,
) -> Result<Containment, ExecutionResult> {
    let mut own = vec![make_home(state, occupant.agent).await?];
    own.extend(shares.own.iter().cloned());
    if let Some(folder) = state
        .config
        .temporary_folder(occupant.company, occupant.run)
    {
        let (made, owner) = (folder.clone(), state.config.containment.owner());
        let work = offload(move || {
            private_files::make_folder(&made)?;
            owner.give(&made)
        });
        let made = work.await;
        made.map_err(|error| unmade(state, "temporary folder", &folder, &error))?;
        own.push(folder);
    }
    let mut places = vec![cwd.to_owned()];
    places.extend(shares.places.iter().cloned());
    places.extend(environment.get("HOME").map(PathBuf::from));
    Ok(state.config.containment.of_run(&own, &shares.told, &places))
}

/// The folder that is the agent's alone.
async fn make_home(state: &EngineState, agent: AgentId) -> Result<PathBuf, ExecutionResult> {
    let config = state.config.clone();
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

pub(crate) async fn offload<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)))
}
