//! Cancels approvals that are undecided and have lost their object.

use serde_json::json;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::agent::Agent;
use workforce_domain::approval::{Approval, ApprovalHistoryKind, ApprovalType};
use workforce_domain::board::Author;
use workforce_domain::id::IssueId;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Locked, StoreError, Tx};

use super::save::save_transition;
use super::worktrees::release_worktrees;
use super::{history, linked_issues};
use crate::context::Context;

/// Writes down that an approval was cancelled.
pub(crate) fn append_cancelled(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &mut Locked<Approval>,
    reason: &str,
) -> Result<(), StoreError> {
    let (kind, details) = (ApprovalHistoryKind::Cancelled, json!({ "reason": reason }));
    history::append(tx, ctx, approval, kind, None, details)
}

/// Cancels an approval that has lost its object, if it is undecided still.
fn cancel_undecided(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    mut approval: Locked<Approval>,
    reason: &str,
) -> Result<(), StoreError> {
    let from = approval.status();
    let Ok(cancelled) = approval.state.cancel(ctx.now) else {
        return Ok(());
    };
    approval.state = cancelled;
    approval.updated_at = ctx.now;
    save_transition(tx, &mut approval, from)?;
    append_cancelled(tx, ctx, &mut approval, reason)?;
    release_worktrees(tx, ctx, &approval)
}

/// Cancels the undecided approvals whose last open issues were `ended`
/// (docs/approvals.md#cancellation). Call it when the issues have ended, or before
/// they are deleted. A hire goes on: its object is the draft, whatever becomes of
/// the issue that it was thought for.
pub(crate) fn cancel_orphaned(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    ended: &[IssueId],
) -> Result<(), StoreError> {
    let mut orphaned: Vec<Locked<Approval>> = Vec::new();
    for issue in ended {
        for approval in tx.approvals().undecided_linked_to(company, *issue)? {
            let is_known = orphaned.iter().any(|known| known.id == approval.id);
            if is_known || approval.kind == ApprovalType::HireAgent {
                continue;
            }
            // Of two issues that end at once, the lock on the approval makes one the last, which
            // sees that the other has ended.
            let Some(locked) = tx.approvals_mut().lock(company.into(), approval.id)? else {
                continue;
            };
            let mut others = linked_issues::of(tx.reads(), &locked)?;
            others.retain(|other| !ended.contains(other));
            let others = tx.issues().find_all(company, &others)?;
            if others.iter().all(|other| other.status().is_terminal()) {
                orphaned.push(locked);
            }
        }
    }
    cancel_all(tx, ctx, orphaned, "issues_ended")
}

/// Cancels approvals that were locked, all of them before anything that is locked
/// after approvals.
fn cancel_all(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approvals: Vec<Locked<Approval>>,
    reason: &str,
) -> Result<(), StoreError> {
    for approval in approvals {
        cancel_undecided(tx, ctx, approval, reason)?;
    }
    Ok(())
}

/// Cancels the older plans that a new plan over `issues` replaces: those of
/// the same requester, or any when the board files it, whose issues are all
/// among the new plan's.
pub(crate) fn cancel_replaced_plans(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    requested_by: Author,
    issues: &[IssueId],
) -> Result<(), StoreError> {
    let mut older: Vec<Approval> = Vec::new();
    for issue in issues {
        for approval in tx.approvals().undecided_linked_to(company, *issue)? {
            let own = ctx.actor().is_board() || approval.requested_by == requested_by;
            let known = older.iter().any(|it| it.id == approval.id);
            if approval.kind == ApprovalType::ApproveIssuePlan && own && !known {
                older.push(approval);
            }
        }
    }
    let mut replaced = Vec::new();
    for approval in older {
        let linked = linked_issues::of(tx.reads(), &approval)?;
        if linked.iter().all(|issue| issues.contains(issue)) {
            replaced.extend(tx.approvals_mut().lock(company.into(), approval.id)?);
        }
    }
    cancel_all(tx, ctx, replaced, "superseded")
}

/// Cancels what the board was asked for the end of a ticket before it is asked for
/// something else.
pub(crate) fn cancel_replaced_ends(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    issue: IssueId,
    by: ApprovalType,
) -> Result<(), StoreError> {
    let mut replaced = Vec::new();
    for approval in tx.approvals().undecided_linked_to(company, issue)? {
        if approval.kind.ends_issues()
            && approval.kind != by
            && approval.primary_issue == Some(issue)
        {
            replaced.extend(tx.approvals_mut().lock(company.into(), approval.id)?);
        }
    }
    cancel_all(tx, ctx, replaced, "superseded")
}

/// Cancels the approval of a draft that was terminated.
pub(crate) fn cancel_for_terminated_draft(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    draft: &Locked<Agent>,
) -> Result<(), StoreError> {
    let company = draft.scope();
    let Some(approval) = tx.approvals().find_by_draft(company, draft.id)? else {
        return Ok(());
    };
    match tx.approvals_mut().lock(company.into(), approval)? {
        Some(locked) => cancel_undecided(tx, ctx, locked, "draft_terminated"),
        None => Ok(()),
    }
}
