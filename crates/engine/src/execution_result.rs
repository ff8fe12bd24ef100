use std::io;

use workforce_domain::port::StoreError;
use workforce_domain::run::{RunEnd, RunErrorCode, RunOutcome};

use crate::live::{Halt, LiveRun};
use crate::program_run::ProgramRun;
use crate::state::EngineState;

/// How a run came to its end.
#[derive(Clone, Debug)]
pub(crate) struct ExecutionResult {
    /// The end to write down; `None` for a run that is another server's by now.
    pub(crate) end: Option<RunEnd>,
    /// What its agent program leaves behind.
    pub(crate) program: Option<Box<ProgramRun>>,
    /// Whether nothing of it executes any more.
    pub(crate) group_empty: bool,
    /// True when it did not begin for lack of room, and may begin later.
    pub(crate) lacks_room: bool,
}

impl ExecutionResult {
    /// A run that failed without having executed anything.
    pub(crate) fn failed(code: RunErrorCode, error: impl Into<String>) -> Self {
        Self::before_start(RunEnd::without_exit(RunOutcome::Failed(code), error))
    }

    /// A run that workforce itself failed before it executed anything.
    pub(crate) fn broken(error: impl Into<String>) -> Self {
        let lost = RunOutcome::Lost(RunErrorCode::Internal);
        Self::before_start(RunEnd::without_exit(lost, error))
    }

    /// A run that had not begun when the store failed.
    pub(crate) fn without_store(live: &LiveRun, error: &StoreError) -> Self {
        tracing::error!(%error, cause = ?error, run = %live.run, "a run cannot begin");
        match live.halted() {
            Some(halt) => Self::halted(halt),
            None => Self::broken("the store failed before the start"),
        }
    }

    fn before_start(end: impl Into<Option<RunEnd>>) -> Self {
        Self {
            end: end.into(),
            program: None,
            group_empty: true,
            lacks_room: false,
        }
    }

    /// The same for a file that could not be written.
    pub(crate) fn because(mut self, state: &EngineState, error: &io::Error) -> Self {
        self.lacks_room = state.note_unwritten(error);
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
