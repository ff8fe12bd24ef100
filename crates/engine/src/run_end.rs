use workforce_domain::port::StoreError;
use workforce_domain::run::{RunEnd, RunOutcome};
use workforce_domain::string_enum::StringEnum;

use crate::program_run::ProgramRun;
use crate::state::EngineState;
use crate::steps::{self, EndedRun, Leavings};

/// Writes the end of a run down, with what its program leaves behind. Tells what is written down as
/// its outcome; `None` when it was not this server's any more. May be done again after a failure.
pub(crate) async fn write(
    state: &EngineState,
    ended: EndedRun,
    end: Option<RunEnd>,
    program: Option<Box<ProgramRun>>,
) -> Result<Option<RunOutcome>, StoreError> {
    let left = program.map_or_else(Leavings::default, |program| Leavings {
        session: program.session,
        account: program.account,
        used: program.used,
    });
    let written = state
        .store
        .write(move |tx, ctx| steps::write_end(tx, ctx, ended, end.clone(), &left))
        .await?;
    count(state, written);
    Ok(written)
}

/// Counts a run whose end was written down with this outcome, if it was.
pub(crate) fn count(state: &EngineState, written: Option<RunOutcome>) {
    if let Some(outcome) = written {
        let error_code = outcome.error_code().map(StringEnum::as_str);
        let runs = &state.config.vitals.runs;
        runs.note_end(outcome.status().as_str(), error_code);
    }
}
