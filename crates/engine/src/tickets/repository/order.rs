//! A worktree is looked at before a program starts in it: agents leave it on other branches, in the
//! midst of a merge, or with the lock of a git that was killed (docs/tickets.md#before-a-run).

use std::fs;
use std::path::Path;

use serde_json::json;
use workforce_domain::approval::ExecutionStep;
use workforce_domain::execution_workspace::{
    ExecutionWorkspace, WorktreeDisorder, WorktreeFinding,
};
use workforce_domain::port::{StepFailure, StepFault};
use workforce_git::{CommitId, Disorder, Finding, Repository, Worktree};

use super::PATIENCE;
use super::source::branch;
use super::worktree::make_again;
use crate::adapter::local::offload;
use crate::state::EngineState;
use crate::tickets::fault::{failure, of_git};

/// Opens the worktree of a ticket, made again where it is none any more, and puts in order what
/// can be without a loss; what was found there.
pub(super) async fn set_in_order(
    state: &EngineState,
    repository: &Repository,
    record: &ExecutionWorkspace,
    path: &Path,
    step: ExecutionStep,
) -> Result<(Worktree, Vec<WorktreeFinding>), StepFailure> {
    let of_git = |error| of_git(step, &error);
    let branch = branch(&record.branch)?;
    let noted = record.head_commit.as_deref();
    let noted = noted.and_then(|commit| CommitId::new(commit).ok());
    let found = {
        let _lock = repository.lock(PATIENCE).await.map_err(of_git)?;
        repository.set_in_order(path, &branch, noted.as_ref()).await
    };
    let found = found.map_err(of_git)?;
    if found.iter().any(|finding| finding.is_mended) {
        let (owner, given) = (state.config.containment.owner(), path.to_owned());
        let handed = offload(move || owner.give_home(&given)).await;
        handed.map_err(|error| {
            let message = format!("the worktree: {error}");
            failure(step, StepFault::GitFailed, message, json!({}))
        })?;
    }
    let mut findings: Vec<WorktreeFinding> = found.into_iter().map(told).collect();
    let opened = repository.open_worktree(path, &branch).await;
    if let Some(worktree) = opened.map_err(of_git)? {
        return Ok((worktree, findings));
    }
    let stood_there = fs::symlink_metadata(path).is_ok();
    let worktree = make_again(state, repository, path, &branch, step).await?;
    if stood_there {
        findings.push(WorktreeFinding {
            disorder: WorktreeDisorder::GitFileReplaced,
            is_mended: true,
            detail: last_aside(path),
        });
    }
    Ok((worktree, findings))
}

fn told(finding: Finding) -> WorktreeFinding {
    let (disorder, detail) = match finding.disorder {
        Disorder::Operation(operation) => (
            WorktreeDisorder::OperationInProgress,
            Some(operation.to_string()),
        ),
        Disorder::OtherBranch { branch } => (WorktreeDisorder::OffBranch, Some(branch)),
        Disorder::DetachedHead { commit } => (WorktreeDisorder::DetachedHead, Some(commit)),
        Disorder::BranchReset { former } => {
            (WorktreeDisorder::BranchReset, Some(former.to_string()))
        }
        Disorder::BranchDeleted { commit } => (
            WorktreeDisorder::BranchDeleted,
            commit.map(|commit| commit.to_string()),
        ),
        Disorder::GitFileReplaced => (WorktreeDisorder::GitFileReplaced, None),
        Disorder::LeftLock => (WorktreeDisorder::LeftLock, None),
    };
    WorktreeFinding {
        disorder,
        is_mended: finding.is_mended,
        detail,
    }
}

/// Where a folder in the place of a worktree was put last.
fn last_aside(path: &Path) -> Option<String> {
    let prefix = format!("{}.quarantine-", path.file_name()?.to_str()?);
    let beside = fs::read_dir(path.parent()?).ok()?;
    let last = beside
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let number = entry
                .file_name()
                .to_str()?
                .strip_prefix(&prefix)?
                .parse::<u32>();
            Some((number.ok()?, entry.path()))
        })
        .max()?;
    Some(last.1.display().to_string())
}
