//! Comments: what they say, whom they wake (docs/issues.md#comments).

use serde::Deserialize;
use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::Agent;
use workforce_domain::id::AgentId;
use workforce_domain::issue::{Comment, Issue, IssueRef, IssueStatus};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::mention::MentionIndex;
use workforce_domain::page::{Order, Page, PageRequest};
use workforce_domain::port::{CommentCursor, Failure, Locked, Reads, StoreError, Tx};
use workforce_domain::run::RunKind;
use workforce_domain::text::CommentBody;
use workforce_domain::wake::{WakeReason, WakeSource};

use super::{IssueError, assignment, lock, seen, working_run};
use crate::access::Denied;
use crate::activity_log::{document, log_activity, log_change};
use crate::context::Context;
use crate::refusal::{Code, Codes};
use crate::wakes::{self, WakeRequest};

/// Comments on an issue.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AddComment {
    /// What it says, in Markdown. `@name` mentions an agent and wakes it.
    pub body: CommentBody,
    /// Takes an ended issue up again.
    pub reopen: Option<bool>,
    /// Asks the run that works on the issue to stop; for the board.
    pub interrupt: Option<bool>,
}

/// A comment that was added.
pub type Commented = Comment;

/// What [`add_comment`] refuses with.
pub const ADD_COMMENT: Codes = Codes::of(&[Code::BoardRequired, Code::Forbidden]);

/// Comments on an issue. Anyone of the company. Whoever it mentions is woken,
/// its author never.
pub fn add_comment(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &IssueRef,
    command: AddComment,
) -> Result<Commented, Failure<IssueError>> {
    let reopen = command.reopen.unwrap_or(false);
    let former = if reopen {
        let seen = seen(tx.reads(), ctx, issue)?;
        assignment::lock_former(tx, &seen)?
    } else {
        None
    };
    let mut issue = lock(tx, ctx, issue)?;
    ctx.require_working_company()?;
    if command.interrupt == Some(true) {
        ctx.require_board()?;
        working_run::stop(tx, ctx, &issue)?;
    }
    let reopened = reopen && issue.status().is_terminal();
    if reopened {
        assignment::require_stake(tx.reads(), ctx, issue.scope(), &issue, None)?;
        let moved = issue.progress.reopen(IssueStatus::Todo, ctx.now)?;
        issue.progress = moved.progress;
        assignment::require_present(&mut issue, former.as_ref())?;
        issue.updated_at = ctx.now;
        tx.issues_mut().save(&issue)?;
        let details = json!({ "from": moved.from });
        log_change(tx, ctx, Action::IssueReopened, &mut issue, details);
    }
    working_run::renew_lease(tx, ctx, &issue)?;
    let occasion = match reopened {
        true => Occasion::Reopening,
        false => Occasion::Talk,
    };
    insert(tx, ctx, &issue, command.body, occasion)
}

/// What a comment comes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    /// Nothing else.
    Talk,
    /// It has just reopened the issue.
    Reopening,
    /// The issue has just gone back to whoever did the work, who is told in any case.
    Return,
}

/// Writes the comment down and wakes whom it concerns.
pub(super) fn insert(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Locked<Issue>,
    body: CommentBody,
    occasion: Occasion,
) -> Result<Comment, Failure<IssueError>> {
    let comment = Comment {
        id: ctx.id(),
        company: issue.company,
        issue: issue.id,
        author: ctx.actor().author(),
        run: ctx.actor().run(),
        mentions: mentioned(tx, ctx, issue, &body)?,
        body,
        created_at: ctx.now,
    };
    tx.comments_mut().insert(&comment)?;
    let details = json!({ "commentId": comment.id, "mentions": comment.mentions });
    log_activity(tx, ctx, Action::IssueCommentAdded, issue, details);
    wake_mentioned(tx, ctx, issue, &comment)?;
    wake_owner(tx, ctx, issue, &comment, occasion)?;
    Ok(comment)
}

/// The agents a comment mentions, its author left out.
fn mentioned(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
    body: &CommentBody,
) -> Result<Vec<AgentId>, StoreError> {
    // Without a sign of a mention nobody's name is looked up.
    let signs = ['@', '&'];
    if !body.contains(signs) && !body.contains("agent://") {
        return Ok(Vec::new());
    }
    let index = MentionIndex::new(tx.agents().mentionable(issue.scope())?);
    let author = ctx.actor().agent_id();
    Ok(index
        .mentions(body)
        .into_iter()
        .filter(|agent| Some(*agent) != author)
        .collect())
}

fn wake_mentioned(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
    comment: &Comment,
) -> Result<(), StoreError> {
    for id in &comment.mentions {
        let Some(agent) = tx.agents().find(issue.scope().into(), *id)? else {
            continue;
        };
        // A mention calls the assignee to work; everybody else to give advice.
        let owner = issue.assignee.agent() == Some(*id) && !issue.status().is_terminal();
        let kind = if owner {
            RunKind::Execution
        } else {
            RunKind::Consult
        };
        wake(
            tx,
            ctx,
            issue,
            comment,
            &agent,
            kind,
            WakeReason::IssueCommentMentioned,
        )?;
    }
    Ok(())
}

/// The assignee hears of what others write: of people always, of agents only
/// when they mention nobody. A reopened or returned issue is its work again, whoever
/// did that.
fn wake_owner(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
    comment: &Comment,
    occasion: Occasion,
) -> Result<(), StoreError> {
    let Some(owner) = issue.assignee.agent() else {
        return Ok(());
    };
    let author = ctx.actor().agent_id();
    let by_agent_to_others = author.is_some() && !comment.mentions.is_empty();
    let told_already = comment.mentions.contains(&owner);
    let only_recorded = issue.status().is_terminal() || by_agent_to_others || told_already;
    let is_work = match occasion {
        Occasion::Talk => false,
        Occasion::Reopening => true,
        Occasion::Return => !told_already,
    };
    if author == Some(owner) || (only_recorded && !is_work) {
        return Ok(());
    }
    let Some(agent) = tx.agents().find(issue.scope().into(), owner)? else {
        return Ok(());
    };
    let reason = match occasion {
        Occasion::Talk => WakeReason::IssueCommented,
        Occasion::Reopening => WakeReason::IssueReopenedViaComment,
        Occasion::Return => WakeReason::IssueAssigned,
    };
    wake(tx, ctx, issue, comment, &agent, RunKind::Execution, reason)
}

fn wake(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
    comment: &Comment,
    agent: &Agent,
    kind: RunKind,
    reason: WakeReason,
) -> Result<(), StoreError> {
    let request = WakeRequest {
        kind,
        comments: vec![comment.id],
        payload: document(json!({ "issueId": issue.id, "commentId": comment.id })),
        ..WakeRequest::about(agent, issue.id, WakeSource::Automation, reason)
    };
    wakes::request(tx, ctx, request)?;
    Ok(())
}

/// Comments on an issue, newest first unless asked for otherwise.
pub fn comments(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    issue: &IssueRef,
    order: Order,
    page: &PageRequest<CommentCursor>,
) -> Result<Page<Comment, CommentCursor>, Failure<IssueError>> {
    let Some(issue) = reads.issues().find(ctx.actor().scope(), issue)? else {
        return Err(Denied::NotFound("issue").into());
    };
    Ok(reads
        .comments()
        .list(issue.scope(), issue.id, order, page)?)
}
