//! How agents are run: one implementation per kind of adapter.

mod process;
mod settings;

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use workforce_domain::agent::AdapterType;
use workforce_domain::run::{RunEnd, RunErrorCode, RunOutcome};

use crate::live::{Halt, LiveRun};
use crate::run_context::RunContext;
use crate::shared::Core;

/// How a run came to its end.
#[derive(Clone, Debug)]
pub(crate) struct Ending {
    /// The end to write down; `None` for a run that is another server's by now.
    pub(crate) end: Option<RunEnd>,
    /// Whether nothing of it executes any more.
    pub(crate) group_empty: bool,
    /// True when it did not begin for lack of room, and may begin later.
    pub(crate) lacks_room: bool,
}

impl Ending {
    /// A run that failed without having executed anything.
    pub(crate) fn failed(code: RunErrorCode, error: impl Into<String>) -> Self {
        Self::before_start(RunEnd::without_exit(RunOutcome::Failed(code), error))
    }

    /// A run that workforce itself failed before it executed anything.
    pub(crate) fn broken(error: impl Into<String>) -> Self {
        let lost = RunOutcome::Lost(RunErrorCode::Internal);
        Self::before_start(RunEnd::without_exit(lost, error))
    }

    fn before_start(end: impl Into<Option<RunEnd>>) -> Self {
        Self {
            end: end.into(),
            group_empty: true,
            lacks_room: false,
        }
    }

    /// The same for a file that could not be written.
    pub(crate) fn because(mut self, core: &Core, error: &io::Error) -> Self {
        self.lacks_room = core.note_unwritten(error);
        self
    }

    /// A run that was stopped before it executed anything.
    pub(crate) fn halted(halt: Halt) -> Self {
        let error = "it was stopped before its start";
        Self::before_start(
            halt.outcome()
                .map(|outcome| RunEnd::without_exit(outcome, error)),
        )
    }
}

/// The future of a run.
pub(crate) type Execution<'a> = Pin<Box<dyn Future<Output = Ending> + Send + 'a>>;

/// A way to run agents.
///
/// Every process that it starts belongs to the run: it ends when the run is
/// halted, and is recorded in the store before it may do anything.
pub(crate) trait Adapter: Send + Sync {
    /// Runs an agent once, from start to end.
    fn execute<'a>(
        &'a self,
        core: &'a Arc<Core>,
        live: &'a Arc<LiveRun>,
        assignment: &'a RunContext,
    ) -> Execution<'a>;
}

/// The adapter for a kind; `None` where this server has none. Nothing else is
/// run in its place (docs/heartbeats.md#process-adapter).
pub(crate) fn adapter(kind: AdapterType) -> Option<&'static dyn Adapter> {
    match kind {
        AdapterType::Process => Some(&process::ProcessAdapter),
        AdapterType::Http
        | AdapterType::ClaudeLocal
        | AdapterType::CodexLocal
        | AdapterType::Cursor
        | AdapterType::GeminiLocal
        | AdapterType::OpencodeLocal
        | AdapterType::PiLocal => None,
    }
}
