//! Reviews: a verdict on the work of an issue, with remarks on it and on lines of files, in one
//! step (docs/issues.md#reviews).

use serde::{Deserialize, Serialize};
use serde_json::json;
use workforce_domain::ObjectOnly;
use workforce_domain::activity::Action;
use workforce_domain::change::Replace;
use workforce_domain::id::ReviewId;
use workforce_domain::issue::{
    CheckoutConflict, Comment, ConflictReason, DiffSide, Issue, IssueRef, IssueStatus, LineNumber,
    Position, ReviewVerdict,
};
use workforce_domain::port::{Failure, Locked, StoreError, Tx};
use workforce_domain::text::{CommentBody, CommitHash, FilePath};

use super::comment::{self, Words};
use super::comment_wakes::{self, Occasion, Said};
use super::update::{self, Changed, UpdatedIssue};
use super::update_command::UpdateIssue;
use super::{IssueError, advance, lock, seen, working_run};
use crate::access::{Denied, FieldFault};
use crate::activity_log::log_activity;
use crate::context::Context;
use crate::mentions::{Commented, Names};
use crate::refusal::{Code, Codes};

/// A review has at most so many remarks on lines.
const MAX_REMARKS: usize = 100;

/// Reviews an issue.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SubmitReview {
    /// What the reviewer says of the work. `approved` and `changes_requested` move the issue.
    pub verdict: ReviewVerdict,
    /// What the reviewer says of the whole, in Markdown.
    pub body: Option<CommentBody>,
    /// Remarks on lines of files, in the order in which they are to be read.
    #[cfg_attr(feature = "openapi", schema(max_items = 100))]
    pub comments: Option<Vec<ObjectOnly<ReviewComment>>>,
}

/// A remark on lines of a file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReviewComment {
    /// The file, by its path in the repository.
    pub path: FilePath,
    /// Whether the line is one of the file before or after the change; `right`, which is after it,
    /// when left out.
    pub side: Option<DiffSide>,
    /// The line; the last one of several.
    pub line: LineNumber,
    /// The first of several lines.
    pub start_line: Option<LineNumber>,
    /// The commit in which the line has this number.
    pub commit: Option<CommitHash>,
    /// What is said of it, in Markdown.
    pub body: CommentBody,
}

impl From<ReviewComment> for Words {
    fn from(comment: ReviewComment) -> Self {
        Self {
            body: comment.body,
            position: Some(Position {
                path: comment.path,
                side: comment.side.unwrap_or_default(),
                line: comment.line,
                start_line: comment.start_line,
                commit: comment.commit,
            }),
        }
    }
}

/// A review that was taken down.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SubmittedReview {
    /// What was said of the work.
    pub verdict: ReviewVerdict,
    /// The issue, as the review leaves it.
    pub issue: UpdatedIssue,
    /// The comments of the review: on the whole, then on lines.
    pub comments: Vec<Commented<Comment>>,
}

/// What [`submit_review`] refuses with.
pub const SUBMIT_REVIEW: Codes = Codes::of(&[
    Code::ApprovalPending,
    Code::AssigneeRequired,
    Code::CheckoutConflict,
    Code::ChildrenOpen,
    Code::ConsultRun,
    Code::Forbidden,
    Code::InvalidField,
    Code::PlanRequired,
]);

/// Reviews an issue: writes all remarks down, moves it as an update with `done` or
/// `in_progress` does, and wakes each agent that is concerned once. Remarks without a verdict are
/// for anyone of the company, the rest for whoever may change the issue.
///
/// # Errors
/// [`IssueError`]; then nothing was written. [`IssueError::Conflict`] when the issue is to be
/// moved and does not stand in review.
pub fn submit_review(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &IssueRef,
    command: SubmitReview,
) -> Result<SubmittedReview, Failure<IssueError>> {
    let verdict = command.verdict;
    let words = words(command)?;
    let (changed, occasion) = match verdict {
        ReviewVerdict::Approved => {
            let changed = approve(tx, ctx, issue)?;
            (changed, Occasion::Talk)
        }
        ReviewVerdict::ChangesRequested => {
            let changed = move_to(tx, ctx, issue, IssueStatus::InProgress)?;
            let occasion = changed.occasion();
            (changed, occasion)
        }
        ReviewVerdict::Commented => {
            let issue = lock(tx, ctx, issue)?;
            ctx.require_working_company()?;
            working_run::renew_lease(tx, ctx, &issue)?;
            (Changed::not(issue), Occasion::Remarks)
        }
    };
    let comments = say(tx, ctx, &changed.issue, verdict, words, occasion)?;
    Ok(SubmittedReview {
        verdict,
        issue: changed.answer(tx, ctx, None)?,
        comments,
    })
}

