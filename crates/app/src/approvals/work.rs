//! The work that the board is shown before it lets it be pushed. Nothing is pushed that it was
//! not shown (docs/tickets.md#pull-requests).

use serde_json::{Value, json};
use workforce_domain::Document;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::approval::{Approval, ApprovalStatus};
use workforce_domain::id::{ApprovalId, ExecutionWorkspaceId};
use workforce_domain::issue::Issue;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Failure, Locked, Reads, StoreError, Tx};

use super::error::ApprovalError;
use super::lookup::require_requester;
use super::{execution, read, revised};
use crate::context::Context;
use crate::tickets;

/// Where a payload shows the work: a row for each worktree.
pub(super) const WORK: &str = "work";
/// Which worktree a row is about.
const WORKTREE: &str = "executionWorkspaceId";

/// The commit up to which an approval shows the work in a worktree, if it does.
pub fn shown_commit(approval: &Approval, worktree: ExecutionWorkspaceId) -> Option<&str> {
    let rows = approval.payload.get(WORK)?.as_array()?;
    let id = worktree.to_string();
    let is_of = |row: &&Value| row.get(WORKTREE).and_then(Value::as_str) == Some(&id);
    rows.iter().find(is_of)?.get("commit")?.as_str()
}

/// Shows the board work that it has not seen, in the midst of the steps of its approval; false
/// when the execution is not this attempt's any more.
pub fn show_again(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    id: ApprovalId,
    attempt: i32,
    rows: &[Value],
) -> Result<bool, StoreError> {
    let Some((mut approval, _)) = execution::lock_live(tx, company, id, attempt)? else {
        return Ok(false);
    };
    if approval.status().is_terminal() {
        return Ok(false);
    }
    show(tx, ctx, &mut approval, rows)?;
    Ok(true)
}

/// Shows the work as it is now in an approval that is not decided.
pub(super) fn show(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &mut Locked<Approval>,
    rows: &[Value],
) -> Result<(), StoreError> {
    let mut payload = approval.payload.clone();
    put(&mut payload, rows);
    revised::edit(tx, ctx, approval, payload)
}

/// An approval that is asked for again while the board has not decided: it shows the work as
/// it is now.
pub(super) fn shown_anew(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    same: Approval,
    rows: &[Value],
) -> Result<Approval, StoreError> {
    let is_pending = same.status() == ApprovalStatus::Pending;
    if rows.is_empty() || !is_pending || !same.kind.pushes() {
        return Ok(same);
    }
    let Some(mut approval) = tx.approvals_mut().lock(same.scope().into(), same.id)? else {
        return Err(StoreError::Contended);
    };
    if approval.status() != ApprovalStatus::Pending {
        return Err(StoreError::Contended);
    }
    show(tx, ctx, &mut approval, rows)?;
    Ok(approval.into_inner())
}

/// Puts rows into a payload, each in the place of the one about the same worktree.
pub(super) fn put(payload: &mut Document, rows: &[Value]) {
    if rows.is_empty() {
        return;
    }
    let known = payload.get(WORK).and_then(Value::as_array);
    let mut all = known.cloned().unwrap_or_default();
    for row in rows {
        let is_same = |known: &&mut Value| known.get(WORKTREE) == row.get(WORKTREE);
        match all.iter_mut().find(is_same) {
            Some(known) => known.clone_from(row),
            None => all.push(row.clone()),
        }
    }
    payload.insert(WORK.to_owned(), json!(all));
}

/// The issue whose work must be looked at before an approval is sent again: that of a pull
/// request, where it has a worktree. Whatever else is wrong is told when it is sent.
pub fn resubmitted_issue(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: ApprovalId,
) -> Result<Option<Issue>, Failure<ApprovalError>> {
    let approval = read::find(reads, ctx, id)?;
    require_requester(ctx, &approval)?;
    let is_wanted = approval.status() == ApprovalStatus::RevisionRequested;
    let primary = approval.primary_issue;
    let Some(issue) = primary.filter(|_| is_wanted && approval.kind.pushes()) else {
        return Ok(None);
    };
    let issue = reads
        .issues()
        .find(approval.scope().into(), &issue.into())?;
    let Some(issue) = issue.filter(|issue| !issue.status().is_terminal()) else {
        return Ok(None);
    };
    let brought = tickets::brought_by(reads, &issue)?;
    Ok((!brought.is_empty()).then_some(issue))
}
