use serde_json::Value;
use workforce_domain::Document;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::{Approval, ApprovalStatus, ApprovalType};
use workforce_domain::id::ApprovalId;
use workforce_domain::issue::{Issue, IssueStatus};
use workforce_domain::lifecycle::IllegalTransition;
use workforce_domain::port::{Failure, Locked, StoreError, Tx};

use super::error::{ApprovalError, not_pending};
use super::lookup::{lock, require_requester, seen};
use super::submit::resolved;
use super::view::ApprovalView;
use super::{execution, hire, issue_effects, links, payload, read, revised, work};
use crate::access::FieldFault;
use crate::context::Context;
use crate::refusal::{Code, Codes};
use crate::{agents, issues, tickets};

/// What [`resubmit`] refuses with; a draft is checked like a new agent.
pub const RESUBMIT: Codes = Codes::with(
    &[
        Code::ApprovalNotPending,
        Code::ExecutionInProgress,
        Code::InvalidTransition,
        Code::WorkspaceUnavailable,
    ],
    &[agents::INSERT_AGENT],
);

/// Sends an approval again after the board asked for a change: whoever asked,
/// or the board. Without a payload the present one is kept. `work` is what git found of
/// the work that is to be pushed; where nobody could look, that is done soon.
pub fn resubmit(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ApprovalId,
    payload: Option<Document>,
    work: Option<&[Value]>,
) -> Result<ApprovalView, Failure<ApprovalError>> {
    let found = seen(tx, ctx, id)?;
    require_requester(ctx, &found)?;
    ctx.require_working_company()?;
    if found.kind == ApprovalType::HireAgent {
        agents::lock_company(tx, found.scope())?;
    }
    let draft = hire::lock_draft_of(tx, &found)?;
    let mut issues = links::lock_of(tx, &found)?;
    let mut approval = lock(tx, &found)?;
    let from = approval.status();
    execution::require_idle(tx, ctx, &approval)?;
    approval.state = approval
        .state
        .resubmit()
        .map_err(|refused| refusal(id, refused))?;
    let replaced = payload.is_some();
    if let Some(payload) = payload {
        payload::check(tx.reads(), approval.scope(), approval.kind, &payload)?;
        require_same_issue(tx, &approval, &payload)?;
        match draft {
            Some(draft) => hire::revise(tx, ctx, &mut approval, draft, payload)?,
            None => {
                let (by, primary) = (approval.requested_by, approval.primary_issue);
                let shown = approval.payload.get(work::WORK).cloned();
                approval.payload = resolved(tx, approval.kind, by, &issues, primary, payload)?;
                if let Some(shown) = shown.filter(|_| approval.kind.pushes()) {
                    approval.payload.insert(work::WORK.to_owned(), shown);
                }
            }
        }
    }
    if approval.kind.pushes() {
        work::put(&mut approval.payload, work.unwrap_or_default());
    }
    revised::note(tx, ctx, &mut approval, from, replaced)?;
    issue_effects::block_issues(tx, ctx, &approval, &mut issues, false)?;
    if work.is_none() {
        look_soon(tx, ctx, &approval, &issues)?;
    }
    Ok(read::view(tx.reads(), ctx, approval.into_inner())?)
}

/// Has the work of a ticket looked at that nobody could look at when it was sent again, as
/// while its agent still works.
fn look_soon(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    approval: &Locked<Approval>,
    issues: &[Locked<Issue>],
) -> Result<(), StoreError> {
    let ticket = issues
        .iter()
        .find(|it| Some(it.id) == approval.primary_issue);
    let Some(ticket) = ticket.filter(|it| it.status() == IssueStatus::InReview) else {
        return Ok(());
    };
    if tickets::pushed_from(tx.reads(), approval)?.is_empty() {
        return Ok(());
    }
    issues::request_advance(tx, ctx, ticket)
}

/// Replaces what the board was asked for before it decides: whoever asked. What is the same
/// changes nothing.
pub(super) fn rewrite(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ApprovalId,
    payload: Document,
) -> Result<(), Failure<ApprovalError>> {
    let found = seen(tx, ctx, id)?;
    require_requester(ctx, &found)?;
    let issues = links::lock_of(tx, &found)?;
    let mut approval = lock(tx, &found)?;
    if approval.status() != ApprovalStatus::Pending {
        return Err(StoreError::Contended.into());
    }
    execution::require_idle(tx, ctx, &approval)?;
    payload::check(tx.reads(), approval.scope(), approval.kind, &payload)?;
    require_same_issue(tx, &approval, &payload)?;
    let (by, primary) = (approval.requested_by, approval.primary_issue);
    let payload = resolved(tx, approval.kind, by, &issues, primary, payload)?;
    Ok(revised::edit(tx, ctx, &mut approval, payload)?)
}

fn refusal(
    approval: ApprovalId,
    refused: IllegalTransition<ApprovalStatus>,
) -> Failure<ApprovalError> {
    if refused.from == ApprovalStatus::Pending {
        return Failure::Refused(ApprovalError::NotInRevision { approval, refused });
    }
    not_pending(approval, refused)
}

/// An approval stays about the issue it was filed for.
fn require_same_issue(
    tx: &mut dyn Tx,
    approval: &Approval,
    payload: &Document,
) -> Result<(), Failure<ApprovalError>> {
    let named = links::named_in(tx.reads(), approval.scope(), payload)?;
    match named {
        Some(issue)
            if Some(issue.id) != approval.primary_issue && approval.kind.governs_issues() =>
        {
            let message = "names another issue than the approval is about";
            let fault = FieldFault::invalid("/payload/issueId", message);
            Err(fault.into())
        }
        _ => Ok(()),
    }
}
