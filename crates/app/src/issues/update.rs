use serde::Serialize;
use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::{AgentCredential, CompanyOwned};
use workforce_domain::agent::Agent;
use workforce_domain::change::{Change, Replace};
use workforce_domain::issue::{Assignment, Comment, Issue, IssueRef, IssueStatus};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Failure, Locked, Shared, Tx};
use workforce_domain::wake::WakeReason;

use super::checkout_by_update::{check_out_itself, takes_up};
use super::comment::{self};
use super::reassign::Reassignment;
use super::status::{self, Rewrite};
use super::update_command::UpdateIssue;
use super::{
    IssueError, IssueView, MAX_DOCUMENT, PLACED, approval, assignment, checkout, hierarchy, labels,
    lock, read, reassign, seen, working_run,
};
use crate::access::{self, Denied};
use crate::activity_log::log_activity_with;
use crate::agents;
use crate::changes::Changes;
use crate::context::Context;
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
    pub comment: Option<Comment>,
}

/// What [`update`] refuses with.
pub const UPDATE: Codes = Codes::with(
    &[
        Code::AssigneeRequired,
        Code::BoardRequired,
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
    let candidates = lock_candidates(tx, ctx, issue, &command)?;
    let mut issue = lock(tx, ctx, issue)?;
    ctx.require_working_company()?;
    let words = command.comment.take();
    let rewritten = if command.only_comments() {
        None
    } else {
        let present = issue.assignee_adapter_overrides.as_ref();
        command.assignee_adapter_overrides = command
            .assignee_adapter_overrides
            .map(|overrides| agents::unmasked_document(overrides, present));
        check_rights(tx, ctx, &issue, &command)?;
        change(tx, ctx, &mut issue, command, candidates)?
    };
    working_run::renew_lease(tx, ctx, &issue)?;
    let comment = match words {
        Some(body) => Some(comment::insert(tx, ctx, &issue, body, false)?),
        None => None,
    };
    Ok(UpdatedIssue {
        view: read::view(tx.reads(), ctx, issue.into_inner())?,
        rewritten,
        comment,
    })
}

/// The agents that a change may leave the issue with. They are held before the
/// issue, and looked at when their turn comes.
#[derive(Default)]
struct Candidates {
    /// Who is to get it: the agent that the change names, or the caller that
    /// takes it up.
    new: Option<Shared<Agent>>,
    /// Who had it when it ended, where it is reopened.
    former: Option<Shared<Agent>>,
}

fn lock_candidates(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &IssueRef,
    command: &UpdateIssue,
) -> Result<Candidates, Failure<IssueError>> {
    let begins = command.status == Replace::Set(IssueStatus::InProgress);
    let named = command.assignee_agent_id.value().copied();
    let new = named.or(ctx.actor().agent_id().filter(|_| begins));
    let may_reopen =
        ctx.agent().is_none() && command.status.value().is_some_and(|to| !to.is_terminal());
    if new.is_none() && !may_reopen {
        return Ok(Candidates::default());
    }
    let seen = seen(tx.reads(), ctx, issue)?;
    Ok(Candidates {
        new: match new {
            Some(agent) => tx.agents_mut().share(seen.scope(), agent)?,
            None => None,
        },
        former: match may_reopen {
            true => assignment::lock_former(tx, &seen)?,
            false => None,
        },
    })
}

fn check_rights(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
    command: &UpdateIssue,
) -> Result<(), Failure<IssueError>> {
    if !command.hidden_at.is_keep() || !command.assignee_adapter_overrides.is_keep() {
        ctx.require_board()?;
    }
    if let Some(overrides) = command.assignee_adapter_overrides.value() {
        access::check_document(overrides, "/assigneeAdapterOverrides", MAX_DOCUMENT)?;
        let before = issue.assignee_adapter_overrides.as_ref();
        let scope = issue.scope();
        agents::check_overrides::<IssueError>(tx, ctx, scope, before, overrides)?;
    }
    let Some(caller) = ctx.agent() else {
        return Ok(());
    };
    let begins = command.status == Replace::Set(IssueStatus::InProgress);
    if let AgentCredential::Run { consult: true, .. } = caller.credential
        && begins
    {
        return Err(Failure::Refused(IssueError::ConsultRun));
    }
    // Whoever may check an issue out may do so here as well.
    let takes_up = begins && takes_up(ctx, issue, command)?;
    if !takes_up || !command.only_takes_up() {
        let to = command.assignee_agent_id.value().copied();
        assignment::require_stake(tx.reads(), ctx, issue.scope(), issue, to)?;
    }
    if command
        .status
        .value()
        .is_some_and(|to| to != issue.status())
    {
        working_run::require_no_other_run(tx, ctx, issue, caller.agent)?;
    }
    // An issue cannot be moved out of the reach of its project's demand.
    if !command.project_id.is_keep() && status::project_demands_review(tx, issue)? {
        return Err(Denied::Forbidden(
            "only the board takes an issue out of a project that demands reviews",
        )
        .into());
    }
    Ok(())
}

/// Changes the issue; tells of a status that was taken in place of the one that was asked for.
fn change(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &mut Locked<Issue>,
    command: UpdateIssue,
    candidates: Candidates,
) -> Result<Option<Rewrite>, Failure<IssueError>> {
    let before = Issue::clone(issue);
    let asked = command.status;
    let takes_up =
        asked == Replace::Set(IssueStatus::InProgress) && takes_up(ctx, &before, &command)?;
    if !takes_up {
        approval::require_none_in_the_way(tx, &before, &command)?;
    }
    let (worker, reassigned) = match takes_up {
        // The checkout decides who gets it.
        true => (candidates.new.and_then(Shared::employed), None),
        false => {
            let (agent, board) = (command.assignee_agent_id, &command.assignee_user_id);
            let candidate = candidates.new;
            let reassigned = reassign::decide(tx, ctx, issue, agent, board, candidate)?;
            (None, reassigned)
        }
    };
    let labelled = describe(tx, ctx, issue, command)?;
    let is_labelled = labelled != Changes::none();
    // A checkout tells of itself, so that what was described is taken out first.
    let described = Changes::of(issue).then(labelled);
    let (step, rewritten) = match asked {
        Replace::Set(IssueStatus::InProgress) if takes_up => {
            check_out_itself(tx, ctx, issue, worker.as_ref())?;
            (None, None)
        }
        Replace::Set(to) => {
            let (to, rewritten) = status::rewritten(tx, ctx, &before, to)?;
            (Some(status::transition(tx, ctx, issue, to)?), rewritten)
        }
        Replace::Keep => (None, None),
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
        let details = moved.map_or_else(|| json!({}), status::move_details);
        log_activity_with(tx, ctx, action, issue, details, changes);
    }
    if let Some(step) = &step {
        status::after(tx, ctx, step)?;
    }
    wake(tx, ctx, issue, &before, reassigned)?;
    Ok(rewritten)
}

/// Takes over the fields that follow no lifecycle; tells what changed of the
/// labels, which are no field of the issue's own.
fn describe(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &mut Locked<Issue>,
    command: UpdateIssue,
) -> Result<Changes, Failure<IssueError>> {
    let scope = issue.scope();
    let (project, goal) = (
        command.project_id.value().copied(),
        command.goal_id.value().copied(),
    );
    hierarchy::check_places(tx.reads(), scope, project, goal)?;
    let parent = match command.parent_id {
        Change::Keep => issue.parent,
        Change::Clear => None,
        Change::Set(parent) => Some(hierarchy::check_move(tx, scope, issue, &parent)?),
    };
    if let Replace::Set(title) = command.title {
        issue.title = title;
    }
    issue.description = command.description.apply(issue.description.take());
    issue.priority = command.priority.apply(issue.priority);
    issue.project = command.project_id.apply(issue.project);
    issue.goal = command.goal_id.apply(issue.goal);
    issue.parent = parent;
    issue.billing_code = command.billing_code.apply(issue.billing_code.take());
    issue.ticket_key = command.ticket_key.apply(issue.ticket_key.take());
    issue.assignee_adapter_overrides = command
        .assignee_adapter_overrides
        .apply(issue.assignee_adapter_overrides.take());
    match command.hidden_at {
        Change::Set(_) if issue.hidden_at.is_none() => issue.hidden_at = Some(ctx.now),
        Change::Clear => issue.hidden_at = None,
        Change::Set(_) | Change::Keep => {}
    }
    match command.label_ids {
        Change::Keep => Ok(Changes::none()),
        Change::Clear => labels::replace(tx, issue, Vec::new()),
        Change::Set(asked) => labels::replace(tx, issue, asked),
    }
}

/// Tells the assignee of work that is new to it: given to it now, or taken out
/// of the backlog, or begun or reopened for it by somebody else.
fn wake(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &Issue,
    before: &Issue,
    reassigned: Option<Reassignment>,
) -> Result<(), Failure<IssueError>> {
    if let Some(reassigned) = &reassigned {
        reassigned.withdraw_wake(tx, ctx, issue)?;
    }
    let reason = WakeReason::IssueAssigned;
    if let Some(agent) = reassigned.and_then(|reassigned| reassigned.new) {
        assignment::wake_assignee(tx, ctx, issue, &agent, reason)?;
        return Ok(());
    }
    let started = before.status() != issue.status()
        && matches!(issue.status(), IssueStatus::Todo | IssueStatus::InProgress);
    if let Some(assignee) = issue.assignee.agent().filter(|_| started)
        && let Some(agent) = tx.agents().find(issue.scope().into(), assignee)?
    {
        assignment::wake_assignee(tx, ctx, issue, &agent, reason)?;
    }
    Ok(())
}
