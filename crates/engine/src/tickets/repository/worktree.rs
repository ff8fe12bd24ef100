//! The worktree of a ticket as runs find it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use workforce_app::approvals::advance::worktrees_of;
use workforce_app::tickets::note_condition;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::approval::ExecutionStep;
use workforce_domain::execution_workspace::{
    ExecutionWorkspace, ExecutionWorkspaceStatus, WorktreeFinding,
};
use workforce_domain::id::IssueId;
use workforce_domain::port::{StepFailure, StepFault, StoreError};
use workforce_domain::project::Workspace;
use workforce_domain::run::Run;
use workforce_git::{Branch, CommitId, Git, Repository, Worktree};

use super::order;
use super::source::{self, Source, branch};
use super::{PATIENCE, git_of};
use crate::adapter::local::offload;
use crate::live::LiveRun;
use crate::outage::until_answered;
use crate::state::EngineState;
use crate::tickets::fault::{failure, of_git};
use crate::tickets::settings::TicketSettings;

/// Where the worktree of a ticket lies.
pub(in crate::tickets) fn path_of(
    settings: &TicketSettings,
    worktree: &ExecutionWorkspace,
) -> PathBuf {
    settings.worktrees.join(&worktree.path)
}

/// A worktree in which a run works.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The worktree.
    pub(crate) record: ExecutionWorkspace,
    /// The workspace of the project.
    pub(crate) workspace: Workspace,
    /// Its folder.
    pub(crate) path: PathBuf,
    /// The repository, where it is the server's own: the run reads it.
    pub(crate) read: Vec<PathBuf>,
    /// What of that repository the run writes to when it commits.
    pub(crate) own: Vec<PathBuf>,
    /// The same of a repository that is not the server's.
    pub(crate) written: Vec<PathBuf>,
    /// What was found there that was not in order.
    pub(crate) findings: Vec<WorktreeFinding>,
}

/// Opens the worktree of a ticket, with its repository.
pub(in crate::tickets) async fn open(
    state: &EngineState,
    git: &Git,
    record: &ExecutionWorkspace,
    workspace: &Workspace,
    step: ExecutionStep,
) -> Result<(Source, Worktree), StepFailure> {
    let source = source::open(state, git, workspace, false).await?;
    let path = path_of(&state.config.tickets, record);
    let opened = source
        .repository
        .open_worktree(&path, &branch(&record.branch)?)
        .await
        .map_err(|error| of_git(step, &error))?;
    match opened {
        Some(worktree) => Ok((source, worktree)),
        None => Err(missing(step, &path)),
    }
}

/// Opens the worktree of a ticket that the server itself goes on with. One whose
/// folder is gone is made again; whatever else stands there is left alone.
pub(in crate::tickets) async fn open_or_make_again(
    state: &EngineState,
    record: &ExecutionWorkspace,
    workspace: &Workspace,
    step: ExecutionStep,
) -> Result<(Source, Worktree), StepFailure> {
    let (git, settings) = (git_of(state, step).await?, &state.config.tickets);
    let path = path_of(settings, record);
    let is_gone = fs::symlink_metadata(&path)
        .is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    if !is_gone {
        return open(state, git, record, workspace, step).await;
    }
    let source = source::open(state, git, workspace, false).await?;
    let branch = branch(&record.branch)?;
    let worktree = make_again(state, &source.repository, &path, &branch, step).await?;
    Ok((source, worktree))
}

/// Makes a worktree again. The branch is what it was; its folder alone is gone.
pub(super) async fn make_again(
    state: &EngineState,
    repository: &Repository,
    path: &Path,
    branch: &Branch,
    step: ExecutionStep,
) -> Result<Worktree, StepFailure> {
    let of_git = |error| of_git(step, &error);
    let head = repository.branch_head(branch).map_err(of_git)?;
    let head = head.ok_or_else(|| missing(step, path))?;
    let _lock = repository.lock(PATIENCE).await.map_err(of_git)?;
    tracing::warn!(path = %path.display(), "the worktree of a ticket is made again");
    add(state, repository, path, branch, &head, step).await
}

