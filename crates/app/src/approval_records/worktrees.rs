use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::{Approval, ApprovalType};
use workforce_domain::execution_workspace::ExecutionWorkspaceStatus;
use workforce_domain::port::{Locked, StoreError, Tx};

use crate::context::Context;

/// Lets go of the worktrees that were reserved for a plan and never worked in.
pub(crate) fn release_worktrees(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &Locked<Approval>,
) -> Result<(), StoreError> {
    let (ApprovalType::ApproveIssuePlan, Some(owner)) = (approval.kind, approval.primary_issue)
    else {
        return Ok(());
    };
    let company = approval.scope();
    let mut worktrees = tx.execution_workspaces().owned_by(company, owner)?;
    worktrees.retain(|it| it.status == ExecutionWorkspaceStatus::Provisioning);
    worktrees.sort_unstable_by_key(|worktree| worktree.id);
    for worktree in worktrees {
        let locked = tx
            .execution_workspaces_mut()
            .lock(company.into(), worktree.id)?;
        if let Some(mut worktree) = locked {
            worktree.status = ExecutionWorkspaceStatus::Removed;
            worktree.updated_at = ctx.now;
            tx.execution_workspaces_mut().save(&worktree)?;
        }
    }
    Ok(())
}
