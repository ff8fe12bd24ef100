use serde_json::json;
use workforce_domain::actor::CompanyScope;
use workforce_domain::approval::ExecutionStep;
use workforce_domain::id::ExecutionWorkspaceId;
use workforce_domain::port::{Failure, StepFailure, StepFault, StoreError, Tx};
use workforce_domain::time::Timestamp;

use super::super::execution::LEASE;
use crate::activity_log::document;
use crate::context::Context;

/// What becomes of a worktree that workforce itself works in already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It is left to whoever works there.
    Idle,
    /// It changes hands: whoever works there is done soon, and lets no run in then.
    Over,
}

/// Who works in a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occupant {
    /// A run.
    Run(StepFailure),
    /// workforce itself, for something else.
    Workforce(StepFailure),
}

impl Occupant {
    /// The step that failed for it: [`StepFault::WorkspaceBusy`].
    pub fn failure(self) -> StepFailure {
        match self {
            Self::Run(failure) | Self::Workforce(failure) => failure,
        }
    }
}

/// Keeps runs out of worktrees while workforce itself commits and merges there: until
/// when, which stands for this hold alone. They are locked by their id.
///
/// # Errors
/// [`Occupant`] while somebody else works in one of them.
pub fn hold(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    worktrees: &[ExecutionWorkspaceId],
    claim: Claim,
) -> Result<Timestamp, Failure<Occupant>> {
    let until = ctx.now.plus(LEASE);
    for id in sorted(worktrees) {
        let locked = tx.execution_workspaces_mut().lock(company.into(), id)?;
        let Some(mut worktree) = locked else {
            continue;
        };
        if let Some(run) = tx.execution_workspaces().live_run(company, id)? {
            let facts = json!({ "runId": run, "executionWorkspaceId": id });
            let busy = busy("a run works in the worktree", facts);
            return Err(Failure::Refused(Occupant::Run(busy)));
        }
        let is_held = worktree.held_until.is_some_and(|until| until > ctx.now);
        if is_held && claim == Claim::Idle {
            let facts = json!({ "executionWorkspaceId": id });
            let busy = busy("workforce itself works in the worktree", facts);
            return Err(Failure::Refused(Occupant::Workforce(busy)));
        }
        worktree.held_until = Some(until);
        worktree.held_by = Some(ctx.server);
        tx.execution_workspaces_mut().save(&worktree)?;
    }
    Ok(until)
}

fn busy(message: &str, facts: serde_json::Value) -> StepFailure {
    StepFailure {
        step: ExecutionStep::Commit,
        fault: StepFault::WorkspaceBusy,
        message: message.into(),
        details: document(facts),
    }
}

/// Keeps runs out of worktrees for longer; false when one of them has changed hands, or
/// is gone.
pub fn prolong(
    tx: &mut dyn Tx,
    company: CompanyScope,
    worktrees: &[ExecutionWorkspaceId],
    from: Timestamp,
    to: Timestamp,
) -> Result<bool, StoreError> {
    let mut all = true;
    for id in sorted(worktrees) {
        let locked = tx.execution_workspaces_mut().lock(company.into(), id)?;
        match locked.filter(|it| it.held_until == Some(from)) {
            Some(mut worktree) => {
                worktree.held_until = Some(to);
                tx.execution_workspaces_mut().save(&worktree)?;
            }
            None => all = false,
        }
    }
    Ok(all)
}

/// Renews a hold: until when it lasts now. `None` when a worktree has changed hands.
pub fn renew_hold(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    worktrees: &[ExecutionWorkspaceId],
    until: Timestamp,
) -> Result<Option<Timestamp>, StoreError> {
    let to = ctx.now.plus(LEASE);
    let is_own = prolong(tx, company, worktrees, until, to)?;
    Ok(is_own.then_some(to))
}

/// Lets runs into worktrees again, but for those that have changed hands.
pub fn release(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    worktrees: &[ExecutionWorkspaceId],
    until: Timestamp,
) -> Result<(), StoreError> {
    for id in sorted(worktrees) {
        let locked = tx.execution_workspaces_mut().lock(company.into(), id)?;
        if let Some(mut worktree) = locked.filter(|it| it.held_until == Some(until)) {
            worktree.held_until = None;
            tx.execution_workspaces_mut().save(&worktree)?;
        }
    }
    // A run may wait for it.
    ctx.signal.raise();
    Ok(())
}

fn sorted(worktrees: &[ExecutionWorkspaceId]) -> Vec<ExecutionWorkspaceId> {
    let mut worktrees = worktrees.to_vec();
    worktrees.sort_unstable();
    worktrees
}
