//! What was done outside of the store for a ticket, in the activity of its issue
//! (docs/tickets.md#the-trail-of-a-ticket).

use serde_json::{Value, json};
use workforce_domain::Document;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::{Approval, ApprovalExecution};
use workforce_domain::execution_workspace::ExecutionWorkspace;
use workforce_domain::port::{Locked, StoreError, Tx};

use crate::activity_log::log_activity;
use crate::context::Context;

/// Where a step says that the forge calls the repository by another name.
const MOVED_TO: &str = "movedTo";

/// By whose word something was done.
#[derive(Clone, Copy)]
pub(crate) enum Cause<'a> {
    /// The work came to its end, and was made ready for the board.
    WorkEnded,
    /// The board approved; and what came of the step.
    Approved(&'a Approval, &'a ApprovalExecution, &'a Document),
}

/// Saves what was done in a worktree and for it, and writes down on the issue that has the
/// worktree what is new of that. What was done before and is found again is not told twice.
pub(crate) fn save_and_tell(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    worktree: &mut Locked<ExecutionWorkspace>,
    cause: Cause<'_>,
) -> Result<(), StoreError> {
    if !worktree.is_changed() {
        return Ok(());
    }
    worktree.updated_at = ctx.now;
    tx.execution_workspaces_mut().save(worktree)?;
    let (Some(former), Some(owner)) = (worktree.take_former(), worktree.owner) else {
        return Ok(());
    };
    let Some(issue) = tx.issues().find(worktree.scope().into(), &owner.into())? else {
        return Ok(());
    };
    for (action, facts) in deeds(&former, worktree) {
        log_activity(tx, ctx, action, &issue, told(worktree, cause, facts));
    }
    Ok(())
}

/// What was done to make a worktree what it is.
fn deeds(former: &ExecutionWorkspace, new: &ExecutionWorkspace) -> Vec<(Action, Value)> {
    let mut deeds = Vec::new();
    let is_made = former.base_commit.is_none() && new.base_commit.is_some();
    if is_made {
        let facts = json!({
            "path": new.path,
            "repository": new.repository_url,
            "baseBranch": new.base_branch,
            "baseCommit": new.base_commit,
        });
        deeds.push((Action::WorktreeCreated, facts));
    } else if new.head_commit != former.head_commit {
        let facts = json!({ "commit": new.head_commit, "formerCommit": former.head_commit });
        deeds.push((Action::WorktreeCommitted, facts));
    }
    if new.pushed_commit != former.pushed_commit {
        let facts = json!({ "commit": new.pushed_commit, "repository": new.repository_url });
        deeds.push((Action::WorktreePushed, facts));
    }
    let former = former.pull_request.as_ref().map(|it| it.number);
    if let Some(opened) = new.pull_request.as_ref()
        && former != Some(opened.number)
    {
        let facts = json!({
            "number": opened.number,
            "url": opened.url,
            "baseBranch": new.base_branch,
        });
        deeds.push((Action::PullRequestOpened, facts));
    }
    deeds
}

fn told(worktree: &ExecutionWorkspace, cause: Cause<'_>, mut facts: Value) -> Value {
    facts["executionWorkspaceId"] = json!(worktree.id);
    facts["ticketKey"] = json!(worktree.ticket_key);
    facts["branch"] = json!(worktree.branch);
    if let Cause::Approved(approval, execution, result) = cause {
        if let Some(moved) = result.get(MOVED_TO) {
            facts[MOVED_TO] = moved.clone();
        }
        facts["approvalId"] = json!(approval.id);
        facts["decidedBy"] = json!(execution.decided_by);
    }
    facts
}
