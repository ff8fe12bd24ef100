use serde::Serialize;
use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::change::Replace;
use workforce_domain::issue::{Assignment, Comment, Issue, IssueRef, IssueStatus};
use workforce_domain::port::{Failure, Locked, Shared, Tx};
use workforce_domain::wake::WakeReason;

use super::candidates::Candidates;
use super::checkout_by_update::{check_out_itself, takes_up};
use super::comment_wakes::Occasion;
use super::describe::describe;
use super::hierarchy::Followers;
use super::parts::Parts;
use super::reassign::Reassignment;
use super::status::{self, Rewrite};
use super::update_command::UpdateIssue;
use super::update_rights::check_rights;
use super::{
    IssueError, IssueView, PLACED, advance, approval, assignment, checkout, comment, governance,
    hierarchy, lock, read, reassign, reviews, working_run,
};
use crate::activity_log::log_activity_with;
use crate::agents;
use crate::changes::Changes;
use crate::context::Context;
use crate::mentions::Commented;
use crate::refusal::{Code, Codes};

/// A changed issue.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdatedIssue {
    /// The issue.
    #[serde(flatten)]
    pub view: IssueView,
    /// Present when another status than the one asked for was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub rewritten: Option<Rewrite>,
    /// The comment, when one was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub comment: Option<Commented<Comment>>,
}

/// What [`update`] refuses with.
pub const UPDATE: Codes = Codes::with(
    &[
        Code::AssigneeRequired,
        Code::BoardRequired,
        Code::ChildrenOpen,
        Code::ConsultRun,
        Code::Cycle,
        Code::InvalidTransition,
    ],
    &[PLACED, agents::OVERRIDES, checkout::TAKE],
);

/// Changes an issue. An agent that sets in_progress checks the issue out; the
/// board moves it as it likes, except out of an end, which must be a reopening.
///
/// # Errors
/// [`IssueError`]; then nothing was written, not even the comment.
pub fn update(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &IssueRef,
    mut command: UpdateIssue,
) -> Result<UpdatedIssue, Failure<IssueError>> {
    let words = command.comment.take();
    let changed = carry_out(tx, ctx, issue, command, |_| Ok(()))?;
    let comment = match words {
        Some(body) => {
            let occasion = changed.occasion();
            Some(comment::insert(tx, ctx, &changed.issue, body, occasion)?)
        }
        None => None,
    };
    changed.answer(tx, ctx, comment)
}

/// An issue that was changed, with which nothing was said yet.
pub(super) struct Changed {
    pub(super) issue: Locked<Issue>,
    pub(super) rewritten: Option<Rewrite>,
    sent_back: bool,
}

impl Changed {
    /// An issue that stays as it is.
    pub(super) const fn not(issue: Locked<Issue>) -> Self {
        Self {
            issue,
            rewritten: None,
            sent_back: false,
        }
    }

    /// What is said with the change comes with this.
    pub(super) const fn occasion(&self) -> Occasion {
        match self.sent_back {
            true => Occasion::Return,
            false => Occasion::Talk,
        }
    }

    /// What the caller is told.
    pub(super) fn answer(
        self,
        tx: &mut dyn Tx,
        ctx: &Context<'_>,
        comment: Option<Commented<Comment>>,
    ) -> Result<UpdatedIssue, Failure<IssueError>> {
        Ok(UpdatedIssue {
            view: read::view(tx.reads(), ctx, self.issue.into_inner())?,
            rewritten: self.rewritten,
            comment,
        })
    }
}

/// Changes an issue, without the comment. `require` refuses what the caller may do, but
/// not with the issue as it is.
pub(super) fn carry_out(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &IssueRef,
    mut command: UpdateIssue,
    require: impl FnOnce(&Issue) -> Result<(), IssueError>,
) -> Result<Changed, Failure<IssueError>> {
    let candidates = Candidates::lock(tx, ctx, issue, &command)?;
    let followers = hierarchy::lock_followers(tx, ctx, issue, &command)?;
    let parts = Parts::lock(tx, ctx, issue, &command)?;
    let mut issue = lock(tx, ctx, issue)?;
    ctx.require_working_company()?;
    let sent_back = reviews::is_sent_back(ctx, &issue, &command);
    if sent_back && ctx.agent().is_some() {
        // The agent that did the work goes on with it, which is no new work.
        command.status = Replace::Set(IssueStatus::InProgress);
    }
    let rewritten = if command.only_comments() {
        None
    } else {
        let present = issue.assignee_adapter_overrides.as_ref();
        command.assignee_adapter_overrides = command
            .assignee_adapter_overrides
            .map(|overrides| agents::unmasked_document(overrides, present));
        check_rights(tx, ctx, &issue, &command)?;
        require(&issue).map_err(Failure::Refused)?;
        change(tx, ctx, &mut issue, command, candidates, followers, parts)?
    };
    working_run::renew_lease(tx, ctx, &issue)?;
    Ok(Changed {
        issue,
        rewritten,
        sent_back,
    })
}

