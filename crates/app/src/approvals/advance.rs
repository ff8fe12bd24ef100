//! A ticket whose work has come to its end is brought before the board
//! (docs/tickets.md#when-the-work-is-done).

mod hold;
mod mend;

pub use hold::{Claim, Occupant, hold, prolong, release, renew_hold};
pub use mend::{have_mended, mend_for_approval};

use std::time::Duration;

use serde_json::{Value, json};
use workforce_domain::Document;
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::approval::{Approval, ApprovalStatus, ApprovalType};
use workforce_domain::board::Author;
use workforce_domain::execution_workspace::{ExecutionWorkspace, PullRequestState, TicketAdvance};
use workforce_domain::id::{ExecutionWorkspaceId, IssueId};
use workforce_domain::issue::{Assignment, Issue, IssueStatus, Mover};
use workforce_domain::port::{
    EmployedAgent, Locked, Reads, Shared, StepFailure, StepFault, StoreError, Tx,
};
use workforce_domain::project::Workspace;

use super::insert::{NewApproval, insert};
use super::{execution, revised};
use crate::activity_log::{document, log_activity, log_change};
use crate::approval_records;
use crate::context::Context;
use crate::tickets;

/// An advance that failed is tried again after so long, and longer each time.
const FIRST_PAUSE: Duration = Duration::from_secs(15);
const LONGEST_PAUSE: Duration = Duration::from_secs(10 * 60);

/// A ticket that is to be brought before the board.
#[derive(Clone, Debug)]
pub struct Advance {
    /// What was asked for.
    pub advance: TicketAdvance,
    /// The issue that the ticket belongs to.
    pub issue: Issue,
    /// Its worktrees, each with the workspace of the project.
    pub worktrees: Vec<(ExecutionWorkspace, Workspace)>,
}

/// The worktrees that an issue brings before the board, each with the workspace of the project;
/// none of an issue that is gone.
pub fn worktrees_of(
    reads: &mut dyn Reads,
    company: CompanyScope,
    issue: IssueId,
) -> Result<Vec<(ExecutionWorkspace, Workspace)>, StoreError> {
    match reads.issues().find(company.into(), &issue.into())? {
        Some(issue) => brought_by(reads, &issue),
        None => Ok(Vec::new()),
    }
}

fn brought_by(
    reads: &mut dyn Reads,
    issue: &Issue,
) -> Result<Vec<(ExecutionWorkspace, Workspace)>, StoreError> {
    let company = issue.scope();
    let mut worktrees = Vec::new();
    for worktree in tickets::brought_by(reads, issue)? {
        let workspace = worktree.project_workspace;
        if let Some(workspace) = reads.projects().find_workspace(company, workspace)? {
            worktrees.push((worktree, workspace));
        }
    }
    Ok(worktrees)
}

/// What is to be done for an advance; `None` when it is not wanted any more.
pub fn advance_of(
    reads: &mut dyn Reads,
    company: CompanyScope,
    issue: IssueId,
) -> Result<Option<Advance>, StoreError> {
    let Some(advance) = reads.execution_workspaces().advance(company, issue)? else {
        return Ok(None);
    };
    let Some(issue) = reads.issues().find(company.into(), &issue.into())? else {
        return Ok(None);
    };
    let worktrees = brought_by(reads, &issue)?;
    Ok(Some(Advance {
        advance,
        issue,
        worktrees,
    }))
}

/// What git found about the work of a ticket.
#[derive(Clone, Debug)]
pub enum WorkState {
    /// All of it is committed and has its base branch; `differs` is false where no
    /// worktree has anything that its base branch has not.
    Ready {
        /// Whether there is anything to merge.
        differs: bool,
        /// What the board is told of the work.
        summary: Value,
    },
    /// Somebody who works in the worktree must mend it first.
    Unfit {
        /// The worktree.
        workspace: ExecutionWorkspaceId,
        /// What is wrong with it.
        failure: StepFailure,
    },
}

/// A locked issue, and the agent that it is assigned to, if that may be given work.
type Assigned = (Locked<Issue>, Option<EmployedAgent>);

