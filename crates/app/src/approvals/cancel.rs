use workforce_domain::id::ApprovalId;
use workforce_domain::port::{Failure, Tx};

use super::error::{ApprovalError, not_pending};
use super::lookup::{lock, require_requester, seen};
use super::view::ApprovalView;
use super::{execution, hire, issue_effects, links, read};
use crate::approval_records::{append_cancelled, release_worktrees, save_transition};
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// What [`cancel`] refuses with.
pub const CANCEL: Codes = Codes::of(&[Code::ApprovalNotPending, Code::ExecutionInProgress]);

/// Withdraws an approval: whoever asked, or the board. What waited for it is
/// work again, and a draft ends.
pub fn cancel(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ApprovalId,
) -> Result<ApprovalView, Failure<ApprovalError>> {
    let found = seen(tx, ctx, id)?;
    require_requester(ctx, &found)?;
    ctx.require_working_company()?;
    let requester = issue_effects::lock_requester(tx, &found)?;
    let draft = hire::lock_draft_of(tx, &found)?;
    let mut issues = links::lock_of(tx, &found)?;
    let mut approval = lock(tx, &found)?;
    let from = approval.status();
    execution::require_idle(tx, ctx, &approval)?;
    approval.state = approval
        .state
        .cancel(ctx.now)
        .map_err(|refused| not_pending(id, refused))?;
    approval.updated_at = ctx.now;
    save_transition(tx, &mut approval, from)?;
    append_cancelled(tx, ctx, &mut approval, "withdrawn")?;
    hire::discard(tx, ctx, draft)?;
    release_worktrees(tx, ctx, &approval)?;
    issue_effects::unblock_issues(tx, ctx, &approval, &mut issues, requester.as_ref())?;
    Ok(read::view(tx.reads(), ctx, approval.into_inner())?)
}
