use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::issue::IssueRef;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Failure, Tx};

use super::{IssueError, lock, status, working_run};
use crate::activity_log::log_activity;
use crate::approval_records;
use crate::context::Context;

/// Deletes an issue with its comments. For the board. Whoever works on it is
/// asked to stop; its runs and costs stay for the record, its children become
/// top-level issues, and approvals that lose their last open issue are
/// cancelled. Whoever waits for the last child of its parent is told.
pub fn delete(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &IssueRef,
) -> Result<(), Failure<IssueError>> {
    ctx.require_board()?;
    let issue = lock(tx, ctx, issue)?;
    let mut parent = match issue.parent.filter(|_| !issue.status().is_terminal()) {
        Some(parent) => tx.issues_mut().lock(issue.scope().into(), &parent.into())?,
        None => None,
    };
    approval_records::cancel_orphaned(tx, ctx, issue.scope(), &[issue.id])?;
    working_run::stop(tx, ctx, &issue)?;
    tx.issues_mut().end_lease(&issue)?;
    let details = json!({ "title": issue.title, "status": issue.status() });
    log_activity(tx, ctx, Action::IssueDeleted, &issue, details);
    tx.issues_mut().delete(issue, ctx.now)?;
    match &mut parent {
        Some(parent) => Ok(status::child_ended(tx, ctx, parent)?),
        None => Ok(()),
    }
}
