//! Worktrees of tickets that ended a while ago are removed
//! (docs/tickets.md#clean-up).

use std::time::Duration;

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::execution_workspace::{ExecutionWorkspace, ExecutionWorkspaceStatus};
use workforce_domain::id::ExecutionWorkspaceId;
use workforce_domain::issue::Issue;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{StoreError, Tx};
use workforce_domain::project::Workspace;
use workforce_domain::time::Timestamp;

use super::idle::hold_idle;
use crate::activity_log::log_activity;
use crate::context::Context;

/// A worktree that was kept is looked at again after so long.
const AGAIN: Duration = Duration::from_secs(24 * 60 * 60);
/// And one that could not be looked at.
const SOON: Duration = Duration::from_secs(10 * 60);

/// A worktree that is to be removed.
#[derive(Clone, Debug)]
pub struct CleanUp {
    /// Its record.
    pub worktree: ExecutionWorkspace,
    /// The workspace of the project.
    pub workspace: Workspace,
    /// Until when runs are kept out of it.
    pub held_until: Timestamp,
}

/// What came of an attempt to remove a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CleanUpOutcome {
    /// It is gone; its branch is there.
    Removed,
    /// It is kept.
    Kept {
        /// Why: a stable code.
        reason: String,
        /// The same for people.
        message: String,
    },
    /// Something was in the way that passes by itself.
    PutOff,
}

/// Takes a worktree to remove it, so that nobody else works there; `None` where it is
/// needed.
pub fn begin_clean_up(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    id: ExecutionWorkspaceId,
    ended_by: Timestamp,
) -> Result<Option<CleanUp>, StoreError> {
    let locked = tx.execution_workspaces_mut().lock(company.into(), id)?;
    let Some(mut worktree) = locked.filter(|it| it.clean_up_after <= ctx.now) else {
        return Ok(None);
    };
    let Some(owner) = worktree.owner else {
        return Ok(None);
    };
    let owner = tx.issues().find(company.into(), &owner.into())?;
    if !owner.is_some_and(|issue| ended(&issue, ended_by)) {
        return Ok(None);
    }
    worktree.clean_up_after = ctx.now.plus(SOON);
    let workspace = worktree.project_workspace;
    let workspace = tx.projects().find_workspace(company, workspace)?;
    let open = tx.execution_workspaces().open_issue_in(company, id)?;
    let held = match open {
        Some(_) => None,
        None => hold_idle(tx, ctx, &mut worktree)?,
    };
    tx.execution_workspaces_mut().save(&worktree)?;
    Ok(held.zip(workspace).map(|(held_until, workspace)| CleanUp {
        worktree: (*worktree).clone(),
        workspace,
        held_until,
    }))
}

fn ended(issue: &Issue, by: Timestamp) -> bool {
    let progress = issue.progress.record();
    let at = progress.completed_at.or(progress.cancelled_at);
    issue.status().is_terminal() && at.is_some_and(|at| at <= by)
}

/// Writes down what came of it, and lets runs in again. What is kept is told once for
/// each reason.
pub fn finish_clean_up(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    clean_up: &CleanUp,
    outcome: &CleanUpOutcome,
) -> Result<(), StoreError> {
    let (company, id) = (clean_up.worktree.scope(), clean_up.worktree.id);
    let locked = tx.execution_workspaces_mut().lock(company.into(), id)?;
    let Some(mut worktree) = locked else {
        return Ok(());
    };
    if worktree.held_until == Some(clean_up.held_until) {
        worktree.held_until = None;
        ctx.signal.raise();
    }
    let facts = json!({
        "branch": worktree.branch,
        "ticketKey": worktree.ticket_key,
        "executionWorkspaceId": id,
    });
    let mut told = None;
    match outcome {
        CleanUpOutcome::Removed => {
            worktree.status = ExecutionWorkspaceStatus::Removed;
            worktree.kept_because = None;
            told = Some((Action::WorktreeRemoved, facts));
        }
        CleanUpOutcome::Kept { reason, message } => {
            worktree.clean_up_after = ctx.now.plus(AGAIN);
            if worktree.kept_because.as_ref() != Some(reason) {
                worktree.kept_because = Some(reason.clone());
                let mut facts = facts;
                facts["reason"] = json!(reason);
                facts["error"] = json!(message);
                told = Some((Action::WorktreeKept, facts));
            }
        }
        CleanUpOutcome::PutOff => {}
    }
    if told.is_some() {
        worktree.updated_at = ctx.now;
    }
    tx.execution_workspaces_mut().save(&worktree)?;
    let (Some((action, details)), Some(owner)) = (told, worktree.owner) else {
        return Ok(());
    };
    if let Some(issue) = tx.issues().find(company.into(), &owner.into())? {
        log_activity(tx, ctx, action, &issue, details);
    }
    Ok(())
}
