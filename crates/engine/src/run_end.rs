use workforce_domain::port::StoreError;
use workforce_domain::run::RunEnd;

use crate::program_run::ProgramRun;
use crate::state::EngineState;
use crate::steps::{self, EndedRun, Leavings};

/// Writes the end of a run down, with what its program leaves behind. False when it was not
/// this server's any more. May be done again after a failure.
pub(crate) async fn write(
    state: &EngineState,
    ended: EndedRun,
    end: Option<RunEnd>,
    program: Option<Box<ProgramRun>>,
) -> Result<bool, StoreError> {
    let left = program.map_or_else(Leavings::default, |program| Leavings {
        session: program.session,
        account: program.account,
        used: program.used,
    });
    state
        .store
        .write(move |tx, ctx| steps::write_end(tx, ctx, ended, end.clone(), &left))
        .await
}
