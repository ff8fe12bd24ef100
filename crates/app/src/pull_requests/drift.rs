//! The base branch of an open pull request moves, and is merged into it
//! (docs/tickets.md#drift).

use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::execution_workspace::{
    ExecutionWorkspace, ExecutionWorkspaceStatus, PullRequestState, PullRequestWatch,
};
use workforce_domain::id::ExecutionWorkspaceId;
use workforce_domain::issue::{Issue, IssueStatus};
use workforce_domain::port::{Reads, StepFailure, StoreError, Tx};
use workforce_domain::project::Workspace;
use workforce_domain::time::Timestamp;

use super::idle::hold_idle;
use crate::activity_log::log_activity;
use crate::approvals::advance::{have_mended, lock_assigned};
use crate::context::Context;
use crate::tickets::DRIFT_EVERY;

/// A pull request whose base branch is to be looked at.
#[derive(Clone, Debug)]
pub struct Drift {
    /// The issue that the ticket belongs to.
    pub issue: Issue,
    /// Its worktree.
    pub worktree: ExecutionWorkspace,
    /// The workspace of the project.
    pub workspace: Workspace,
    /// The watch: what was merged last, and what was in the way.
    pub watch: PullRequestWatch,
}

/// What came of a look at the base branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriftOutcome {
    /// The branch of the ticket has all of this commit.
    UpToDate {
        /// A commit of the base branch.
        base: String,
    },
    /// The base branch was merged, and the result was pushed.
    Merged {
        /// The commit of the base branch.
        base: String,
        /// The commit that was pushed.
        head: String,
    },
    /// The base branch was not merged.
    Stopped {
        /// What was in the way.
        obstacle: Obstacle,
        /// The same for people.
        failure: StepFailure,
        /// The newest commit of the branch, if workforce made what is not pushed of it.
        head: Option<String>,
    },
}

/// What keeps a base branch from being merged. A text is the same as long as nothing
/// else is in the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// It passes by itself.
    Passing,
    /// The board may want to look.
    Told(String),
    /// Both branches changed the same, or what the server does not merge.
    Conflict(String),
}

/// Takes a look at a base branch that is due, so that no other server does; `None`
/// where there is nothing to be merged into: nobody is to be disturbed in his work.
pub fn claim_drift(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    id: ExecutionWorkspaceId,
) -> Result<Option<Drift>, StoreError> {
    let locked = tx.execution_workspaces_mut().lock(company.into(), id)?;
    let Some(worktree) = locked else {
        return Ok(None);
    };
    let watch = tx.pull_request_watches().find(company, id)?;
    let Some(mut watch) = watch.filter(|watch| watch.drift_due_at <= ctx.now) else {
        return Ok(None);
    };
    watch.drift_due_at = ctx.now.plus(DRIFT_EVERY);
    tx.pull_request_watches_mut().save(&worktree, &watch)?;
    if tx.execution_workspaces().live_run(company, id)?.is_some() {
        return Ok(None);
    }
    let Some(issue) = issue_to_keep_up(tx.reads(), &worktree)? else {
        return Ok(None);
    };
    let workspace = worktree.project_workspace;
    let workspace = tx.projects().find_workspace(company, workspace)?;
    Ok(workspace.map(|workspace| Drift {
        issue,
        worktree: (*worktree).clone(),
        workspace,
        watch,
    }))
}

/// The issue of a ticket whose pull request is kept up with its base branch: done, or
/// in review.
fn issue_to_keep_up(
    reads: &mut dyn Reads,
    worktree: &ExecutionWorkspace,
) -> Result<Option<Issue>, StoreError> {
    let pull_request = worktree.pull_request.as_ref();
    let is_open = pull_request.is_some_and(|it| it.state == PullRequestState::Open);
    let is_pushed = worktree.fetch_address.is_some() && worktree.push_address.is_some();
    let is_ready = worktree.status == ExecutionWorkspaceStatus::Ready;
    let Some(owner) = worktree.owner.filter(|_| is_open && is_pushed && is_ready) else {
        return Ok(None);
    };
    let issue = reads
        .issues()
        .find(worktree.scope().into(), &owner.into())?;
    Ok(issue.filter(|it| matches!(it.status(), IssueStatus::Done | IssueStatus::InReview)))
}