/// Locks an issue and the agent that it is assigned to, in the order of locks.
pub(crate) fn lock_assigned(
    tx: &mut dyn Tx,
    company: CompanyScope,
    issue: IssueId,
) -> Result<Option<Assigned>, StoreError> {
    let Some(seen) = tx.issues().find(company.into(), &issue.into())? else {
        return Ok(None);
    };
    let agent = match seen.assignee.agent() {
        Some(agent) => tx.agents_mut().share(company, agent)?,
        None => None,
    };
    let Some(issue) = tx.issues_mut().lock(company.into(), &issue.into())? else {
        return Ok(None);
    };
    if issue.assignee.agent() != seen.assignee.agent() {
        return Err(StoreError::Contended);
    }
    Ok(Some((issue, agent.and_then(Shared::employed))))
}

/// Writes down the head of a worktree whose work was committed and has all of its base branch.
pub fn note_head(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    worktree: ExecutionWorkspaceId,
    head: &str,
) -> Result<(), StoreError> {
    let locked = tx
        .execution_workspaces_mut()
        .lock(company.into(), worktree)?;
    let Some(mut worktree) = locked else {
        return Ok(());
    };
    worktree.head_commit = Some(head.to_owned());
    worktree.conflict_wakes = 0;
    tickets::save_and_tell(tx, ctx, &mut worktree, tickets::Cause::WorkEnded)
}

/// Ends an advance with what git found: asks the board, or has the worktree mended.
pub fn finish_advance(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    advance: &TicketAdvance,
    state: &WorkState,
) -> Result<(), StoreError> {
    let company = advance.scope();
    let Some((mut issue, agent)) = lock_assigned(tx, company, advance.issue)? else {
        return Ok(());
    };
    let present = tx.execution_workspaces().advance(company, issue.id)?;
    if present.as_ref() != Some(advance) {
        return Ok(());
    }
    tx.execution_workspaces_mut().end_advance(&issue)?;
    if issue.status() != IssueStatus::InReview {
        return Ok(());
    }
    match state {
        WorkState::Ready { differs, summary } => {
            if tx.issues().open_children(company, issue.id)? > 0 {
                return Ok(());
            }
            ask(tx, ctx, &mut issue, agent.as_ref(), *differs, summary)
        }
        WorkState::Unfit { workspace, failure } => {
            give_back(tx, ctx, &mut issue, agent.as_ref())?;
            have_mended(tx, ctx, &issue, agent.as_ref(), *workspace, failure)
        }
    }
}

/// Tries an advance again later: something outside was in the way. The issue tells of
/// it once for each reason, unless that passes by itself.
pub fn put_off_advance(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    advance: &TicketAdvance,
    failure: &StepFailure,
) -> Result<(), StoreError> {
    let company = advance.scope();
    let locked = tx
        .issues_mut()
        .lock(company.into(), &advance.issue.into())?;
    let Some(issue) = locked else {
        return Ok(());
    };
    let present = tx.execution_workspaces().advance(company, issue.id)?;
    let Some(mut present) = present.filter(|present| present == advance) else {
        return Ok(());
    };
    let doublings = u32::try_from(present.attempts).unwrap_or_default().min(10);
    let pause = FIRST_PAUSE
        .saturating_mul(1 << doublings)
        .min(LONGEST_PAUSE);
    let code = failure.fault.to_string();
    // Every ticket whose agent still works waits for a while, and that ends by itself.
    let passes = matches!(
        failure.fault,
        StepFault::WorkspaceBusy | StepFault::Interrupted
    );
    let is_news = !passes && present.error_code.as_ref() != Some(&code);
    present.attempts = present.attempts.saturating_add(1);
    present.not_before = ctx.now.plus(pause);
    present.error_code = Some(code);
    present.error = Some(failure.message.clone());
    tx.execution_workspaces_mut()
        .save_advance(&issue, &present)?;
    if is_news {
        let details = json!({
            "code": failure.fault,
            "error": failure.message,
            "facts": failure.details,
            "attempt": present.attempts,
            "nextAttemptAt": present.not_before,
        });
        log_activity(tx, ctx, Action::TicketAdvancePostponed, &*issue, details);
    }
    Ok(())
}

