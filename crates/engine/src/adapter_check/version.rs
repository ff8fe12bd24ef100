//! Starts a program for its version, exactly as a run starts it.

use std::time::Duration;

use tokio::time::timeout;
use workforce_guard::client::{self, Guard};
use workforce_guard::{Ending, Exit, Limits, RunReport, Start, leftovers};

use crate::config::EngineConfig;
use crate::run_context::Occupant;
use crate::state::EngineState;

/// A guard that does not answer so long after the limit is killed.
const FORCE_AFTER: Duration = Duration::from_secs(10);
/// So much of what a program says of its failure is told, in characters.
const TOLD: usize = 200;

/// What a program may take to tell its version.
pub(super) const fn limits(config: &EngineConfig) -> Limits {
    Limits {
        wall: Some(config.check_limit),
        idle: None,
        grace: Duration::from_secs(1),
    }
}

/// What the program prints; else why it does not, in a sentence. Nothing of it
/// executes any more then.
pub(super) async fn ask(
    state: &EngineState,
    occupant: Occupant,
    start: Start,
) -> Result<String, String> {
    let prepared = client::start(&state.config.guard, start).await;
    let prepared = prepared.map_err(|error| error.to_string())?;
    let identity = prepared.identity();
    let mut guard = prepared.go().await.map_err(|error| error.to_string())?;
    if let Some(report) = end(state, &mut guard).await {
        return judge(report, state.config.check_limit);
    }
    let files = state.config.guard_files(occupant.company, occupant.run);
    leftovers::end_by_force(identity, occupant.run, &files).await;
    Err("it does not end".into())
}

/// The end of the program, which a shutdown of the server brings about at once.
async fn end(state: &EngineState, guard: &mut Guard) -> Option<RunReport> {
    tokio::select! {
        report = timeout(state.config.check_limit + FORCE_AFTER, guard.ended()) => return report.ok().flatten(),
        () = state.closing.cancelled() => {}
    }
    guard.kill().await;
    timeout(FORCE_AFTER, guard.ended()).await.ok().flatten()
}

fn judge(report: RunReport, limit: Duration) -> Result<String, String> {
    let ended = match (report.ended_by, report.exit) {
        (Ending::Itself, Some(Exit::Code(0))) => return Ok(report.log.tail),
        (Ending::Itself, Some(Exit::Code(code))) => format!("it ends with exit code {code}"),
        (Ending::Itself, Some(Exit::Signal(signal))) => format!("signal {signal} ends it"),
        (Ending::Itself, None) => "it is not known how it ends".into(),
        (Ending::WallLimit | Ending::IdleLimit, _) => {
            format!("it does not end within {} s", limit.as_secs_f32())
        }
        (Ending::Stopped(_) | Ending::Abandoned, _) => "the server stops".into(),
    };
    // The values of secrets are not in there.
    let said = report.log.tail.lines().rev().map(str::trim);
    match said.into_iter().find(|line| !line.is_empty()) {
        Some(line) => {
            let line: String = line.chars().take(TOLD).collect();
            Err(format!("{ended}: {line}"))
        }
        None => Err(ended),
    }
}
