//! Worktrees that cannot be committed or merged as they are.

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::execution_workspace::ExecutionWorkspace;
use workforce_domain::id::{ExecutionWorkspaceId, IssueId};
use workforce_domain::issue::Issue;
use workforce_domain::port::{EmployedAgent, Locked, StepFailure, StoreError, Tx};
use workforce_domain::wake::WakeReason;

use super::lock_assigned;
use crate::activity_log::log_activity;
use crate::context::Context;
use crate::tickets;

/// Has a worktree mended that cannot be committed or merged as it is: its agent is
/// woken so often, then the board is told.
pub fn have_mended(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Locked<Issue>,
    agent: Option<&EmployedAgent>,
    workspace: ExecutionWorkspaceId,
    failure: &StepFailure,
) -> Result<(), StoreError> {
    let company = issue.scope();
    let locked = tx
        .execution_workspaces_mut()
        .lock(company.into(), workspace)?;
    let Some(mut worktree) = locked else {
        return Ok(());
    };
    let mut details = json!({
        "code": failure.fault,
        "error": failure.message,
        "facts": failure.details,
        "branch": worktree.branch,
        "baseBranch": worktree.base_branch,
    });
    let tried = worktree.conflict_wakes;
    let agent = agent.filter(|_| tried < ExecutionWorkspace::MAX_CONFLICT_WAKES);
    let Some(agent) = agent else {
        log_activity(tx, ctx, Action::TicketConflictEscalated, &**issue, details);
        return Ok(());
    };
    worktree.conflict_wakes = tried.saturating_add(1);
    worktree.updated_at = ctx.now;
    tx.execution_workspaces_mut().save(&worktree)?;
    details["attempt"] = json!(worktree.conflict_wakes);
    log_activity(tx, ctx, Action::TicketConflict, &**issue, details.clone());
    let reason = WakeReason::WorkspaceConflictRecovery;
    tickets::wake_agent(tx, ctx, issue, agent, reason, details)
}

/// Has a worktree mended that the board cannot let be pushed.
pub fn mend_for_approval(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    issue: IssueId,
    workspace: ExecutionWorkspaceId,
    failure: &StepFailure,
) -> Result<(), StoreError> {
    let Some((issue, agent)) = lock_assigned(tx, company, issue)? else {
        return Ok(());
    };
    have_mended(tx, ctx, &issue, agent.as_ref(), workspace, failure)
}