/// Asks the board for what the ticket has come to: its pull requests, a push to
/// those that there are, or its completion where nothing is to be merged.
fn ask(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &mut Locked<Issue>,
    agent: Option<&EmployedAgent>,
    differs: bool,
    summary: &Value,
) -> Result<(), StoreError> {
    let company = issue.scope();
    if execution::live_end_of(tx.reads(), ctx, issue)?.is_some() {
        // The steps that are being taken look at the work themselves.
        return Ok(());
    }
    let worktrees = brought_by(tx.reads(), issue)?;
    let is_open = |(worktree, _): &(ExecutionWorkspace, Workspace)| {
        let pull_request = worktree.pull_request.as_ref();
        pull_request.is_some_and(|it| it.state == PullRequestState::Open)
    };
    let kind = match (differs, worktrees.iter().any(is_open)) {
        (false, false) => ApprovalType::ApproveCompletion,
        (true, false) => ApprovalType::ApprovePullRequest,
        (_, true) => ApprovalType::ApprovePushToExistingPr,
    };
    let known = tx
        .approvals()
        .undecided_primary_for(company, kind, issue.id)?;
    if let Some(known) = known {
        return ask_again(tx, ctx, &known, payload(issue, &worktrees, summary));
    }
    approval_records::cancel_replaced_ends(tx, ctx, company, issue.id, kind)?;
    let requested_by = match (agent, issue.assignee.board()) {
        (Some(agent), _) => Author::Agent(agent.id),
        (None, Some(member)) => Author::Board(member),
        (None, None) => issue.created_by,
    };
    let new = NewApproval {
        kind,
        requested_by,
        payload: payload(issue, &worktrees, summary),
        attention: Vec::new(),
        primary_issue: Some(issue.id),
    };
    let locked = std::slice::from_ref(issue);
    insert(tx, ctx, company, new, locked, None)?;
    Ok(())
}

/// Asks the board again for what it wanted changed, and shows it the work as it is now where
/// it has not decided yet.
fn ask_again(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    known: &Approval,
    payload: Document,
) -> Result<(), StoreError> {
    let company = known.scope();
    let Some(mut approval) = tx.approvals_mut().lock(company.into(), known.id)? else {
        return Ok(());
    };
    let from = approval.status();
    let mut shown = approval.payload.clone();
    shown.extend(payload);
    match approval.state.resubmit() {
        Ok(pending) => {
            approval.state = pending;
            approval.payload = shown;
            revised::note(tx, ctx, &mut approval, from, true)
        }
        Err(_) if from == ApprovalStatus::Pending => revised::edit(tx, ctx, &mut approval, shown),
        Err(_) => Ok(()),
    }
}

/// What the board reads about the work of a ticket.
fn payload(
    issue: &Issue,
    worktrees: &[(ExecutionWorkspace, Workspace)],
    summary: &Value,
) -> Document {
    let first = worktrees.first().map(|(worktree, _)| worktree);
    let payload = json!({
        "issueId": issue.id,
        "issueIdentifier": issue.identifier,
        "title": format!("{}: {}", issue.identifier, issue.title),
        "work": summary,
    });
    let mut payload = document(payload);
    payload.extend(tickets::shown(first));
    payload
}

/// Puts the issue of a ticket back to work.
fn give_back(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &mut Locked<Issue>,
    agent: Option<&EmployedAgent>,
) -> Result<(), StoreError> {
    let to = match (agent, issue.assignee.board()) {
        (None, None) => IssueStatus::Todo,
        _ => IssueStatus::InProgress,
    };
    if to == IssueStatus::Todo {
        issue.assignee = Assignment::NOBODY;
    }
    let Ok(moved) = issue.progress.transition_to(Mover::Board, to, ctx.now) else {
        return Ok(());
    };
    issue.progress = moved.progress;
    issue.settle_review();
    issue.updated_at = ctx.now;
    tx.issues_mut().save(issue)?;
    let details = json!({ "from": moved.from, "to": to });
    log_change(tx, ctx, Action::IssueUpdated, issue, details);
    Ok(())
}