/// What the review says, each remark by itself.
fn words(command: SubmitReview) -> Result<Vec<Words>, FieldFault> {
    let remarks = command.comments.unwrap_or_default();
    if remarks.len() > MAX_REMARKS {
        let message = format!("at most {MAX_REMARKS} comments");
        return Err(FieldFault::invalid("/comments", message));
    }
    if command.verdict != ReviewVerdict::Approved && command.body.is_none() && remarks.is_empty() {
        let message = "only `approved` goes without a body and without comments";
        return Err(FieldFault::invalid("/body", message));
    }
    for (place, ObjectOnly(remark)) in remarks.iter().enumerate() {
        if remark.start_line.is_some_and(|start| start > remark.line) {
            let pointer = format!("/comments/{place}/startLine");
            return Err(FieldFault::invalid(
                pointer,
                "must not be greater than `line`",
            ));
        }
    }
    let whole = command.body.map(|body| Words {
        body,
        position: None,
    });
    let remarks = remarks.into_iter().map(|ObjectOnly(remark)| remark.into());
    Ok(whole.into_iter().chain(remarks).collect())
}

/// Ends the issue whose work the reviewer agrees to. A ticket with worktrees stays in review
/// all the same: its work is pushed first, and the board decides on that.
fn approve(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &IssueRef,
) -> Result<Changed, Failure<IssueError>> {
    let found = seen(tx.reads(), ctx, issue)?;
    // What an agent asks for is decided with the move.
    if ctx.agent().is_some() {
        return move_to(tx, ctx, issue, IssueStatus::Done);
    }
    let is_pushed = advance::brings_worktrees(tx.reads(), &found)?;
    let to = match is_pushed {
        true => IssueStatus::InReview,
        false => IssueStatus::Done,
    };
    let mut changed = move_to(tx, ctx, issue, to)?;
    if advance::brings_worktrees(tx.reads(), &changed.issue)? != is_pushed {
        return Err(StoreError::Contended.into());
    }
    if is_pushed {
        let (_, rewritten) = advance::requested(tx, &changed.issue, IssueStatus::Done)?;
        changed.rewritten = rewritten;
        advance::request(tx, ctx, &changed.issue)?;
    }
    Ok(changed)
}

fn move_to(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &IssueRef,
    to: IssueStatus,
) -> Result<Changed, Failure<IssueError>> {
    let command = UpdateIssue {
        status: Replace::Set(to),
        ..UpdateIssue::default()
    };
    update::carry_out(tx, ctx, issue, command, |issue| {
        require_in_review(issue)?;
        match to {
            IssueStatus::InProgress => require_somebody_else(ctx, issue),
            _ => Ok(()),
        }
    })
}

fn require_in_review(issue: &Issue) -> Result<(), IssueError> {
    if issue.status() == IssueStatus::InReview {
        return Ok(());
    }
    Err(IssueError::Conflict {
        issue: issue.id,
        conflict: CheckoutConflict {
            reason: ConflictReason::StatusMismatch,
            status: issue.status(),
            assignee_agent: issue.assignee.agent(),
            holder_agent: None,
            holder_run: None,
            holder_live: false,
            approval: None,
        },
    })
}

/// Refuses to ask nobody for changes: there must be an agent or a person that goes on with the
/// work, other than the assignee that reviews it.
fn require_somebody_else(ctx: &Context<'_>, issue: &Issue) -> Result<(), IssueError> {
    if issue.implementer.is_some() {
        return Ok(());
    }
    let (assignee, caller) = (issue.assignee.agent(), ctx.actor().agent_id());
    if assignee.is_some() && assignee == caller {
        return Err(Denied::Forbidden(
            "the issue is yours, and nobody is known to have done the work: \
             PATCH it, and name who is to go on with it",
        )
        .into());
    }
    if assignee.is_none() && issue.assignee.board().is_none() {
        let message = "nobody would go on with the work: PATCH the issue, and name somebody";
        let fault = FieldFault::coded(Code::AssigneeRequired, "/verdict", message);
        return Err(fault.into());
    }
    Ok(())
}

/// Writes the review down, and wakes whom it concerns.
fn say(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Locked<Issue>,
    verdict: ReviewVerdict,
    words: Vec<Words>,
    occasion: Occasion,
) -> Result<Vec<Commented<Comment>>, StoreError> {
    let review: ReviewId = ctx.id();
    let mut names = Names::default();
    let commented: Vec<Commented<Comment>> = words
        .into_iter()
        .map(|words| comment::write_down(tx, ctx, issue, &mut names, Some(review), words))
        .collect::<Result<_, _>>()?;
    let comments: Vec<Comment> = commented.iter().map(|it| it.comment.clone()).collect();
    let count = comments.len();
    let details = json!({ "reviewId": review, "verdict": verdict, "comments": count });
    log_activity(tx, ctx, Action::IssueReviewed, issue, details);
    let said = Said {
        comments: &comments,
        occasion,
    };
    let told = json!({ "reviewId": review, "verdict": verdict });
    comment_wakes::wake_concerned(tx, ctx, issue, said, &told)?;
    Ok(commented)
}
