use std::error::Error;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use workforce_domain::actor::CompanyOwned;
use workforce_domain::port::Failure;
use workforce_domain::run::{ProcessRecord, RunEnd, RunErrorCode, RunOutcome};

use super::settings::ProcessSettings;
use super::{Adapter, RunFuture};
use crate::execution_result::ExecutionResult;
use crate::live::{Halt, LiveRun};
use crate::process::{
    ChildOutcome, ChildSpec, DEFAULT_LOG_CAP, EndedBy, Exit, LogSummary, OutputSinks, ProcessGroup,
    ProcessIdentity, RunLog, RunTag, SpawnError, spawn, supervise,
};
use crate::project_context::ContextFile;
use crate::run_context::RunContext;
use crate::run_environment::environment;
use crate::scrub::OutputScrubber;
use crate::state::EngineState;

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
            match run(state, live, context).await {
                Ok(ending) | Err(ending) => ending,
            }
        })
    }
}

/// Runs the program; an ending before its start is the error.
async fn run(
    state: &Arc<EngineState>,
    live: &Arc<LiveRun>,
    context: &RunContext,
) -> Result<ExecutionResult, ExecutionResult> {
    let run = &context.claimed.run;
    let settings = ProcessSettings::read(&context.settings)
        .map_err(|fault| ExecutionResult::failed(RunErrorCode::ConfigInvalid, fault.to_string()))?;
    let cwd = working_directory(state, context, &settings).await?;
    let environment = environment(&state.config, context, &settings.env, &cwd)
        .map_err(|fault| ExecutionResult::failed(RunErrorCode::ConfigInvalid, fault.to_string()))?;
    let _context = write_context(state, context).await?;
    let log = open_log(state, state.config.log_path(run.company, run.id)).await?;
    if let Some(halt) = live.halted() {
        return Err(ExecutionResult::halted(halt));
    }
    let scrubber = OutputScrubber::new(&context.patterns);
    let spec = ChildSpec {
        program: settings.program.into(),
        arguments: settings.args.into_iter().map(Into::into).collect(),
        cwd,
        environment,
        tag: RunTag::from(run.id),
        stdin: settings.stdin.map(String::into_bytes),
    };
    let child = spawn(spec, |identity| record(state, live, context, identity))
        .await
        .map_err(|error| match live.halted() {
            Some(halt) => ExecutionResult::halted(halt),
            None => not_spawned(&error),
        })?;
    let sinks = OutputSinks {
        log,
        scrub: Some(Box::new(scrubber)),
        on_stdout: &mut |_| (),
    };
    let group = child.group().clone();
    let activity = Arc::clone(&live.activity);
    let supervision = supervise(child, settings.limits, sinks, activity, live.halts());
    Ok(ending(with_kill(live, group, supervision).await))
}

/// Waits for a supervision, and takes the processes away when they are to go
/// at once.
async fn with_kill<T>(
    live: &LiveRun,
    group: ProcessGroup,
    supervision: impl Future<Output = T>,
) -> T {
    let kill = async {
        live.killed().await;
        group.end(Duration::ZERO).await;
        // The supervision sees the end for itself.
        std::future::pending().await
    };
    tokio::select! {
        outcome = supervision => outcome,
        never = kill => never,
    }
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
    let home = state.config.home_of(context.claimed.agent.id);
    let made = offload({
        let home = home.clone();
        move || DirBuilder::new().recursive(true).mode(0o700).create(home)
    });
    match made.await {
        Ok(()) => Ok(home),
        Err(error) => Err(ExecutionResult::failed(
            RunErrorCode::SpawnFailed,
            format!(
                "the agent's home {} cannot be made: {error}",
                home.display()
            ),
        )
        .because(state, &error)),
    }
}

/// Writes down what the agent is told about its project, where there is
/// something to tell.
async fn write_context(
    state: &EngineState,
    context: &RunContext,
) -> Result<Option<ContextFile>, ExecutionResult> {
    let Some(layer) = context.project_layer.clone() else {
        return Ok(None);
    };
    let run = &context.claimed.run;
    let path = state.config.context_path(run.company, run.id);
    let written = offload(move || ContextFile::write(path, &layer)).await;
    written.map(Some).map_err(|error| {
        tracing::error!(%error, run = %run.id, "a run cannot be told about its project");
        ExecutionResult::broken(format!(
            "the context of its project cannot be written: {error}"
        ))
        .because(state, &error)
    })
}

async fn open_log(state: &EngineState, path: PathBuf) -> Result<RunLog, ExecutionResult> {
    let opened = offload({
        let (path, clock) = (path.clone(), Arc::clone(&state.store.ports.clock));
        move || Ok(RunLog::open(&path, DEFAULT_LOG_CAP)?.timed_by(clock))
    });
    opened.await.map_err(|error| {
        tracing::error!(%error, path = %path.display(), "the log of a run cannot be opened");
        ExecutionResult::broken(format!("its log cannot be opened: {error}")).because(state, &error)
    })
}

