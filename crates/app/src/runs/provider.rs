//! What follows when the provider of a model refuses a run
//! (docs/heartbeats.md#provider-limits).

use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::id::RunId;
use workforce_domain::port::{StoreError, Tx};
use workforce_domain::run::{Run, RunErrorCode};
use workforce_domain::session::{FailureClass, ProviderGate};
use workforce_domain::text::AccountKey;
use workforce_domain::wake::WakeReason;

use super::lifecycle::queue_again;
use crate::context::Context;

/// After so many failures in a row refused work waits for its timer or for a
/// person: about a day, if the provider names no time.
const MOST_FAILURES: i32 = 50;

/// Heeds that a provider refused the run that has just ended: nothing uses the
/// `account` for a while, and the work is queued again. Of a run that ended
/// otherwise nothing follows.
pub fn heed_refusal(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    run: RunId,
    account: Option<&AccountKey>,
) -> Result<(), StoreError> {
    let Some(run) = tx.runs().find(company.into(), run)? else {
        return Ok(());
    };
    let reason = match run.error_code {
        Some(RunErrorCode::ProviderLimit) => FailureClass::ProviderLimit,
        Some(RunErrorCode::ProviderOverloaded) => FailureClass::Overloaded,
        // Whoever signs in lifts the wait, or lets it pass.
        Some(RunErrorCode::AuthRequired) => FailureClass::AuthRequired,
        _ => return Ok(()),
    };
    if let Some(account) = account {
        let previous = tx.sessions().find_gate(company, account)?;
        tx.sessions_mut().note_gate(&ProviderGate {
            company: run.company,
            account: account.clone(),
            blocked_until: ProviderGate::end(previous.as_ref(), run.retry_at, ctx.now),
            reason,
            noted_at: ctx.now,
            run: Some(run.id),
        })?;
    }
    if is_given_up(tx, &run)? {
        return Ok(());
    }
    queue_again(tx, ctx, &run, WakeReason::ProviderRetry, None)
}

fn is_given_up(tx: &mut dyn Tx, run: &Run) -> Result<bool, StoreError> {
    let agent = tx.agents().find(run.scope().into(), run.agent)?;
    Ok(agent.is_none_or(|agent| agent.consecutive_failures >= MOST_FAILURES))
}