/// Changes the issue; tells of a status that was taken in place of the one that was asked for.
fn change(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &mut Locked<Issue>,
    command: UpdateIssue,
    mut candidates: Candidates,
    followers: Option<Followers>,
    parts: Parts,
) -> Result<Option<Rewrite>, Failure<IssueError>> {
    let before = Issue::clone(issue);
    let asked = command.status;
    let takes_up =
        asked == Replace::Set(IssueStatus::InProgress) && takes_up(ctx, &before, &command)?;
    if !takes_up {
        approval::require_none_in_the_way(tx, &before, &command)?;
    }
    let moves = !command.parent_id.is_keep() || !command.project_id.is_keep();
    let governed = governance::before_move(tx.reads(), ctx, &before, moves)?;
    let mut decided = match asked {
        Replace::Set(to) if reviews::is_sent_back(ctx, &before, &command) => {
            Some(reviews::give_back(&before, to, &mut candidates)?)
        }
        Replace::Set(to) if !takes_up => {
            let names = !command.assignee_agent_id.is_keep() || !command.assignee_user_id.is_keep();
            Some(reviews::decide(
                tx,
                ctx,
                &before,
                (to, names),
                &mut candidates,
            )?)
        }
        Replace::Set(_) | Replace::Keep => None,
    };
    let handed = decided.as_mut().and_then(|decided| decided.handed.take());
    let (worker, reassigned) = match (takes_up, handed) {
        // The checkout decides who gets it.
        (true, _) => (candidates.new.and_then(Shared::employed), None),
        (false, Some(handed)) => (None, Some(handed)),
        (false, None) => {
            let (agent, board) = (command.assignee_agent_id, &command.assignee_user_id);
            let candidate = candidates.new;
            let reassigned = reassign::decide(tx, ctx, issue, agent, board, candidate)?;
            (None, reassigned)
        }
    };
    let labelled = describe(tx, ctx, issue, command, followers)?;
    let is_labelled = labelled != Changes::none();
    // A checkout tells of itself, so that what was described is taken out first.
    let described = Changes::of(issue).then(labelled);
    if takes_up {
        check_out_itself(tx, ctx, issue, worker.as_ref())?;
    }
    if let Some(decided) = &decided {
        parts.end_with(tx, ctx, issue, decided.to)?;
    }
    let mut step = match &decided {
        Some(decided) => Some(decided.transition(tx, ctx, issue, asked)?),
        None => None,
    };
    let moved = step.as_ref().map(|step| &step.moved);
    if moved.is_some_and(|moved| moved.reopened) {
        assignment::require_present(issue, candidates.former.as_ref())?;
    }
    if let Some(reassigned) = &reassigned {
        reassigned.carry_out(tx, ctx, issue)?;
    }
    if issue.status() == IssueStatus::InProgress && issue.assignee == Assignment::NOBODY {
        if asked == Replace::Set(IssueStatus::InProgress) {
            return Err(Failure::Refused(IssueError::AssigneeRequired));
        }
        // Taking the assignee away gives the work back.
        issue.progress = issue.progress.release(ctx.now);
    }
    issue.settle_review();
    let changes = described.then(Changes::of(issue));
    if **issue != before || is_labelled {
        issue.updated_at = ctx.now;
        tx.issues_mut().save(issue)?;
        if before.title != issue.title || before.description != issue.description {
            tx.issues_mut().reindex(issue)?;
        }
        if before.priority != issue.priority {
            tx.runs_mut().follow_priority(issue)?;
        }
        let action = match moved {
            Some(moved) if moved.reopened => Action::IssueReopened,
            _ => Action::IssueUpdated,
        };
        let moved = moved.filter(|moved| moved.is_change());
        let mut details = moved.map_or_else(|| json!({}), status::move_details);
        if decided.as_ref().is_some_and(|decided| decided.self_review) {
            details["selfReview"] = json!(true);
        }
        log_activity_with(tx, ctx, action, issue, details, changes);
        governance::check_move(tx.reads(), &before, governed, issue)?;
    }
    if let Some(step) = &mut step {
        status::after(tx, ctx, step)?;
    }
    if decided.as_ref().is_some_and(|decided| decided.advances) {
        advance::request(tx, ctx, issue)?;
    }
    wake(tx, ctx, issue, &before, reassigned.as_ref())?;
    Ok(decided.and_then(|decided| decided.rewritten))
}

/// Tells the assignee of work that is new to it: given to it now, or taken out
/// of the backlog, or begun or reopened for it by somebody else.
fn wake(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
    before: &Issue,
    reassigned: Option<&Reassignment>,
) -> Result<(), Failure<IssueError>> {
    if let Some(reassigned) = reassigned {
        reassigned.withdraw_wake(tx, ctx, issue)?;
        if reassigned.new.is_some() {
            return Ok(reassigned.wake(tx, ctx, issue)?);
        }
    }
    let reason = WakeReason::IssueAssigned;
    let started = before.status() != issue.status()
        && matches!(issue.status(), IssueStatus::Todo | IssueStatus::InProgress);
    if let Some(assignee) = issue.assignee.agent().filter(|_| started)
        && let Some(agent) = tx.agents().find(issue.scope().into(), assignee)?
    {
        assignment::wake_assignee(tx, ctx, issue, &agent, reason)?;
    }
    Ok(())
}
