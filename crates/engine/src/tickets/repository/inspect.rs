//! Looks at a worktree from outside.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;
use workforce_domain::actor::CompanyScope;
use workforce_domain::approval::ExecutionStep;
use workforce_domain::execution_workspace::{
    ChangedFile, CommitFacts, DiffRequest, ExecutionWorkspace, ExecutionWorkspaceStatus, FileDiff,
    FileStatus, RefusedFile, WorktreeDiff, WorktreeState,
};
use workforce_domain::id::ExecutionWorkspaceId;
use workforce_domain::port::{CarryOutError, StepFailure, StepFault};
use workforce_git::{CommitId, DiffTo, GitError, LogEntry, Refusal, Status, Worktree};

use super::git_of;
use super::source::branch;
use super::worktree::{self, missing, path_of};
use crate::state::EngineState;
use crate::tickets::fault::{failure, of_git};

/// So many files and commits are named.
const NAMED: usize = 200;
const COMMITS: usize = 50;
/// The longest look.
const LIMIT: Duration = Duration::from_secs(30);
const STEP: ExecutionStep = ExecutionStep::Worktree;

/// Tells what lies in a worktree.
pub(crate) async fn inspect(
    state: Arc<EngineState>,
    company: CompanyScope,
    id: ExecutionWorkspaceId,
) -> Result<WorktreeState, CarryOutError> {
    look_at(&state, company, id, async |record, worktree| {
        let base = base_of(&record, &worktree)?;
        let parted = worktree.ahead_behind(&base).await?;
        let changes = worktree.changes(NAMED).await?;
        let changed = |change: workforce_git::Change| ChangedFile {
            path: change.path,
            status: status_of(change.status),
        };
        Ok(WorktreeState {
            cwd: worktree.path().to_string_lossy().into_owned(),
            ahead: parted.ahead,
            behind: parted.behind,
            last_commit: facts(worktree.last_commit().await?),
            commits: worktree
                .log(&base, COMMITS)
                .await?
                .into_iter()
                .map(facts)
                .collect(),
            changed_files: changes.first.into_iter().map(changed).collect(),
            total_changed_files: changes.total,
            refused_files: refused(changes.refused),
        })
    })
    .await
}

/// Compares a worktree with its base branch.
pub(crate) async fn diff(
    state: Arc<EngineState>,
    company: CompanyScope,
    id: ExecutionWorkspaceId,
    request: DiffRequest,
) -> Result<WorktreeDiff, CarryOutError> {
    look_at(&state, company, id, async |record, worktree| {
        let base = base_of(&record, &worktree)?;
        let to = match request.committed_only {
            true => DiffTo::Head,
            false => DiffTo::Files,
        };
        let head = worktree.head()?;
        let diff = worktree.diff(&base, to, request.patch_bytes).await?;
        let file = |file: workforce_git::FileDiff| FileDiff {
            path: file.path,
            old_path: file.old_path,
            status: status_of(file.status),
            additions: file.additions,
            deletions: file.deletions,
        };
        Ok(WorktreeDiff {
            merge_base: diff.merge_base.map(|commit| commit.as_str().to_owned()),
            head_commit: head.as_str().to_owned(),
            includes_uncommitted: !request.committed_only,
            files: diff.files.into_iter().map(file).collect(),
            patch: diff.patch,
            truncated: diff.is_truncated,
            refused_files: refused(diff.refused),
        })
    })
    .await
}

/// Looks at a worktree within a bounded time.
async fn look_at<T, F>(
    state: &Arc<EngineState>,
    company: CompanyScope,
    id: ExecutionWorkspaceId,
    look: impl FnOnce(ExecutionWorkspace, Worktree) -> F,
) -> Result<T, CarryOutError>
where
    F: Future<Output = Result<T, GitError>>,
{
    let found = state
        .store
        .read(move |reads| {
            let Some(record) = reads.execution_workspaces().find(company.into(), id)? else {
                return Ok(None);
            };
            let workspace = record.project_workspace;
            let workspace = reads.projects().find_workspace(company, workspace)?;
            Ok(workspace.map(|workspace| (record, workspace)))
        })
        .await?;
    let refused = |failure: StepFailure| CarryOutError::Step(Box::new(failure));
    let settings = &state.config.tickets;
    let Some((record, workspace)) = found else {
        let path = settings.worktrees.join(id.to_string());
        return Err(refused(missing(STEP, &path)));
    };
    if record.status != ExecutionWorkspaceStatus::Ready {
        return Err(refused(missing(STEP, &path_of(settings, &record))));
    }
    let git = git_of(state, STEP).await.map_err(refused)?;
    let opened = worktree::open(state, git, &record, &workspace, STEP).await;
    let (_source, worktree) = opened.map_err(refused)?;
    match timeout(LIMIT, look(record, worktree)).await {
        Ok(looked) => looked.map_err(|error| refused(of_git(STEP, &error))),
        Err(_elapsed) => {
            let message = "the worktree cannot be looked at in time";
            Err(refused(failure(
                STEP,
                StepFault::GitFailed,
                message,
                json!({}),
            )))
        }
    }
}

/// The base branch as far as it is known without asking the remote.
fn base_of(record: &ExecutionWorkspace, worktree: &Worktree) -> Result<CommitId, GitError> {
    let own = match branch(&record.base_branch) {
        Ok(base) => worktree.repository().branch_head(&base)?,
        Err(_) => None,
    };
    let started = record.base_commit.as_deref().map(CommitId::new);
    match (own, started) {
        (Some(own), _) => Ok(own),
        (None, Some(Ok(started))) => Ok(started),
        (None, _) => worktree.head(),
    }
}

fn facts(entry: LogEntry) -> CommitFacts {
    CommitFacts {
        commit: entry.commit.as_str().to_owned(),
        author: entry.author,
        time: entry.time,
        subject: entry.subject,
    }
}

fn refused(files: Vec<Refusal>) -> Vec<RefusedFile> {
    let named = |file: Refusal| RefusedFile {
        path: file.path,
        reason: file.reason.to_string(),
    };
    files.into_iter().take(NAMED).map(named).collect()
}

const fn status_of(status: Status) -> FileStatus {
    match status {
        Status::Added => FileStatus::Added,
        Status::Modified => FileStatus::Modified,
        Status::Deleted => FileStatus::Deleted,
        Status::Renamed => FileStatus::Renamed,
    }
}
