use workforce_app::costs::MeteredUse;
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::RunId;
use workforce_domain::port::StoreError;
use workforce_domain::run::RunEnd;

use crate::program_run::ProgramRun;
use crate::state::EngineState;
use crate::steps::{self, EndedRun, Leavings};

/// Writes the end of a run down, what becomes of its session and what it used, and
/// forgets its process. No end is written of a run that is another server's. False
/// when it was not this server's any more. May be done again after a failure.
pub(crate) async fn write(
    state: &EngineState,
    ended: EndedRun,
    end: Option<RunEnd>,
    program: Option<Box<ProgramRun>>,
) -> Result<bool, StoreError> {
    let EndedRun { company, run, .. } = ended;
    let (left, uses) = match program.map(|program| *program) {
        Some(ProgramRun {
            session,
            uses,
            account,
        }) => (Some(Leavings { session, account }), uses),
        None => (None, Vec::new()),
    };
    let is_booked = uses.is_empty();
    let written = state
        .store
        .write(move |tx, ctx| {
            steps::write_end(tx, ctx, ended, end.clone(), left.as_ref(), is_booked)
        })
        .await?;
    if !is_booked {
        book(state, company, run, uses).await?;
    }
    Ok(written)
}

async fn book(
    state: &EngineState,
    company: CompanyScope,
    run: RunId,
    uses: Vec<MeteredUse>,
) -> Result<(), StoreError> {
    state
        .store
        .write(move |tx, ctx| steps::book(tx, ctx, company, run, &uses))
        .await
}