/// Keeps runs out of the worktree of a pull request, now that its base branch has
/// moved: until when. `None` where somebody works in it, or the pull request is not
/// to be kept up any more.
pub fn hold_for_drift(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    id: ExecutionWorkspaceId,
) -> Result<Option<Timestamp>, StoreError> {
    let locked = tx.execution_workspaces_mut().lock(company.into(), id)?;
    let Some(mut worktree) = locked else {
        return Ok(None);
    };
    if issue_to_keep_up(tx.reads(), &worktree)?.is_none() {
        return Ok(None);
    }
    let held = hold_idle(tx, ctx, &mut worktree)?;
    if held.is_some() {
        tx.execution_workspaces_mut().save(&worktree)?;
    }
    Ok(held)
}

/// Writes down what came of a look at a base branch.
pub fn finish_drift(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    drift: &Drift,
    outcome: &DriftOutcome,
) -> Result<(), StoreError> {
    let (company, id) = (drift.watch.scope(), drift.worktree.id);
    let Some((issue, agent)) = lock_assigned(tx, company, drift.issue.id)? else {
        return Ok(());
    };
    let locked = tx.execution_workspaces_mut().lock(company.into(), id)?;
    let Some(mut worktree) = locked.filter(|it| it.owner == Some(issue.id)) else {
        return Ok(());
    };
    let watch = tx.pull_request_watches().find(company, id)?;
    match outcome {
        DriftOutcome::UpToDate { .. } => {}
        DriftOutcome::Merged { base, head } => {
            // What was pushed is pushed, whatever became of the pull request meanwhile.
            worktree.head_commit = Some(head.clone());
            worktree.pushed_commit = Some(head.clone());
            worktree.conflict_wakes = 0;
            worktree.updated_at = ctx.now;
            tx.execution_workspaces_mut().save(&worktree)?;
            let details = json!({
                "branch": worktree.branch,
                "baseBranch": worktree.base_branch,
                "baseCommit": base,
                "commit": head,
                "executionWorkspaceId": id,
            });
            log_activity(tx, ctx, Action::TicketDriftMerged, &*issue, details);
        }
        DriftOutcome::Stopped { .. } => {}
    }
    let Some(mut watch) = watch else {
        return Ok(());
    };
    match outcome {
        DriftOutcome::UpToDate { base } => keep_base(&mut watch, base),
        DriftOutcome::Merged { base, .. } => {
            keep_base(&mut watch, base);
            // Its checks begin anew.
            watch.due_at = ctx.now;
        }
        DriftOutcome::Stopped {
            obstacle,
            failure,
            head,
        } => {
            if head.is_some() {
                watch.merged_head.clone_from(head);
            }
            match obstacle {
                Obstacle::Told(told) if is_news(&mut watch, told) => {
                    let details = json!({
                        "code": failure.fault,
                        "error": failure.message,
                        "facts": failure.details,
                        "branch": worktree.branch,
                        "baseBranch": worktree.base_branch,
                        "executionWorkspaceId": id,
                    });
                    log_activity(tx, ctx, Action::TicketDriftPostponed, &*issue, details);
                }
                Obstacle::Conflict(told) if is_news(&mut watch, told) && !watch.escalated => {
                    let wakes = worktree.conflict_wakes;
                    watch.escalated =
                        agent.is_none() || wakes >= ExecutionWorkspace::MAX_CONFLICT_WAKES;
                    have_mended(tx, ctx, &issue, agent.as_ref(), id, failure)?;
                }
                Obstacle::Passing | Obstacle::Told(_) | Obstacle::Conflict(_) => {}
            }
        }
    }
    tx.pull_request_watches_mut().save(&worktree, &watch)
}

/// Whether something else was in the way before, which is forgotten.
fn is_news(watch: &mut PullRequestWatch, obstacle: &str) -> bool {
    let is_news = watch.obstacle.as_deref() != Some(obstacle);
    watch.obstacle = Some(obstacle.to_owned());
    is_news
}

fn keep_base(watch: &mut PullRequestWatch, base: &str) {
    watch.merged_base = Some(base.to_owned());
    watch.merged_head = None;
    watch.obstacle = None;
    watch.escalated = false;
}
