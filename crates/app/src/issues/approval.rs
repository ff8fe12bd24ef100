//! Issues and the approvals over them: what a plan that is not decided keeps
//! from being done, and what decisions do (docs/approvals.md#pending-plans).

use serde_json::{Value, json};
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::change::{Change, Replace};
use workforce_domain::id::{CommentId, IssueId};
use workforce_domain::issue::{Comment, Issue, IssueStatus, Mover};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Failure, Locked, Reads, StoreError, Tx};
use workforce_domain::text::CommentBody;

use super::update_command::UpdateIssue;
use super::{IssueError, status, working_run};
use crate::activity_log::{log_activity, log_change};
use crate::approval_records;
use crate::context::Context;

/// Refuses while a plan over the issue is undecided.
pub(super) fn require_decided(
    reads: &mut dyn Reads,
    company: CompanyScope,
    issue: IssueId,
) -> Result<(), Failure<IssueError>> {
    match reads.approvals().undecided_blocking(company, issue)? {
        Some(approval) => Err(Failure::Refused(IssueError::ApprovalPending { approval })),
        None => Ok(()),
    }
}

/// Refuses a change that begins work, gives it to somebody or moves it to
/// another place of the hierarchy, where a plan waits to be decided.
pub(super) fn require_none_in_the_way(
    tx: &mut dyn Tx,
    issue: &Issue,
    command: &UpdateIssue,
) -> Result<(), Failure<IssueError>> {
    if issue.status().is_terminal() {
        return Ok(());
    }
    let begins = command.status == Replace::Set(IssueStatus::InProgress)
        && issue.status() != IssueStatus::InProgress;
    let assigns = match command.assignee_agent_id {
        Change::Set(agent) => issue.assignee.agent() != Some(agent),
        Change::Keep | Change::Clear => false,
    };
    let company = issue.scope();
    // One that does not exist is refused where the issue is moved.
    let new_parent = match &command.parent_id {
        Change::Set(parent) => tx.issues().find(company.into(), parent)?.map(|it| it.id),
        Change::Clear | Change::Keep => None,
    };
    let moves = match &command.parent_id {
        Change::Set(_) => new_parent.is_some() && issue.parent != new_parent,
        Change::Clear => issue.parent.is_some(),
        Change::Keep => false,
    };
    if begins || assigns || moves {
        require_decided(tx.reads(), company, issue.id)?;
    }
    match new_parent {
        Some(parent) if moves => require_decided(tx.reads(), company, parent),
        _ => Ok(()),
    }
}

/// Ends issues as done, because the board agreed to it; `details` says why for
/// each. They are locked, the younger ones first, and so are their parents.
pub(crate) fn complete(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issues: &mut [Locked<Issue>],
    details: impl Fn(&Issue) -> Value,
) -> Result<(), Failure<IssueError>> {
    end(tx, ctx, issues, IssueStatus::Done, None, details)
}

/// Ends issues as [`complete`] does, as done or cancelled. Nobody waits for them at `above`,
/// which ends with them.
pub(super) fn end(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issues: &mut [Locked<Issue>],
    to: IssueStatus,
    above: Option<IssueId>,
    details: impl Fn(&Issue) -> Value,
) -> Result<(), Failure<IssueError>> {
    let Some(company) = issues.first().map(|issue| issue.scope()) else {
        return Ok(());
    };
    let ended: Vec<IssueId> = issues.iter().map(|issue| issue.id).collect();
    let mut parents: Vec<Locked<Issue>> = Vec::new();
    for parent in issues.iter().filter_map(|issue| issue.parent) {
        if Some(parent) == above || ended.contains(&parent) {
            continue;
        }
        if parents.iter().all(|known| known.id != parent) {
            parents.extend(tx.issues_mut().lock(company.into(), &parent.into())?);
        }
    }
    // In the order of locks: all issues, then approvals, then runs.
    let mut moves = Vec::with_capacity(issues.len());
    for issue in issues.iter_mut() {
        let moved = issue.progress.transition_to(Mover::Board, to, ctx.now)?;
        issue.progress = moved.progress;
        issue.settle_review();
        issue.updated_at = ctx.now;
        tx.issues_mut().save(issue)?;
        moves.push(moved.from);
    }
    approval_records::cancel_orphaned(tx, ctx, company, &ended)?;
    for (issue, from) in issues.iter_mut().zip(moves) {
        working_run::stop(tx, ctx, issue)?;
        tx.issues_mut().end_lease(issue)?;
        let mut details = details(issue);
        details["from"] = json!(from);
        details["to"] = json!(to);
        log_change(tx, ctx, Action::IssueUpdated, issue, details);
    }
    for parent in &mut parents {
        status::child_ended(tx, ctx, parent)?;
    }
    Ok(())
}

/// Writes a comment that wakes nobody: the wake of the decision carries it.
pub(crate) fn remark(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Locked<Issue>,
    body: CommentBody,
) -> Result<CommentId, StoreError> {
    let comment = Comment {
        id: ctx.id(),
        company: issue.company,
        issue: issue.id,
        author: ctx.actor().author(),
        run: ctx.actor().run(),
        body,
        mentions: Vec::new(),
        review: None,
        position: None,
        created_at: ctx.now,
    };
    tx.comments_mut().insert(&comment)?;
    let details = json!({ "commentId": comment.id, "mentions": [] });
    log_activity(tx, ctx, Action::IssueCommentAdded, issue, details);
    Ok(comment.id)
}
