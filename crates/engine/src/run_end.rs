use workforce_app::{costs, runs};
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::RunId;
use workforce_domain::port::StoreError;
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
    let (of_program, used) = match program {
        Some(program) => (Some((program.session, program.account)), program.used),
        None => (None, None),
    };
    state
        .store
        .write(move |tx, ctx| {
            let written = match end.clone() {
                Some(end) => runs::finish(tx, ctx, company, run, fence, end, used.as_ref())?,
                None => false,
            };
            // What it used is known here alone, whoever wrote its end down.
            if !written && let Some(used) = &used {
                costs::settle(tx, ctx, company, run, Some(used))?;
            }
            if written && let Some((session, account)) = &of_program {
                if let Some(session) = session {
                    runs::keep_session(tx, ctx, company, run, session)?;
                }
                runs::heed_refusal(tx, ctx, company, run, account.as_ref())?;
            }
            if had_process {
                tx.engine_mut().delete_process(company, run)?;
            }
            Ok(written)
        })
        .await
}
