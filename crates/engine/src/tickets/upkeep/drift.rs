//! The base branch of an open pull request is merged into it when it moved
//! (docs/tickets.md#drift).

use std::sync::Arc;

use serde_json::json;
use workforce_app::pull_requests::{self, Drift, DriftOutcome, Obstacle};
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::ExecutionStep;
use workforce_domain::execution_workspace::PullRequestWatch;
use workforce_domain::port::{CarryOutError, StepFailure, StepFault, StoreError};
use workforce_git::{Branch, CommitId, Git, PushOutcome, Rejection, Worktree};

use crate::state::EngineState;
use crate::tickets::deliver::advance::credit;
use crate::tickets::deliver::work::{self, Synced};
use crate::tickets::fault::{failure, of_git};
use crate::tickets::leases::hold::Hold;
use crate::tickets::repository::remotes::{fetched_from, pushed_to};
use crate::tickets::repository::source::{self, branch};
use crate::tickets::repository::worktree;
use crate::tickets::repository::{PATIENCE, git_of};

const STEP: ExecutionStep = ExecutionStep::Sync;

/// Looks whether the base branch of a pull request moved, and merges it if it did.
pub(super) async fn keep_up(
    state: &Arc<EngineState>,
    due: &PullRequestWatch,
) -> Result<(), StoreError> {
    let (company, id) = (due.scope(), due.workspace);
    let drift = state
        .store
        .write(move |tx, ctx| Ok(pull_requests::claim_drift(tx, ctx, company, id)?))
        .await?;
    let Some(drift) = drift else {
        return Ok(());
    };
    let outcome = match look(state, &drift).await {
        Ok(Some(outcome)) => outcome,
        Ok(None) => return Ok(()),
        Err(CarryOutError::Overtaken) => return Ok(()),
        Err(CarryOutError::Store(error)) => return Err(error),
        Err(CarryOutError::Step(failure)) => stopped(*failure, None),
    };
    if let DriftOutcome::Stopped { failure, .. } = &outcome {
        tracing::info!(worktree = %id, "a base branch is not merged: {}", failure.message);
    }
    state
        .store
        .write(move |tx, ctx| Ok(pull_requests::finish_drift(tx, ctx, &drift, &outcome)?))
        .await
}

/// What came of it; `None` where there is nothing new.
async fn look(
    state: &Arc<EngineState>,
    drift: &Drift,
) -> Result<Option<DriftOutcome>, CarryOutError> {
    let of_step = |failure: StepFailure| CarryOutError::Step(Box::new(failure));
    let git = git_of(state, STEP).await.map_err(of_step)?;
    // Nothing is held yet: the look is simply due again later.
    let moved = state
        .closing
        .run_until_cancelled(moved_base(state, git, drift));
    let Some(base) = moved.await.transpose().map_err(of_step)?.flatten() else {
        return Ok(None);
    };
    let (company, id) = (drift.worktree.scope(), drift.worktree.id);
    let held = state
        .store
        .write(move |tx, ctx| Ok(pull_requests::hold_for_drift(tx, ctx, company, id)?))
        .await?;
    let Some(until) = held else {
        return Ok(None);
    };
    let hold = Hold::new(state, company, vec![id], until);
    let merged = hold
        .during(STEP, Box::pin(merge(state, git, drift, &base)))
        .await;
    hold.release().await?;
    merged.flatten().map(Some)
}

/// The commit of the base branch at its remote, if it is not the one that was merged
/// last, or that cannot be merged. Nothing but refs is read.
async fn moved_base(
    state: &EngineState,
    git: &Git,
    drift: &Drift,
) -> Result<Option<CommitId>, StepFailure> {
    let record = &drift.worktree;
    let base = branch(&record.base_branch)?;
    let Some(remote) = fetched_from(state, record, STEP).await? else {
        return Ok(None);
    };
    let found = git.remote_head(&remote, &base).await;
    let found = found.map_err(|error| of_git(STEP, &error))?;
    let found = found.ok_or_else(|| missing_base(&base))?;
    let watch = &drift.watch;
    if watch.merged_base.as_deref() == Some(found.as_str()) {
        return Ok(None);
    }
    if watch.obstacle.is_some() {
        let source = source::open(state, git, &drift.workspace, false).await?;
        let own = branch(&record.branch)?;
        let head = source.repository.branch_head(&own);
        let head = head.map_err(|error| of_git(STEP, &error))?;
        if head.is_some_and(|head| watch.obstacle == Some(conflict_of(&found, &head))) {
            return Ok(None);
        }
    }
    Ok(Some(found))
}

fn missing_base(base: &Branch) -> StepFailure {
    let message = format!("the remote has no branch {base}");
    let facts = json!({ "baseBranch": base.as_str() });
    failure(STEP, StepFault::BaseBranchMissing, message, facts)
}

