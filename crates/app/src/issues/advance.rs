//! How a governed issue with children comes to its end
//! (docs/issues.md#governed-issues).

use workforce_domain::actor::CompanyOwned;
use workforce_domain::issue::{Issue, IssueStatus};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Failure, Locked, Reads, StoreError, Tx};
use workforce_domain::string_enum::StringEnum;

use super::status::Rewrite;
use super::{IssueError, OpenChild, assignment};
use crate::context::Context;

/// So many open children are named in a refusal.
const NAMED: usize = 50;

/// An agent asks for the end or the review of a governed issue that has no parent.
/// Only the board ends it, so that it waits in review. Returns the status that is
/// taken, and what it took the place of.
///
/// # Errors
/// [`IssueError::ChildrenOpen`]
pub(super) fn requested(
    tx: &mut dyn Tx,
    issue: &Issue,
    asked: IssueStatus,
) -> Result<(IssueStatus, Option<Rewrite>), Failure<IssueError>> {
    require_children_ended(tx.reads(), issue)?;
    let rewritten = (asked == IssueStatus::Done).then(|| Rewrite::of(asked, "approval_required"));
    Ok((IssueStatus::InReview, rewritten))
}

/// The last open child of an issue has ended, and one of them at least is done.
pub(super) fn children_ended(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    parent: &Locked<Issue>,
) -> Result<(), StoreError> {
    assignment::wake_for_children(tx, ctx, parent)
}

/// Refuses while children of an issue are open.
pub(super) fn require_children_ended(
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
