use serde_json::json;
use workforce_domain::actor::CompanyScope;
use workforce_domain::approval::ExecutionStep;
use workforce_domain::id::ExecutionWorkspaceId;
use workforce_domain::port::{Failure, StepFailure, StepFault, StoreError, Tx};

use super::super::execution::LEASE;
use crate::activity_log::document;
use crate::context::Context;

/// Keeps runs out of worktrees while workforce itself commits and merges there. They
/// are locked by their id.
///
/// # Errors
/// [`StepFault::WorkspaceBusy`] while a run works in one of them.
pub fn hold(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    worktrees: &[ExecutionWorkspaceId],
) -> Result<(), Failure<StepFailure>> {
    let mut worktrees = worktrees.to_vec();
    worktrees.sort_unstable();
    for id in worktrees {
        let locked = tx.execution_workspaces_mut().lock(company.into(), id)?;
        let Some(mut worktree) = locked else {
            continue;
        };
        if let Some(run) = tx.execution_workspaces().live_run(company, id)? {
            return Err(Failure::Refused(StepFailure {
                step: ExecutionStep::Commit,
                fault: StepFault::WorkspaceBusy,
                message: "a run works in the worktree".into(),
                details: document(json!({ "runId": run, "executionWorkspaceId": id })),
            }));
        }
        worktree.held_until = Some(ctx.now.plus(LEASE));
        tx.execution_workspaces_mut().save(&worktree)?;
    }
    Ok(())
}

/// Lets runs into worktrees again.
pub fn release(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    worktrees: &[ExecutionWorkspaceId],
) -> Result<(), StoreError> {
    let mut worktrees = worktrees.to_vec();
    worktrees.sort_unstable();
    for id in worktrees {
        let locked = tx.execution_workspaces_mut().lock(company.into(), id)?;
        if let Some(mut worktree) = locked.filter(|it| it.held_until.is_some()) {
            worktree.held_until = None;
            tx.execution_workspaces_mut().save(&worktree)?;
        }
    }
    // A run may wait for it.
    ctx.signal.raise();
    Ok(())
}
