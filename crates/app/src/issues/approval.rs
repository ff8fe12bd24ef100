//! Issues and the approvals over them: what a plan that is not decided keeps
//! from being done, and what decisions do (docs/approvals.md#pending-plans).

use serde_json::{Value, json};
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::change::{Change, Replace};
use workforce_domain::id::{CommentId, IssueId};
use workforce_domain::issue::{Comment, Issue, IssueStatus};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Failure, Locked, Reads, StoreError, Tx};
use workforce_domain::text::CommentBody;

use super::update_command::UpdateIssue;
use super::{IssueError, status};
use crate::activity_log::{log_activity, log_change};
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

/// Ends an issue as done, because the board agreed to its completion.
pub(crate) fn complete(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &mut Locked<Issue>,
    mut details: Value,
) -> Result<(), Failure<IssueError>> {
    let step = status::transition(tx, ctx, issue, IssueStatus::Done)?;
    issue.updated_at = ctx.now;
    tx.issues_mut().save(issue)?;
    details["from"] = json!(step.moved.from);
    details["to"] = json!(IssueStatus::Done);
    log_change(tx, ctx, Action::IssueUpdated, issue, details);
    Ok(status::after(tx, ctx, &step)?)
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
        created_at: ctx.now,
    };
    tx.comments_mut().insert(&comment)?;
    let details = json!({ "commentId": comment.id, "mentions": [] });
    log_activity(tx, ctx, Action::IssueCommentAdded, issue, details);
    Ok(comment.id)
}
