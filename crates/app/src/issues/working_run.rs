//! The work on an issue while it goes on: whose run it is, the lease it lives
//! by, and how it is stopped.

use workforce_domain::actor::{AgentCredential, CompanyOwned, CompanyScope};
use workforce_domain::id::{AgentId, RunId};
use workforce_domain::issue::{CheckoutConflict, ConflictReason, Issue, Lease};
use workforce_domain::page::PageRequest;
use workforce_domain::port::{Failure, Locked, LockedLiveRun, NewLease, RunFilter, StoreError, Tx};
use workforce_domain::run::{RunErrorCode, RunKind, RunStatus};

use super::{IssueError, read};
use crate::access::Denied;
use crate::context::Context;

/// The run that the caller works in. It is locked, so that it cannot end while it
/// is given a lease, and leave the lease behind. A run that has ended and that a key
/// only names is kept for attribution, and works no more.
pub(super) fn working_run(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
) -> Result<Option<LockedLiveRun>, Failure<IssueError>> {
    let Some((caller, run)) = ctx.agent().and_then(|caller| Some((caller, caller.run()?))) else {
        return Ok(None);
    };
    let found = tx.runs_mut().lock(company.into(), run)?;
    match (found.and_then(|run| run.live()), caller.credential) {
        (Some(live), _) => Ok(Some(live)),
        (None, AgentCredential::Key { .. }) => Ok(None),
        (None, AgentCredential::Run { .. }) => Err(Denied::Forbidden("this run has ended").into()),
    }
}

/// The run that the present lease of an issue says that it belongs to.
///
/// # Errors
/// [`StoreError::Contended`] when the run has just ended, and its lease with it.
pub(super) fn holding_run(
    tx: &mut dyn Tx,
    company: CompanyScope,
    run: RunId,
) -> Result<LockedLiveRun, StoreError> {
    let found = tx.runs_mut().lock(company.into(), run)?;
    found
        .and_then(|run| run.live())
        .ok_or(StoreError::Contended)
}

/// Asks whoever works on an issue to stop, except the caller's own run: the
/// run that holds it and any execution run about it. Runs that only give
/// advice go on. To be called before the lease ends.
pub(super) fn stop(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Locked<Issue>,
) -> Result<(), StoreError> {
    let scope = issue.scope();
    let filter = RunFilter {
        issue: Some(issue.id),
        statuses: vec![RunStatus::Running],
        ..RunFilter::default()
    };
    let about = tx.runs().list(scope, &filter, &PageRequest::first())?.items;
    let mut runs: Vec<RunId> = about
        .into_iter()
        .filter(|run| run.kind == RunKind::Execution)
        .map(|run| run.id)
        .collect();
    let lease = tx.issues().lease(scope, issue.id)?;
    runs.extend(lease.and_then(|lease| lease.holder.run()));
    runs.sort_unstable();
    runs.dedup();
    runs.retain(|run| ctx.actor().run() != Some(*run));
    for id in runs {
        let Some(mut run) = tx.runs_mut().lock(scope.into(), id)? else {
            continue;
        };
        if run.ask_to_stop(RunErrorCode::CancelRequested, ctx.now) {
            tx.runs_mut().save(&run)?;
            ctx.signal.raise();
        }
    }
    Ok(())
}

/// Each change by its holder renews a lease that would run out by itself.
pub(super) fn renew_lease(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Locked<Issue>,
) -> Result<(), StoreError> {
    let Some(caller) = ctx.agent() else {
        return Ok(());
    };
    let lease = tx.issues().lease(issue.scope(), issue.id)?;
    let own = lease.filter(|lease| {
        lease.is_live(ctx.now) && lease.expires_at.is_some() && lease.held_by(caller.agent, None)
    });
    if let Some(lease) = own.and_then(|own| NewLease::renewed(issue, &own, ctx.now)) {
        tx.issues_mut().take_lease(issue, lease)?;
    }
    Ok(())
}

/// While one run works on an issue, another run of the same agent must not
/// move it.
pub(super) fn require_no_other_run(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
    caller: AgentId,
) -> Result<(), Failure<IssueError>> {
    let run = ctx.actor().run();
    let lease = read::live_lease(tx.reads(), ctx, issue.scope(), issue.id)?;
    let other = |lease: &Lease| {
        let holder = lease.holder;
        holder.agent() == caller && run.is_some() && holder.run().is_some_and(|r| Some(r) != run)
    };
    let Some(lease) = lease.filter(other) else {
        return Ok(());
    };
    let conflict = CheckoutConflict {
        reason: ConflictReason::LiveRun,
        status: issue.status(),
        assignee_agent: issue.assignee.agent(),
        holder_agent: Some(lease.holder.agent()),
        holder_run: lease.holder.run(),
        holder_live: true,
        approval: None,
    };
    Err(Failure::Refused(IssueError::Conflict {
        issue: issue.id,
        conflict,
    }))
}
