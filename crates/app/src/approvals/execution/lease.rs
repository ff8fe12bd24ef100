//! Whoever takes the steps of an execution has a lease on it, and renews it while it
//! works. A server that stopped, or stood still for too long, has lost it to whoever
//! asks next.

use std::time::Duration;

use workforce_domain::Document;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::approval::{Approval, ApprovalExecution, ExecutionState};
use workforce_domain::id::ApprovalId;
use workforce_domain::port::{Failure, Locked, StepFailure, StepFault, StoreError, Tx};
use workforce_domain::time::Timestamp;

use super::super::advance;
use super::live::{lock_live, write_failure};
use crate::context::Context;
use crate::tickets;

/// What a server does outside of the store counts as given up after so long without a
/// sign of life.
pub const LEASE: Duration = Duration::from_secs(60);

/// How often a server gives a sign of life.
pub const RENEW_EVERY: Duration = Duration::from_secs(15);

/// Renews the lease on an execution, and keeps runs out of its worktrees for as long;
/// false when the execution is not this attempt's any more, and then nothing more may
/// be done for it.
pub fn renew(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    id: ApprovalId,
    attempt: i32,
) -> Result<bool, StoreError> {
    let Some((approval, mut execution)) = lock_live(tx, company, id, attempt)? else {
        return Ok(false);
    };
    prolong(tx, ctx, &approval, &mut execution)?;
    tx.approvals_mut().save_execution(&approval, &execution)?;
    Ok(true)
}

/// Has a lease last for its full time again, without storing the execution yet.
pub(super) fn prolong(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &Locked<Approval>,
    execution: &mut ApprovalExecution,
) -> Result<(), StoreError> {
    let until = ctx.now.plus(LEASE);
    let before = execution.lease_expires_at.replace(until);
    move_holds(tx, ctx, approval, before, Some(until))
}

/// Ends a lease, without storing the execution yet.
pub(super) fn end(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &Locked<Approval>,
    execution: &mut ApprovalExecution,
) -> Result<(), StoreError> {
    let before = execution.lease_expires_at.take();
    move_holds(tx, ctx, approval, before, None)
}

/// The worktrees that are pushed from are held for as long as the lease lasts.
fn move_holds(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &Locked<Approval>,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
) -> Result<(), StoreError> {
    let Some(from) = from else {
        return Ok(());
    };
    let pushed = tickets::pushed_from(tx.reads(), approval)?;
    let pushed: Vec<_> = pushed.into_iter().map(|worktree| worktree.id).collect();
    let company = approval.scope();
    match to {
        Some(to) => advance::prolong(tx, company, &pushed, from, to).map(drop),
        None => advance::release(tx, ctx, company, &pushed, from),
    }
}

/// Gives up an execution that no server goes on with, unless it gave a sign of life
/// since it was found.
pub fn abandon(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    abandoned: &ApprovalExecution,
) -> Result<(), Failure<std::convert::Infallible>> {
    let company = abandoned.scope();
    let found = lock_live(tx, company, abandoned.approval, abandoned.attempts)?;
    let Some((approval, mut execution)) =
        found.filter(|(_, it)| it.lease_expires_at == abandoned.lease_expires_at)
    else {
        return Ok(());
    };
    end(tx, ctx, &approval, &mut execution)?;
    write_interruption(tx, ctx, &approval, execution)?;
    Ok(())
}

/// Gives up an execution that its own server breaks off: what is told of it, or `None`
/// when it is not this attempt's any more.
pub fn interrupt(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    id: ApprovalId,
    attempt: i32,
) -> Result<Option<StepFailure>, StoreError> {
    let Some((approval, mut execution)) = lock_live(tx, company, id, attempt)? else {
        return Ok(None);
    };
    end(tx, ctx, &approval, &mut execution)?;
    let failure = interruption(&execution);
    write_failure(tx, ctx, &approval, execution, &failure)?;
    Ok(Some(failure))
}

/// Gives up an execution whose lease is over, before somebody else decides.
pub(super) fn give_up_expired(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &Locked<Approval>,
    execution: ApprovalExecution,
) -> Result<ApprovalExecution, StoreError> {
    if execution.state != ExecutionState::Executing {
        return Ok(execution);
    }
    // Whatever it held is over as well.
    write_interruption(tx, ctx, approval, execution)
}

fn write_interruption(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &Locked<Approval>,
    execution: ApprovalExecution,
) -> Result<ApprovalExecution, StoreError> {
    let failure = interruption(&execution);
    write_failure(tx, ctx, approval, execution, &failure)
}

fn interruption(execution: &ApprovalExecution) -> StepFailure {
    StepFailure {
        step: execution.step,
        fault: StepFault::Interrupted,
        message: "the server stopped in the midst of the step; approve again to go on".into(),
        details: Document::new(),
    }
}
