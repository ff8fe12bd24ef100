//! What the engine writes when a run begins and ends.

use std::convert::Infallible;
use std::time::Duration;

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::id::RunId;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{ClaimRequest, ClaimedRun, Failure, StoreError, Tx};
use workforce_domain::run::{Completion, Run, RunEnd, RunErrorCode, RunKind, RunOutcome};
use workforce_domain::time::Timestamp;
use workforce_domain::wake::{WakeReason, WakeSource};

use crate::activity_log::log_activity;
use crate::context::Context;
use crate::costs::{self, RunUse};
use crate::issues::follow_up;
use crate::wakes::{self, WakeRequest};

/// Work lost with its server is tried again at most once in this time per
/// agent and issue.
const RETRY_SPACING: Duration = Duration::from_secs(60 * 60);
/// Work that was lost before it began, again within that time, waits for so long: what starts it
/// may be what ends its server.
const UNBEGUN_PAUSE: Duration = Duration::from_secs(60);

/// Claims the next run that may start and writes down that it started.
pub fn start(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    request: &ClaimRequest,
) -> Result<Option<ClaimedRun>, Failure<Infallible>> {
    let Some(scope) = ctx.actor().instance() else {
        return Ok(None);
    };
    let claimed = tx.engine_mut().claim(scope, request)?;
    if let Some(claimed) = &claimed {
        let details = json!({ "reason": claimed.run.reason, "kind": claimed.run.kind });
        log_activity(tx, ctx, Action::HeartbeatStarted, &claimed.run, details);
        wakes::requeue_waiting_work(tx, ctx, &claimed.agent, &claimed.wake)?;
    }
    Ok(claimed)
}

/// Ends a run: in one transaction its token dies, its leases end, its agent
/// shows the outcome and everybody hears of it. What its agent said about the end
/// goes before `end`. What was lost is queued once more, unless it was retried
/// recently. What it used, as far as its program told, is booked after its end, so
/// that a run which uses its budget up is not stopped by that when it is done; what it
/// held of the budgets is free. Tells what is written down as its outcome; `None` when the
/// run was not this server's any more (`fence` differs or it has ended), and then nothing
/// is.
pub fn finish(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    id: RunId,
    fence: i64,
    end: RunEnd,
    used: Option<&RunUse>,
) -> Result<Option<RunOutcome>, Failure<Infallible>> {
    let Some(seen) = tx.runs().find(company.into(), id)? else {
        return Ok(None);
    };
    tx.companies_mut().lock(company.into(), company.company())?;
    let agent = tx.agents_mut().lock(company.into(), seen.agent)?;
    let issue = match seen.issue {
        Some(issue) => tx.issues_mut().lock(company.into(), &issue.into())?,
        None => None,
    };
    let Some(mut run) = tx.runs_mut().lock(company.into(), id)? else {
        return Ok(None);
    };
    if run.fence != fence {
        return Ok(None);
    }
    let end = match tx.runs().completion(company, id)? {
        Some(Completion::Reported(report, _)) => {
            // A run that is to stop is not completed, so whoever asked for that
            // came later.
            (run.stop_requested_at, run.stop_reason) = (None, None);
            report.applied_to(end)
        }
        Some(Completion::Awaited) | None => end,
    };
    let Ok(outcome) = run.end(end, ctx.now) else {
        return Ok(None);
    };
    tx.runs_mut().save(&run)?;
    tx.issues_mut().end_leases_of_run(&run)?;
    if let Some(mut agent) = agent {
        agent.note_run_end(outcome, ctx.now);
        tx.agents_mut().save(&agent)?;
    }
    ctx.signal.raise();
    costs::settle(tx, ctx, company, id, used)?;
    let spend = tx.ledger().run_spend(company, id)?.unwrap_or_default();
    let details = json!({
        "status": run.status,
        "errorCode": run.error_code,
        "exitCode": run.exit_code,
        "signal": run.signal,
        "costCents": spend.spent.to_string(),
        "estimatedCostCents": spend.estimated.to_string(),
    });
    log_activity(tx, ctx, Action::HeartbeatFinished, &run, details);
    match (outcome, issue) {
        (RunOutcome::Lost(_), _) => retry_lost(tx, ctx, &run)?,
        (RunOutcome::Succeeded, Some(issue)) => follow_up(tx, ctx, &run, &issue)?,
        _ => {}
    }
    Ok(Some(outcome))
}

/// False when a lost run worked on an issue that has ended or is somebody
/// else's by now.
fn is_still_its_own(tx: &mut dyn Tx, run: &Run) -> Result<bool, StoreError> {
    let Some(issue) = run.issue.filter(|_| run.kind == RunKind::Execution) else {
        return Ok(true);
    };
    let issue = tx.issues().find(run.scope().into(), &issue.into())?;
    Ok(issue.is_some_and(|issue| {
        !issue.status().is_terminal() && issue.assignee.agent() == Some(run.agent)
    }))
}

/// Queues the work of a lost run once more, unless it was retried recently. What was lost with its
/// server before its program began is always queued: nobody has heard of it yet.
fn retry_lost(tx: &mut dyn Tx, ctx: &Context<'_>, run: &Run) -> Result<(), StoreError> {
    let last = tx
        .engine()
        .last_retry_of(run.scope(), run.agent, run.issue)?;
    let is_recent = last.is_some_and(|last| ctx.now.since(last) < RETRY_SPACING);
    // What workforce itself fails at may fail for ever.
    let is_unheard = !run.has_begun() && run.error_code != Some(RunErrorCode::Internal);
    if is_recent && !is_unheard {
        return Ok(());
    }
    let not_before = is_recent.then(|| ctx.now.plus(UNBEGUN_PAUSE));
    queue_again(tx, ctx, run, WakeReason::ProcessLostRetry, not_before)
}

/// Queues the work of an ended run once more, with what its wake told, if it is still to be done
/// by the same agent.
pub(super) fn queue_again(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    run: &Run,
    reason: WakeReason,
    not_before: Option<Timestamp>,
) -> Result<(), StoreError> {
    if !is_still_its_own(tx, run)? {
        return Ok(());
    }
    let Some(agent) = tx.agents().find(run.scope().into(), run.agent)? else {
        return Ok(());
    };
    let told = tx.runs().wake_of(run.scope(), run.id)?;
    let (payload, comments) = told.map_or_else(Default::default, |it| (it.payload, it.comments));
    let request = WakeRequest {
        agent: &agent,
        issue: run.issue,
        kind: run.kind,
        source: WakeSource::Automation,
        reason,
        comments,
        payload,
        not_before,
    };
    wakes::request(tx, ctx, request)?;
    Ok(())
}
