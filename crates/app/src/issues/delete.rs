use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::issue::IssueRef;
use workforce_domain::port::{Failure, Tx};

use super::{IssueError, hold, work};
use crate::access::denied;
use crate::approvals;
use crate::call::Call;
use crate::record::record;

/// Deletes an issue with its comments. For the board. Whoever works on it is
/// asked to stop; its runs and costs stay for the record, its children become
/// top-level issues, and approvals that lose their last open issue are
/// cancelled.
///
/// # Errors
/// [`IssueError`]
pub fn delete(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    issue: &IssueRef,
) -> Result<(), Failure<IssueError>> {
    call.require_board().map_err(denied)?;
    let issue = hold(tx, call, issue)?;
    approvals::issue_leaves(tx, call, &issue)?;
    work::stop(tx, call, &issue)?;
    tx.issues_mut().end_lease(&issue)?;
    let details = json!({ "title": issue.title, "status": issue.status() });
    record(tx, call, Action::IssueDeleted, &issue, details);
    tx.issues_mut().delete(issue, call.now)?;
    Ok(())
}