/// A conflict is another one when either side has moved.
fn conflict_of(base: &CommitId, head: &CommitId) -> String {
    format!("{} {base} {head}", StepFault::SyncConflict)
}

/// Merges the base branch and pushes what comes of it. Nobody works in the worktree.
async fn merge(
    state: &Arc<EngineState>,
    git: &Git,
    drift: &Drift,
    base: &CommitId,
) -> Result<DriftOutcome, CarryOutError> {
    let of_step = |failure: StepFailure| CarryOutError::Step(Box::new(failure));
    let record = &drift.worktree;
    let credit = credit(state, &drift.issue, record.id).await?;
    let opened = worktree::open(state, git, record, &drift.workspace, STEP).await;
    let (source, opened) = opened.map_err(of_step)?;
    let lock = source.repository.lock(PATIENCE).await;
    let _lock = lock.map_err(|error| of_step(of_git(STEP, &error)))?;
    let pushed = pushed(drift, &opened).await.map_err(of_step)?;
    let synced = work::sync(state, record, &opened, &drift.issue, &credit).await;
    let done = match synced {
        Ok(done) => done,
        Err(failure) => {
            let head = opened.head().ok();
            // What the server does not merge, such as files with a merge driver, is a conflict too.
            let is_conflict = matches!(
                failure.fault,
                StepFault::SyncConflict | StepFault::UnsafeFiles
            );
            let mut outcome = stopped(failure, head.as_ref().filter(|it| **it != pushed));
            if let (DriftOutcome::Stopped { obstacle, .. }, Some(head), true) =
                (&mut outcome, &head, is_conflict)
            {
                *obstacle = Obstacle::Conflict(conflict_of(base, head));
            }
            return Ok(outcome);
        }
    };
    let Synced { head, base, .. } = done.value;
    let merged = base.as_str().to_owned();
    if head == pushed {
        return Ok(DriftOutcome::UpToDate { base: merged });
    }
    Ok(match push(state, drift, &opened, &head).await {
        Ok(()) => DriftOutcome::Merged {
            base: merged,
            head: head.as_str().to_owned(),
        },
        Err(failure) => stopped(failure, Some(&head)),
    })
}

/// The commit that was pushed last. Nothing else may be in the branch but what
/// workforce merged itself: nobody has agreed to push it.
async fn pushed(drift: &Drift, opened: &Worktree) -> Result<CommitId, StepFailure> {
    let head = opened.head().map_err(|error| of_git(STEP, &error))?;
    let known = drift.worktree.pushed_commit.as_deref();
    let Some(pushed) = known.and_then(|it| CommitId::new(it).ok()) else {
        return Err(unpushed(drift));
    };
    let is_own = drift.watch.merged_head.as_deref() == Some(head.as_str());
    if head == pushed || is_own {
        return Ok(pushed);
    }
    let is_pushed = opened.repository().is_ancestor(&head, &pushed).await;
    match is_pushed.map_err(|error| of_git(STEP, &error))? {
        true => Ok(pushed),
        false => Err(unpushed(drift)),
    }
}

fn unpushed(drift: &Drift) -> StepFailure {
    let branch = &drift.worktree.branch;
    let message = format!("{branch} has commits that the board has not agreed to push");
    let facts = json!({ "branch": branch, "reason": "unpushed" });
    failure(STEP, StepFault::GitCommitFailed, message, facts)
}

async fn push(
    state: &EngineState,
    drift: &Drift,
    opened: &Worktree,
    head: &CommitId,
) -> Result<(), StepFailure> {
    let record = &drift.worktree;
    let remote = pushed_to(state, record, STEP).await?;
    let Some(remote) = remote else {
        return Err(unpushed(drift));
    };
    let rejected = |message: String| {
        let facts = json!({ "branch": record.branch });
        failure(STEP, StepFault::GitPushRejected, message, facts)
    };
    let outcome = opened.push(&remote, head).await;
    match outcome.map_err(|error| of_git(STEP, &error))? {
        PushOutcome::Pushed | PushOutcome::UpToDate => Ok(()),
        PushOutcome::Rejected(Rejection::NonFastForward) => Err(rejected(
            "somebody pushed to the branch meanwhile".to_owned(),
        )),
        PushOutcome::Rejected(Rejection::Other(reason)) => {
            Err(rejected(format!("the remote refuses the branch: {reason}")))
        }
    }
}

/// What was in the way, and whether anybody is told of it.
fn stopped(failure: StepFailure, head: Option<&CommitId>) -> DriftOutcome {
    let passes = matches!(
        failure.fault,
        StepFault::WorkspaceBusy | StepFault::GitRemoteFailed | StepFault::Interrupted
    );
    let obstacle = match passes {
        true => Obstacle::Passing,
        false => Obstacle::Told(failure.fault.to_string()),
    };
    DriftOutcome::Stopped {
        obstacle,
        failure,
        head: head.map(|head| head.as_str().to_owned()),
    }
}
