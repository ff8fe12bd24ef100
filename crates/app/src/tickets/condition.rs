//! How a run found the worktree of its ticket (docs/tickets.md#before-a-run).

use serde_json::{Value, json};
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::execution_workspace::WorktreeFinding;
use workforce_domain::id::{ExecutionWorkspaceId, RunId};
use workforce_domain::port::{StoreError, Tx};

use crate::activity_log::log_activity;
use crate::context::Context;

/// Writes down what a run found in its worktree. What was put in order is told each time; what was
/// left as it is once, until it is in order or something else is not.
pub fn note_condition(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    worktree: ExecutionWorkspaceId,
    run: RunId,
    findings: &[WorktreeFinding],
) -> Result<(), StoreError> {
    let locked = tx
        .execution_workspaces_mut()
        .lock(company.into(), worktree)?;
    let Some(mut worktree) = locked else {
        return Ok(());
    };
    let left = findings.iter().find(|finding| !finding.is_mended);
    let disorder = left.map(|finding| finding.disorder);
    let is_news = disorder.is_some() && worktree.disorder != disorder;
    if worktree.disorder != disorder {
        worktree.disorder = disorder;
        worktree.updated_at = ctx.now;
        tx.execution_workspaces_mut().save(&worktree)?;
    }
    let Some(owner) = worktree.owner else {
        return Ok(());
    };
    let Some(issue) = tx.issues().find(worktree.scope().into(), &owner.into())? else {
        return Ok(());
    };
    let facts = |is_mended: bool| -> Value {
        let found: Vec<&WorktreeFinding> = findings
            .iter()
            .filter(|finding| finding.is_mended == is_mended)
            .collect();
        json!({
            "executionWorkspaceId": worktree.id,
            "ticketKey": worktree.ticket_key,
            "branch": worktree.branch,
            "runId": run,
            "found": found,
        })
    };
    if findings.iter().any(|finding| finding.is_mended) {
        log_activity(tx, ctx, Action::WorktreeRestored, &issue, facts(true));
    }
    if is_news {
        log_activity(tx, ctx, Action::WorktreeDisordered, &issue, facts(false));
    }
    Ok(())
}
