use workforce_app::costs::{self, MeteredUse};
use workforce_app::runs;
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::RunId;
use workforce_domain::port::{Failure, StoreError};
use workforce_domain::run::RunEnd;

use crate::program_run::ProgramRun;
use crate::state::EngineState;

/// A run of which nothing executes any more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndedRun {
    pub(crate) company: CompanyScope,
    pub(crate) run: RunId,
    pub(crate) fence: i64,
    /// Whether its process may be on record.
    pub(crate) had_process: bool,
}

/// Writes the end of a run down, what becomes of its session and what it used, and
/// forgets its process. No end is written of a run that is another server's. False
/// when it was not this server's any more. May be done again after a failure.
pub(crate) async fn write(
    state: &EngineState,
    ended: EndedRun,
    end: Option<RunEnd>,
    program: Option<Box<ProgramRun>>,
) -> Result<bool, StoreError> {
    let EndedRun {
        company,
        run,
        fence,
        had_process,
    } = ended;
    let (of_program, uses) = match program {
        Some(program) => (Some((program.session, program.account)), program.uses),
        None => (None, Vec::new()),
    };
    let is_booked = uses.is_empty();
    let written = state
        .store
        .write(move |tx, ctx| {
            let written = match end.clone() {
                Some(end) => runs::finish(tx, ctx, company, run, fence, end)?,
                None => false,
            };
            if written && let Some((session, account)) = &of_program {
                if let Some(session) = session {
                    runs::keep_session(tx, ctx, company, run, session)?;
                }
                runs::heed_refusal(tx, ctx, company, run, account.as_ref())?;
            }
            if had_process && is_booked {
                tx.engine_mut().delete_process(company, run)?;
            }
            Ok(written)
        })
        .await?;
    if !is_booked {
        book(state, company, run, uses).await?;
    }
    Ok(written)
}

/// Books what a run used, and then forgets its process: until then a server that
/// starts finds what is to be booked. It comes after the end, so that a run that
/// uses its budget up is not stopped by that when it is done.
async fn book(
    state: &EngineState,
    company: CompanyScope,
    run: RunId,
    uses: Vec<MeteredUse>,
) -> Result<(), StoreError> {
    state
        .store
        .write(move |tx, ctx| {
            match costs::meter(tx, ctx, company, run, &uses) {
                Ok(()) => {}
                Err(Failure::Store(error)) => return Err(Failure::Store(error)),
                Err(Failure::Refused(error)) => {
                    tracing::error!(%error, %run, "what a run used cannot be booked");
                }
            }
            Ok(tx.engine_mut().delete_process(company, run)?)
        })
        .await
}
