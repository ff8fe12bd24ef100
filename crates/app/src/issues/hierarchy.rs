//! Parents of issues: of the same company, never a cycle, never too deep
//! (docs/issues.md#hierarchy).

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::id::{ExecutionWorkspaceId, GoalId, IssueId, ProjectId};
use workforce_domain::issue::{Issue, IssueRef, IssueStatus};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{AssigneeFilter, Failure, IssueFilter, Locked, Reads, StoreError, Tx};
use workforce_domain::string_enum::StringEnum;

use super::update_command::UpdateIssue;
use super::{IssueError, assignment, seen};
use crate::access::FieldFault;
use crate::activity_log::log_change;
use crate::context::Context;

/// The parent a new issue is put below.
pub(super) fn parent_of_new(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyScope,
    parent: &IssueRef,
) -> Result<Issue, Failure<IssueError>> {
    let found = existing(reads, company, parent)?;
    require_part_in_ticket(reads, ctx, &found)?;
    let above = reads.issues().ancestors(company, found.id)?.len();
    if above + 2 > Issue::MAX_DEPTH {
        return Err(Failure::Refused(IssueError::TooDeep));
    }
    Ok(found)
}

/// Refuses an agent that puts work below an issue with a worktree and has no part in
/// the ticket: its work would go to the same branch, and the ticket wait for it. Those
/// may who may change the issue or one above it, and who has an open part of it.
fn require_part_in_ticket(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    parent: &Issue,
) -> Result<(), Failure<IssueError>> {
    let (Some(caller), true) = (ctx.agent(), parent.execution_workspace.is_some()) else {
        return Ok(());
    };
    let company = parent.scope();
    let refused = match assignment::require_stake(reads, ctx, company, parent, None) {
        Err(refused @ Failure::Refused(_)) => refused,
        settled => return settled,
    };
    for above in reads.issues().ancestors(company, parent.id)? {
        if assignment::require_stake(reads, ctx, company, &above, None).is_ok() {
            return Ok(());
        }
    }
    let open = IssueStatus::ALL.iter().filter(|it| !it.is_terminal());
    let own_parts = IssueFilter {
        statuses: open.copied().collect(),
        assignee: Some(AssigneeFilter::Agent(caller.agent)),
        parent: Some(parent.id),
        ..IssueFilter::default()
    };
    let one = PageRequest {
        limit: 1,
        ..PageRequest::first()
    };
    match reads
        .issues()
        .list(company, &own_parts, &one)?
        .items
        .is_empty()
    {
        true => Err(refused),
        false => Ok(()),
    }
}

/// Checks that an issue may be moved below another, and tells the other's id. `ends` says that
/// the issue is to end with the move, which its new parent is locked for.
pub(super) fn check_move(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    issue: &Issue,
    parent: &IssueRef,
    ends: bool,
) -> Result<IssueId, Failure<IssueError>> {
    let parent = existing(tx.reads(), company, parent)?;
    if issue.parent != Some(parent.id) {
        require_part_in_ticket(tx.reads(), ctx, &parent)?;
    }
    let parent = parent.id;
    if ends {
        // In the order of locks: issues, then their hierarchy.
        tx.issues_mut().lock(company.into(), &parent.into())?;
    }
    // Two moves at once could make a cycle that neither makes alone.
    tx.issues_mut().lock_hierarchy(company)?;
    let above = tx.issues().ancestors(company, parent)?;
    if parent == issue.id || above.iter().any(|ancestor| ancestor.id == issue.id) {
        return Err(Failure::Refused(IssueError::Cycle));
    }
    let below = tx.issues().depth_below(company, issue.id)?;
    if above.len() + below + 2 > Issue::MAX_DEPTH {
        return Err(Failure::Refused(IssueError::TooDeep));
    }
    Ok(parent)
}

/// The issues below one that moves to another worktree.
pub(super) struct Followers {
    /// The worktree of the new parent.
    worktree: Option<ExecutionWorkspaceId>,
    /// All that lie below, locked.
    below: Vec<Locked<Issue>>,
}

/// Locks what lies below an issue that a change takes to another worktree; `None` when it
/// stays with its worktree. Comes before the lock on the issue.
pub(super) fn lock_followers(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &IssueRef,
    command: &UpdateIssue,
) -> Result<Option<Followers>, Failure<IssueError>> {
    if command.parent_id.is_keep() {
        return Ok(None);
    }
    let issue = seen(tx.reads(), ctx, issue)?;
    let scope = issue.scope();
    let parent = match command.parent_id.value() {
        Some(parent) => tx.issues().find(scope.into(), parent)?,
        None => None,
    };
    let worktree = parent.and_then(|parent| parent.execution_workspace);
    if worktree == issue.execution_workspace || owns_its_worktree(tx.reads(), &issue)? {
        return Ok(None);
    }
    let below = tx.issues_mut().lock_below(scope, issue.id)?;
    Ok(Some(Followers { worktree, below }))
}

/// True when an issue has a worktree that it did not inherit. It keeps that wherever it is
/// moved.
fn owns_its_worktree(reads: &mut dyn Reads, issue: &Issue) -> Result<bool, StoreError> {
    let (Some(worktree), Some(parent)) = (issue.execution_workspace, issue.parent) else {
        return Ok(issue.execution_workspace.is_some());
    };
    let record = reads
        .execution_workspaces()
        .find(issue.scope().into(), worktree)?;
    if let Some(owner) = record.and_then(|record| record.owner) {
        return Ok(owner == issue.id);
    }
    let parent = reads.issues().find(issue.scope().into(), &parent.into())?;
    Ok(parent.is_none_or(|parent| parent.execution_workspace != Some(worktree)))
}

/// Puts an issue below another, or at the top. It and all below it that have inherited its
/// worktree take over that of the new parent. The issue is changed, not saved.
pub(super) fn move_below(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    issue: &mut Locked<Issue>,
    parent: Option<IssueId>,
    followers: Option<Followers>,
) -> Result<(), StoreError> {
    let (former, inherited) = (issue.parent, issue.execution_workspace);
    issue.parent = parent;
    let Some(Followers { worktree, below }) = followers else {
        return Ok(());
    };
    if former == parent || inherited == worktree {
        return Ok(());
    }
    issue.execution_workspace = worktree;
    for mut follower in below {
        if follower.execution_workspace != inherited {
            continue;
        }
        follower.execution_workspace = worktree;
        follower.updated_at = ctx.now;
        tx.issues_mut().save(&follower)?;
        log_change(tx, ctx, Action::IssueUpdated, &mut follower, json!({}));
    }
    Ok(())
}

fn existing(
    reads: &mut dyn Reads,
    company: CompanyScope,
    parent: &IssueRef,
) -> Result<Issue, Failure<IssueError>> {
    reads
        .issues()
        .find(company.into(), parent)?
        .ok_or_else(|| FieldFault::missing("/parentId", "issue").into())
}

/// Refuses a project or goal that does not exist in the company.
pub(super) fn check_places(
    reads: &mut dyn Reads,
    company: CompanyScope,
    project: Option<ProjectId>,
    goal: Option<GoalId>,
) -> Result<(), Failure<IssueError>> {
    if let Some(project) = project
        && reads.projects().find(company.into(), project)?.is_none()
    {
        return Err(FieldFault::missing("/projectId", "project").into());
    }
    if let Some(goal) = goal
        && reads.goals().find(company.into(), goal)?.is_none()
    {
        return Err(FieldFault::missing("/goalId", "goal").into());
    }
    Ok(())
}
