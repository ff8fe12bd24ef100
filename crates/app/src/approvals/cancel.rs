use serde_json::json;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::agent::Agent;
use workforce_domain::approval::{Approval, ApprovalHistoryKind, ApprovalType};
use workforce_domain::board::Author;
use workforce_domain::id::{ApprovalId, IssueId};
use workforce_domain::issue::Issue;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Failure, Locked, StoreError, Tx};

use super::{
    ApprovalError, ApprovalView, effects, hire, history, links, lock, not_pending, read,
    require_requester, seen, store,
};
use crate::access::denied;
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// What [`cancel`] refuses with.
pub const CANCEL: Codes = Codes::of(&[Code::ApprovalNotPending]);

/// Withdraws an approval: whoever asked, or the board. What waited for it is
/// work again, and a draft ends.
pub fn cancel(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ApprovalId,
) -> Result<ApprovalView, Failure<ApprovalError>> {
    let found = seen(tx, ctx, id)?;
    require_requester(ctx, &found)?;
    ctx.require_working_company().map_err(denied)?;
    let requester = effects::lock_requester(tx, &found)?;
    let draft = hire::lock_draft_of(tx, &found)?;
    let mut issues = links::lock_of(tx, &found)?;
    let mut approval = lock(tx, &found)?;
    let from = approval.status();
    approval.state = approval
        .state
        .cancel(ctx.now)
        .map_err(|refused| not_pending(id, refused))?;
    approval.updated_at = ctx.now;
    store(tx, &approval, from)?;
    tell(tx, ctx, &mut approval, "withdrawn")?;
    hire::discard(tx, ctx, draft)?;
    effects::released(tx, ctx, &approval, &mut issues, requester.as_ref())?;
    Ok(read::view(tx.reads(), ctx, approval.into_inner())?)
}

fn tell(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &mut Locked<Approval>,
    reason: &str,
) -> Result<(), StoreError> {
    let (kind, details) = (ApprovalHistoryKind::Cancelled, json!({ "reason": reason }));
    history::tell(tx, ctx, approval, kind, None, details)
}

/// Cancels an approval that has lost its object, if it is undecided still.
fn drop_undecided(
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
    store(tx, &approval, from)?;
    tell(tx, ctx, &mut approval, reason)
}

/// Cancels the undecided approvals whose last open issue was `issue`
/// (docs/approvals.md#cancellation). Call it when the issue has ended, or before
/// it is deleted. A hire goes on: its object is the draft, whatever becomes of
/// the issue that it was thought for.
pub fn issue_leaves(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Locked<Issue>,
) -> Result<(), StoreError> {
    let company = issue.scope();
    for approval in tx.approvals().undecided_linked_to(company, issue.id)? {
        if approval.kind == ApprovalType::HireAgent {
            continue;
        }
        // Of two issues that end at once, the lock on the approval makes one the last, which sees
        // that the other has ended.
        let Some(held) = tx.approvals_mut().lock(company.into(), approval.id)? else {
            continue;
        };
        let mut others = links::of(tx.reads(), &held)?;
        others.retain(|other| *other != issue.id);
        let others = tx.issues().find_all(company, &others)?;
        if others.iter().all(|other| other.status().is_terminal()) {
            drop_undecided(tx, ctx, held, "issues_ended")?;
        }
    }
    Ok(())
}

/// Cancels the older plans that a new plan over `issues` replaces: those of
/// the same requester, or any when the board files it, whose issues are all
/// among the new plan's.
pub(super) fn overtaken(
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
    for approval in older {
        let linked = links::of(tx.reads(), &approval)?;
        if linked.iter().all(|issue| issues.contains(issue))
            && let Some(held) = tx.approvals_mut().lock(company.into(), approval.id)?
        {
            drop_undecided(tx, ctx, held, "superseded")?;
        }
    }
    Ok(())
}

/// Cancels the approval of a draft that was terminated.
pub fn draft_terminated(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    draft: &Locked<Agent>,
) -> Result<(), StoreError> {
    let company = draft.scope();
    let Some(approval) = tx.approvals().find_by_draft(company, draft.id)? else {
        return Ok(());
    };
    match tx.approvals_mut().lock(company.into(), approval)? {
        Some(held) => drop_undecided(tx, ctx, held, "draft_terminated"),
        None => Ok(()),
    }
}
