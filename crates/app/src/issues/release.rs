use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::issue::{Assignment, IssueRef, IssueStatus};
use workforce_domain::port::{Failure, Tx};

use super::{IssueError, IssueView, lock, read, working_run};
use crate::activity_log::log_change;
use crate::context::Context;
use crate::refusal::{Code, Codes};
use crate::wakes;

/// What [`release`] refuses with.
pub const RELEASE: Codes = Codes::of(&[Code::NotHolder]);

/// Gives an issue back: from in_progress it returns to todo and to nobody, in
/// any other status only the lease ends. Releasing what is free changes
/// nothing. The board may release for anyone, whose run is asked to stop then
/// (docs/issues.md#release).
///
/// # Errors
/// [`IssueError::NotHolder`] when somebody else holds it.
pub fn release(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &IssueRef,
) -> Result<IssueView, Failure<IssueError>> {
    let mut issue = lock(tx, ctx, issue)?;
    ctx.require_working_company()?;
    let lease = tx.issues().lease(issue.scope(), issue.id)?;
    let live = lease.as_ref().filter(|lease| lease.is_live(ctx.now));
    let working = issue.status() == IssueStatus::InProgress;
    if live.is_none() && !working {
        return Ok(read::free(tx.reads(), issue.into_inner())?);
    }
    if let Some(caller) = ctx.agent() {
        let owner = if working {
            issue.assignee.agent()
        } else {
            live.map(|lease| lease.holder.agent())
        };
        // Another run of the same agent may work on it right now.
        let other_run = live
            .and_then(|lease| lease.holder.run())
            .is_some_and(|holder| caller.run().is_some_and(|run| run != holder));
        if owner != Some(caller.agent) || other_run {
            return Err(Failure::Refused(IssueError::NotHolder));
        }
    }
    if ctx.agent().is_none() {
        working_run::stop(tx, ctx, &issue)?;
    }
    tx.issues_mut().end_lease(&issue)?;
    if working {
        if let Some(owner) = issue.assignee.agent() {
            wakes::withdraw(tx, ctx, issue.scope(), owner, issue.id)?;
        }
        issue.progress = issue.progress.release(ctx.now);
        issue.assignee = Assignment::NOBODY;
        issue.settle_review();
        issue.updated_at = ctx.now;
        tx.issues_mut().save(&issue)?;
    }
    let details = json!({ "status": issue.status() });
    log_change(tx, ctx, Action::IssueReleased, &mut issue, details);
    Ok(read::free(tx.reads(), issue.into_inner())?)
}
