//! Moving an issue through its lifecycle (docs/issues.md#status-changes).

use serde::Serialize;

use serde_json::{Value, json};
use workforce_domain::actor::CompanyOwned;
use workforce_domain::board::BoardMember;
use workforce_domain::id::{AgentId, ApprovalId};
use workforce_domain::issue::{Assignee, Issue, IssueStatus, Moved, Mover};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Failure, Locked, StoreError, Tx};

use super::{IssueError, advance, assignment, working_run};
use crate::approval_records;
use crate::context::Context;

/// A status that was asked for and replaced by another, so that the agent
/// understands what happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = StatusRewrite))]
#[serde(rename_all = "camelCase")]
pub struct Rewrite {
    /// What was asked for.
    pub from: IssueStatus,
    /// Why it was replaced.
    pub reason: &'static str,
    /// The agent that the review was given to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub reviewer_agent_id: Option<AgentId>,
    /// The member of the board that the review was given to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub reviewer_user_id: Option<String>,
    /// The approval that the board was asked for: of the plan, or of the end of a ticket.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub approval_id: Option<ApprovalId>,
}

impl Rewrite {
    /// A review, or the word of the board, must come first.
    pub(super) const fn of(from: IssueStatus, reason: &'static str) -> Self {
        Self {
            from,
            reason,
            reviewer_agent_id: None,
            reviewer_user_id: None,
            approval_id: None,
        }
    }

    /// The board must agree to the plan first.
    pub(crate) fn for_plan(approval: ApprovalId) -> Self {
        Self {
            approval_id: Some(approval),
            ..Self::of(IssueStatus::InReview, "plan_filed")
        }
    }

    /// The board ends the ticket, with this approval where it was asked for it already.
    pub(super) const fn for_approval(from: IssueStatus, pending: Option<ApprovalId>) -> Self {
        let mut rewrite = Self::of(from, "approval_required");
        rewrite.approval_id = pending;
        rewrite
    }

    /// The review of `reviewer` must come first.
    pub(super) fn for_review(from: IssueStatus, reviewer: Assignee) -> Self {
        Self {
            reviewer_agent_id: reviewer.agent(),
            reviewer_user_id: reviewer.board().map(BoardMember::identity),
            ..Self::of(from, "review_required")
        }
    }
}

/// The status an issue really goes to when `to` is asked for: an agent's done
/// becomes in_review where a review is demanded (docs/issues.md#demanded-reviews),
/// unless it reviews the work of somebody else.
pub(super) fn rewritten(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
    to: IssueStatus,
) -> Result<(IssueStatus, Option<Rewrite>), StoreError> {
    let Some(caller) = ctx.agent() else {
        return Ok((to, None));
    };
    // A move to done that the lifecycle forbids is refused, not replaced.
    let leads_there = issue.status().successors().contains(&to);
    if to != IssueStatus::Done || !leads_there {
        return Ok((to, None));
    }
    let reviews_another = issue.status() == IssueStatus::InReview
        && issue
            .assignee
            .agent()
            .is_some_and(|assignee| assignee != caller.agent);
    if reviews_another || !review_required(tx, issue)? {
        return Ok((to, None));
    }
    let rewrite = Rewrite::of(to, "review_required");
    Ok((IssueStatus::InReview, Some(rewrite)))
}

/// True when the company or the issue's project demands reviews.
pub(super) fn review_required(tx: &mut dyn Tx, issue: &Issue) -> Result<bool, StoreError> {
    if project_demands_review(tx, issue)? {
        return Ok(true);
    }
    let company = tx.companies().find(issue.scope().into(), issue.company)?;
    Ok(company.is_some_and(|company| company.review_required))
}

/// True when the issue's project demands reviews.
pub(super) fn project_demands_review(tx: &mut dyn Tx, issue: &Issue) -> Result<bool, StoreError> {
    let Some(project) = issue.project else {
        return Ok(false);
    };
    let project = tx.projects().find(issue.scope().into(), project)?;
    Ok(project.is_some_and(|project| project.review_required))
}

/// A move of an issue.
pub(super) struct Step {
    pub(super) moved: Moved,
    /// The parent of an issue that the move ended, locked.
    parent: Option<Locked<Issue>>,
}

/// Moves a locked issue, with what belongs to the move: an ended issue ends
/// its lease and stops whoever still works on it, except the caller's own run,
/// and approvals that have lost their last open issue are cancelled.
pub(super) fn transition(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &mut Locked<Issue>,
    to: IssueStatus,
) -> Result<Step, Failure<IssueError>> {
    let mover = match ctx.agent() {
        Some(_) => Mover::Agent,
        None => Mover::Board,
    };
    transition_as(tx, ctx, issue, mover, to)
}

/// The same, as somebody moves it whose table is another than the caller's.
pub(super) fn transition_as(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &mut Locked<Issue>,
    mover: Mover,
    to: IssueStatus,
) -> Result<Step, Failure<IssueError>> {
    let moved = issue.progress.transition_to(mover, to, ctx.now)?;
    issue.progress = moved.progress.clone();
    let mut parent = None;
    if moved.is_change() && to.is_terminal() {
        // In the order of locks: the parent, approvals, then runs.
        if let Some(id) = issue.parent {
            parent = tx.issues_mut().lock(issue.scope().into(), &id.into())?;
        }
        approval_records::cancel_orphaned(tx, ctx, issue.scope(), &[issue.id])?;
        working_run::stop(tx, ctx, issue)?;
        tx.issues_mut().end_lease(issue)?;
        issue.settle_review();
    }
    Ok(Step { moved, parent })
}

/// What follows once the moved issue is saved: whoever waits for its parent's
/// last child is told.
pub(super) fn after(tx: &mut dyn Tx, ctx: &Context<'_>, step: &mut Step) -> Result<(), StoreError> {
    match &mut step.parent {
        Some(parent) => child_ended(tx, ctx, parent),
        None => Ok(()),
    }
}

/// What follows for an issue of which a child has ended.
pub(super) fn child_ended(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    parent: &mut Locked<Issue>,
) -> Result<(), StoreError> {
    let company = parent.scope();
    if tx.issues().open_children(company, parent.id)? > 0 {
        return Ok(());
    }
    let done = [IssueStatus::Done];
    let has_done = !tx
        .issues()
        .children(company, parent.id, &done, 1)?
        .is_empty();
    // One that waits in review was not brought before the board while the child was open.
    match has_done || parent.status() == IssueStatus::InReview {
        true => advance::children_ended(tx, ctx, parent),
        false => assignment::wake_for_children(tx, ctx, parent),
    }
}

/// A move as its activity row tells it.
pub(super) fn move_details(moved: &Moved) -> Value {
    let mut details = json!({ "from": moved.from, "to": moved.progress.status() });
    if moved.overridden {
        details["override"] = json!(true);
    }
    details
}
