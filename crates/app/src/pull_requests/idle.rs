//! A worktree in which nobody works is kept for workforce alone.

use workforce_domain::actor::CompanyOwned;
use workforce_domain::execution_workspace::{ExecutionWorkspace, ExecutionWorkspaceStatus};
use workforce_domain::port::{Locked, StoreError, Tx};
use workforce_domain::time::Timestamp;

use crate::approvals::execution::LEASE;
use crate::context::Context;

/// Keeps runs out of a locked worktree, without storing that yet: until when. `None`
/// where a run works in it, or somebody else keeps runs out already.
pub(super) fn hold_idle(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    worktree: &mut Locked<ExecutionWorkspace>,
) -> Result<Option<Timestamp>, StoreError> {
    let (company, id) = (worktree.scope(), worktree.id);
    let is_held = worktree.held_until.is_some_and(|until| until > ctx.now);
    if is_held
        || worktree.status != ExecutionWorkspaceStatus::Ready
        || tx.execution_workspaces().live_run(company, id)?.is_some()
    {
        return Ok(None);
    }
    let until = ctx.now.plus(LEASE);
    worktree.held_until = Some(until);
    worktree.held_by = Some(ctx.server);
    Ok(Some(until))
}