async fn offload<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)))
}

/// The run is another server's by now, has ended, or is to stop.
#[derive(Debug, thiserror::Error)]
#[error("the run does not start any more")]
struct NotWanted;

/// Records the process while its program does not run yet. A stop that was
/// asked for before the run was among the live ones is seen here; one that
/// comes later finds it there.
async fn record(
    state: &EngineState,
    live: &LiveRun,
    context: &RunContext,
    identity: ProcessIdentity,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    live.note_group(ProcessGroup::new(identity, RunTag::from(live.run)));
    let fence = live.fence;
    let process = ProcessRecord {
        run: live.run,
        company: context.claimed.company.id,
        instance: state.config.instance,
        pid: identity.pid,
        process_group: identity.process_group,
        start_ticks: identity.start_ticks,
    };
    let recorded = state.store.write(move |tx, _| {
        let run = tx.runs().find(process.scope().into(), process.run)?;
        let ours = run.filter(|run| run.fence == fence && run.status.is_live());
        let halt = match ours {
            None => Some(Halt::LeaseLost),
            Some(run) => run.stop_reason.map(Halt::Requested),
        };
        if halt.is_none() {
            tx.engine_mut().record_process(&process)?;
        }
        Ok::<_, Failure<_>>(halt)
    });
    match recorded.await? {
        None => Ok(()),
        Some(halt) => {
            live.halt(halt);
            Err(NotWanted.into())
        }
    }
}

fn not_spawned(error: &SpawnError) -> ExecutionResult {
    match error {
        SpawnError::Record { .. } => ExecutionResult::broken(with_causes(error)),
        SpawnError::Cwd { .. }
        | SpawnError::ProgramNotFound { .. }
        | SpawnError::ProgramNotExecutable { .. }
        | SpawnError::NulByte { .. }
        | SpawnError::Process { .. }
        | SpawnError::Exec { .. } => {
            ExecutionResult::failed(RunErrorCode::SpawnFailed, with_causes(error))
        }
    }
}

/// An error with everything that led to it.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

fn ending(outcome: ChildOutcome<Halt>) -> ExecutionResult {
    let (exit_code, signal) = match outcome.exit {
        Some(Exit::Code(code)) => (Some(code), None),
        Some(Exit::Signal(signal)) => (None, Some(signal)),
        None => (None, None),
    };
    let (log_bytes, log_tail) = stored(outcome.log);
    let end = verdict(outcome.ended_by, outcome.exit).map(|(outcome, error)| RunEnd {
        outcome,
        error,
        exit_code,
        signal,
        log_bytes,
        log_tail,
    });
    ExecutionResult {
        end,
        group_empty: outcome.group_empty,
        lacks_room: false,
    }
}

/// What became of a program, with a sentence for people; nothing when the run
/// is another server's.
fn verdict(ended_by: EndedBy<Halt>, exit: Option<Exit>) -> Option<(RunOutcome, Option<String>)> {
    let failed = RunOutcome::Failed(RunErrorCode::AdapterFailed);
    let (outcome, error) = match (ended_by, exit) {
        (EndedBy::Itself, Some(Exit::Code(0))) => return Some((RunOutcome::Succeeded, None)),
        (EndedBy::Itself, Some(Exit::Code(code))) => {
            (failed, format!("the program ended with code {code}"))
        }
        (EndedBy::Itself, Some(Exit::Signal(signal))) => {
            (failed, format!("signal {signal} ended the program"))
        }
        (EndedBy::Itself, None) => (
            failed,
            "the system tells no exit code of the program".to_owned(),
        ),
        (EndedBy::WallLimit, _) => (
            RunOutcome::TimedOut(RunErrorCode::WallLimit),
            "the run took longer than its time limit".to_owned(),
        ),
        (EndedBy::IdleLimit, _) => (
            RunOutcome::TimedOut(RunErrorCode::IdleLimit),
            "the run showed no sign of life for its idle limit".to_owned(),
        ),
        (EndedBy::Stopped(halt), _) => {
            let error = match halt {
                Halt::Requested(RunErrorCode::BudgetExhausted) => {
                    "the budget of the month is used up"
                }
                Halt::Requested(_) => "somebody asked the run to stop",
                Halt::ServerShutdown | Halt::LeaseLost => "the server was stopped",
            };
            (halt.outcome()?, error.to_owned())
        }
    };
    Some((outcome, Some(error)))
}

fn stored(log: LogSummary) -> (i64, Option<String>) {
    if let Some(fault) = log.fault {
        tracing::error!(fault, "output of a run is missing from its log");
    }
    let bytes = i64::try_from(log.total_bytes).unwrap_or(i64::MAX);
    (bytes, (!log.tail.is_empty()).then_some(log.tail))
}
