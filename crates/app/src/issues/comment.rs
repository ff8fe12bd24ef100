//! Comments: what they say (docs/issues.md#comments).

use serde::Deserialize;
use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::id::ReviewId;
use workforce_domain::issue::{Comment, Issue, IssueRef, IssueStatus, Position};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::page::{Order, Page, PageRequest};
use workforce_domain::port::{CommentCursor, Failure, Locked, Reads, StoreError, Tx};
use workforce_domain::text::CommentBody;

use super::comment_wakes::{self, Occasion, Said};
use super::{IssueError, assignment, lock, seen, working_run};
use crate::access::Denied;
use crate::activity_log::{log_activity, log_change};
use crate::context::Context;
use crate::mentions::{Commented, Names};
use crate::refusal::{Code, Codes};

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

/// What [`add_comment`] refuses with.
pub const ADD_COMMENT: Codes = Codes::of(&[Code::BoardRequired, Code::Forbidden]);

/// Comments on an issue. Anyone of the company. Whoever it mentions is woken,
/// its author never.
pub fn add_comment(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &IssueRef,
    command: AddComment,
) -> Result<Commented<Comment>, Failure<IssueError>> {
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

/// Writes the comment down and wakes whom it concerns.
pub(super) fn insert(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Locked<Issue>,
    body: CommentBody,
    occasion: Occasion,
) -> Result<Commented<Comment>, Failure<IssueError>> {
    let words = Words {
        body,
        position: None,
    };
    let commented = write_down(tx, ctx, issue, &mut Names::default(), None, words)?;
    let comment = &commented.comment;
    let details = json!({ "commentId": comment.id, "mentions": comment.mentions });
    log_activity(tx, ctx, Action::IssueCommentAdded, issue, details);
    let comments = std::slice::from_ref(comment);
    let said = Said { comments, occasion };
    comment_wakes::wake_concerned(tx, ctx, issue, said, &json!({}))?;
    Ok(commented)
}

/// What a comment is to say.
pub(super) struct Words {
    /// The text.
    pub(super) body: CommentBody,
    /// The lines that it is about.
    pub(super) position: Option<Position>,
}

/// Writes a comment down, and nothing besides.
pub(super) fn write_down(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
    names: &mut Names,
    review: Option<ReviewId>,
    words: Words,
) -> Result<Commented<Comment>, StoreError> {
    let mentions = names.mentioned(tx, ctx, issue.scope(), &words.body)?;
    let comment = Comment {
        id: ctx.id(),
        company: issue.company,
        issue: issue.id,
        author: ctx.actor().author(),
        run: ctx.actor().run(),
        mentions: mentions.agents,
        body: words.body,
        review,
        position: words.position,
        created_at: ctx.now,
    };
    tx.comments_mut().insert(&comment)?;
    Ok(Commented {
        comment,
        unknown_mentions: mentions.unknown,
    })
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
