//! The worktrees of tickets that ended a while ago are removed
//! (docs/tickets.md#clean-up).

use std::io;
use std::sync::Arc;

use workforce_app::pull_requests::{self, CleanUp, CleanUpOutcome};
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::ExecutionStep;
use workforce_domain::execution_workspace::ExecutionWorkspace;
use workforce_domain::port::{CarryOutError, StepFailure, StepFault, StoreError};
use workforce_domain::time::Timestamp;
use workforce_git::{CommitId, GitError, Repository};

use crate::state::EngineState;
use crate::tickets::fault::of_git;
use crate::tickets::leases::hold::Hold;
use crate::tickets::repository::source::{self, branch};
use crate::tickets::repository::worktree::{missing, path_of};
use crate::tickets::repository::{PATIENCE, git_of};

const STEP: ExecutionStep = ExecutionStep::Worktree;

/// Removes a worktree, or writes down why it is kept.
pub(super) async fn clean_up(
    state: &Arc<EngineState>,
    worktree: &ExecutionWorkspace,
    ended_by: Timestamp,
) -> Result<(), StoreError> {
    let (company, id) = (worktree.scope(), worktree.id);
    let begun = state
        .store
        .write(move |tx, ctx| {
            Ok(pull_requests::begin_clean_up(
                tx, ctx, company, id, ended_by,
            )?)
        })
        .await?;
    let Some(mut begun) = begun else {
        return Ok(());
    };
    let hold = Hold::new(state, company, vec![id], begun.held_until);
    let outcome = match hold.during(STEP, Box::pin(remove(state, &begun))).await {
        Ok(Ok(())) => CleanUpOutcome::Removed,
        Ok(Err(outcome)) => outcome,
        Err(CarryOutError::Store(error)) => return Err(error),
        Err(CarryOutError::Step(_) | CarryOutError::Overtaken) => CleanUpOutcome::PutOff,
    };
    begun.held_until = hold.until();
    match &outcome {
        CleanUpOutcome::Removed => tracing::info!(worktree = %id, "a worktree was removed"),
        CleanUpOutcome::Kept { reason, message } => {
            tracing::warn!(worktree = %id, reason, "a worktree is kept: {message}");
        }
        CleanUpOutcome::PutOff => tracing::info!(worktree = %id, "a worktree is kept for now"),
    }
    state
        .store
        .write(move |tx, ctx| Ok(pull_requests::finish_clean_up(tx, ctx, &begun, &outcome)?))
        .await
}

/// Removes a worktree in which nothing would be lost.
async fn remove(state: &EngineState, begun: &CleanUp) -> Result<(), CleanUpOutcome> {
    let settings = &state.config.tickets;
    let record = &begun.worktree;
    let path = path_of(settings, record);
    if let Err(error) = tokio::fs::symlink_metadata(&path).await {
        return match error.kind() {
            // What has to be removed is gone already.
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(CleanUpOutcome::PutOff),
        };
    }
    let git = git_of(state, STEP).await.map_err(kept)?;
    let source = source::open(state, git, &begun.workspace, false);
    let repository = source.await.map_err(kept)?.repository;
    let own = branch(&record.branch).map_err(kept)?;
    let _lock = repository
        .lock(PATIENCE)
        .await
        .map_err(|error| of_error(&error))?;
    let opened = repository.open_worktree(&path, &own).await;
    let opened = opened.map_err(|error| of_error(&error))?;
    let worktree = opened.ok_or_else(|| kept(missing(STEP, &path)))?;
    let safe = safe_commit(&repository, record)?;
    worktree
        .remove(&safe)
        .await
        .map_err(|error| of_error(&error))
}

/// The commit whose history is kept elsewhere than in the branch: the one that was
/// pushed; without a remote that of the base branch; else the one that the branch
/// started from.
fn safe_commit(
    repository: &Repository,
    record: &ExecutionWorkspace,
) -> Result<CommitId, CleanUpOutcome> {
    let known = |commit: &Option<String>| {
        let commit = commit.as_deref()?;
        CommitId::new(commit).ok()
    };
    if let Some(pushed) = known(&record.pushed_commit) {
        return Ok(pushed);
    }
    if record.push_address.is_none() {
        let base = branch(&record.base_branch).map_err(kept)?;
        if let Some(base) = repository
            .branch_head(&base)
            .map_err(|error| of_error(&error))?
        {
            return Ok(base);
        }
    }
    known(&record.base_commit).ok_or_else(|| of_error(&GitError::Unpushed))
}

fn of_error(error: &GitError) -> CleanUpOutcome {
    let reason = match error {
        GitError::Uncommitted { .. } => "uncommitted",
        GitError::Unpushed => "unpushed",
        GitError::OffBranch { .. } => "off_branch",
        GitError::OperationInProgress { .. } => "operation_in_progress",
        GitError::Timeout { .. } | GitError::Io { .. } => return CleanUpOutcome::PutOff,
        _ => return kept(of_git(STEP, error)),
    };
    CleanUpOutcome::Kept {
        reason: reason.to_owned(),
        message: of_git(STEP, error).message,
    }
}

fn kept(failure: StepFailure) -> CleanUpOutcome {
    match failure.fault {
        StepFault::WorkspaceBusy | StepFault::GitRemoteFailed => CleanUpOutcome::PutOff,
        fault => CleanUpOutcome::Kept {
            reason: fault.to_string(),
            message: failure.message,
        },
    }
}
