//! How a governed issue with children comes to its end
//! (docs/issues.md#governed-issues).

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::Approval;
use workforce_domain::execution_workspace::TicketAdvance;
use workforce_domain::id::ApprovalId;
use workforce_domain::issue::{Issue, IssueStatus, Mover};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Failure, Locked, Reads, StoreError, Tx};
use workforce_domain::string_enum::StringEnum;

use super::governance::governance_of;
use super::status::Rewrite;
use super::{IssueError, OpenChild, assignment};
use crate::activity_log::log_change;
use crate::context::Context;
use crate::tickets;

/// So many open children are named in a refusal.
const NAMED: usize = 50;

/// Somebody asks for the end or the review of a ticket. Only the board's decision on an
/// approval ends it, so that it waits in review. Returns the status that is taken, and
/// what it took the place of.
///
/// # Errors
/// [`IssueError::ChildrenOpen`]
pub(super) fn requested(
    tx: &mut dyn Tx,
    issue: &Issue,
    asked: IssueStatus,
) -> Result<(IssueStatus, Option<Rewrite>), Failure<IssueError>> {
    require_children_ended(tx.reads(), issue)?;
    let rewritten = match asked {
        IssueStatus::Done => {
            let pending = undecided_end(tx.reads(), issue)?;
            Some(Rewrite::for_approval(asked, pending))
        }
        _ => None,
    };
    Ok((IssueStatus::InReview, rewritten))
}

/// What the board has been asked for the end of a ticket, and has not decided.
fn undecided_end(reads: &mut dyn Reads, issue: &Issue) -> Result<Option<ApprovalId>, StoreError> {
    let undecided = reads
        .approvals()
        .undecided_linked_to(issue.scope(), issue.id)?;
    let is_end = |it: &&Approval| it.kind.ends_issues() && it.primary_issue == Some(issue.id);
    Ok(undecided.iter().find(is_end).map(|approval| approval.id))
}

/// The last open child of an issue has ended, and one of them at least is done.
pub(super) fn children_ended(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    parent: &mut Locked<Issue>,
) -> Result<(), StoreError> {
    if is_ticket(tx.reads(), parent)? {
        let (by, to) = (Mover::Board, IssueStatus::InReview);
        if let Ok(moved) = parent.progress.transition_to(by, to, ctx.now)
            && moved.is_change()
        {
            parent.progress = moved.progress;
            parent.updated_at = ctx.now;
            tx.issues_mut().save(parent)?;
            let details = json!({ "from": moved.from, "to": to });
            log_change(tx, &ctx.as_system(), Action::IssueUpdated, parent, details);
        }
        request(tx, ctx, parent)?;
    }
    assignment::wake_for_children(tx, ctx, parent)
}

/// True for the issue that a governed ticket belongs to: one at the top, or one with
/// worktrees of its own wherever it stands.
fn is_ticket(reads: &mut dyn Reads, issue: &Issue) -> Result<bool, StoreError> {
    if issue.status().is_terminal() || !governance_of(reads, issue)?.governed {
        return Ok(false);
    }
    Ok(issue.parent.is_none() || brings_worktrees(reads, issue)?)
}

/// True where an issue brings worktrees before the board.
pub(super) fn brings_worktrees(reads: &mut dyn Reads, issue: &Issue) -> Result<bool, StoreError> {
    Ok(!tickets::brought_by(reads, issue)?.is_empty())
}

/// Has the ticket brought before the board: what git must do for it comes first.
pub(crate) fn request(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Locked<Issue>,
) -> Result<(), StoreError> {
    let advance = TicketAdvance {
        issue: issue.id,
        company: issue.company,
        attempts: 0,
        not_before: ctx.now,
        error_code: None,
        error: None,
        created_at: ctx.now,
    };
    tx.execution_workspaces_mut()
        .save_advance(issue, &advance)?;
    ctx.signal.raise();
    Ok(())
}

/// Refuses while children of an issue are open.
pub(crate) fn require_children_ended(
    reads: &mut dyn Reads,
    issue: &Issue,
) -> Result<(), Failure<IssueError>> {
    let company = issue.scope();
    let total = reads.issues().open_children(company, issue.id)?;
    if total == 0 {
        return Ok(());
    }
    let all = IssueStatus::ALL.iter().copied();
    let open: Vec<IssueStatus> = all.filter(|status| !status.is_terminal()).collect();
    let children = reads.issues().children(company, issue.id, &open, NAMED)?;
    Err(Failure::Refused(IssueError::ChildrenOpen {
        issue: issue.id,
        children: children.into_iter().map(OpenChild::from).collect(),
        total,
    }))
}