/// Makes a worktree, and gives it to whoever works there. The repository is locked.
pub(in crate::tickets) async fn add(
    state: &EngineState,
    repository: &Repository,
    path: &Path,
    branch: &Branch,
    start: &CommitId,
    step: ExecutionStep,
) -> Result<Worktree, StepFailure> {
    let made = repository.add_worktree(path, branch, start).await;
    let made = made.map_err(|error| of_git(step, &error))?;
    let owner = state.config.containment.owner();
    let given = made.path().to_owned();
    let handed = offload(move || owner.give_home(&given)).await;
    handed.map_err(|error| {
        let message = format!("the worktree: {error}");
        failure(step, StepFault::GitFailed, message, serde_json::json!({}))
    })?;
    Ok(made)
}

pub(in crate::tickets) fn missing(step: ExecutionStep, path: &Path) -> StepFailure {
    let message = format!("{} is not the worktree of the ticket", path.display());
    let facts = serde_json::json!({ "path": path });
    failure(step, StepFault::WorkspaceMissing, message, facts)
}

/// Why a run has no worktree to work in.
#[derive(Debug)]
pub(crate) enum NoPlace {
    /// The worktree cannot be had.
    Missing(StepFailure),
    /// The store failed.
    Store(StoreError),
}

/// The worktree that a run is to work in, made again if its folder is gone; `None`
/// for a run without one.
pub(crate) async fn place_of(
    state: &Arc<EngineState>,
    live: &LiveRun,
    run: &Run,
) -> Result<Option<Place>, NoPlace> {
    let (company, id) = (run.scope(), run.id);
    let find = || {
        state.store.read(move |reads| {
            let Some(record) = reads.execution_workspaces().of_run(company, id)? else {
                return Ok(None);
            };
            let workspace = record.project_workspace;
            let workspace = reads.projects().find_workspace(company, workspace)?;
            Ok(Some((record, workspace)))
        })
    };
    let found = until_answered(live, find).await.map_err(NoPlace::Store)?;
    let Some((record, workspace)) = found else {
        return Ok(None);
    };
    let is_ready = record.status == ExecutionWorkspaceStatus::Ready;
    let Some(workspace) = workspace.filter(|_| is_ready) else {
        let path = path_of(&state.config.tickets, &record);
        return Err(NoPlace::Missing(missing(ExecutionStep::Worktree, &path)));
    };
    let placed = place(state, record, workspace).await;
    let placed = placed.map_err(NoPlace::Missing)?;
    if !placed.findings.is_empty() || placed.record.disorder.is_some() {
        let (worktree, findings) = (placed.record.id, placed.findings.clone());
        let note = || {
            let findings = findings.clone();
            state.store.write(move |tx, ctx| {
                Ok(note_condition(tx, ctx, company, worktree, id, &findings)?)
            })
        };
        until_answered(live, note).await.map_err(NoPlace::Store)?;
    }
    Ok(Some(placed))
}

async fn place(
    state: &Arc<EngineState>,
    record: ExecutionWorkspace,
    workspace: Workspace,
) -> Result<Place, StepFailure> {
    let step = ExecutionStep::Worktree;
    let settings = &state.config.tickets;
    let git = git_of(state, step).await?;
    let source = source::open(state, git, &workspace, false).await?;
    let of_git = |error| of_git(step, &error);
    let path = path_of(settings, &record);
    let repository = &source.repository;
    let (worktree, findings) = order::set_in_order(state, repository, &record, &path, step).await?;
    let shared = worktree.shared_folders().map_err(of_git)?;
    let (read, own, written) = match source.is_mirror {
        true => (vec![repository.common_dir().to_owned()], shared, Vec::new()),
        false => (Vec::new(), Vec::new(), shared),
    };
    Ok(Place {
        record,
        workspace,
        path,
        read,
        own,
        written,
        findings,
    })
}

/// The worktrees of the ticket of an issue.
pub(in crate::tickets) async fn of_issue(
    state: &EngineState,
    company: CompanyScope,
    issue: IssueId,
) -> Result<Vec<(ExecutionWorkspace, Workspace)>, StoreError> {
    state
        .store
        .read(move |reads| worktrees_of(reads, company, issue))
        .await
}
