//! The repository that a ticket is worked on in.

use std::path::Path;

use serde_json::json;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::ExecutionStep;
use workforce_domain::port::{StepFailure, StepFault};
use workforce_domain::project::Workspace;
use workforce_git::{Branch, Git, GitError, Remote, Repository, SourceState};

use super::remotes::with_credential;
use crate::adapter::local::offload;
use crate::state::EngineState;
use crate::tickets::fault::{failure, of_git};

/// So many changed paths are named.
const NAMED: usize = 50;

/// Base branches that are looked for where nothing names one.
const USUAL: [&str; 2] = ["main", "master"];

/// A repository, and whether it is a copy of the server's own.
pub(in crate::tickets) struct Source {
    pub(in crate::tickets) repository: Repository,
    /// The workspace has no directory.
    pub(in crate::tickets) is_mirror: bool,
}

/// Opens the repository of a workspace: that of its directory, else a copy of the
/// one at its address, which is made or brought up to date where `refresh` says so.
///
/// # Errors
/// Why it cannot be used.
pub(in crate::tickets) async fn open(
    state: &EngineState,
    git: &Git,
    workspace: &Workspace,
    refresh: bool,
) -> Result<Source, StepFailure> {
    let step = ExecutionStep::Source;
    let of_git = |error: GitError| of_git(step, &error);
    if let Some(cwd) = workspace.source.cwd() {
        let repository = git.open(cwd.as_str().as_ref()).await.map_err(of_git)?;
        return Ok(Source {
            repository,
            is_mirror: false,
        });
    }
    let company = workspace.company.to_string();
    let folder = state
        .config
        .tickets
        .worktrees
        .join(company)
        .join(workspace.id.to_string())
        .join("mirror");
    if !refresh && let Ok(repository) = git.open(&folder).await {
        return Ok(Source {
            repository,
            is_mirror: true,
        });
    }
    let Some(url) = workspace.source.repo_url() else {
        let message = "the workspace has neither a directory nor an address";
        let fault = StepFault::WorkspaceUnavailable;
        return Err(failure(step, fault, message, json!({})));
    };
    let remote = with_credential(state, workspace.scope(), Some(url), url, step).await?;
    let repository = git.mirror(&folder, &remote).await.map_err(of_git)?;
    Ok(Source {
        repository,
        is_mirror: true,
    })
}

/// Which repositories these are, as far as that can be told without git: who works with
/// one of them waits for whoever works with it already.
pub(in crate::tickets) async fn places_of(workspaces: Vec<Workspace>) -> Vec<String> {
    let found = offload(move || Ok(workspaces.iter().map(place_of).collect()));
    found.await.unwrap_or_default()
}

fn place_of(workspace: &Workspace) -> String {
    let Some(cwd) = workspace.source.cwd() else {
        return workspace.id.to_string();
    };
    let cwd = Path::new(cwd.as_str());
    let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    let is_top = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
    let top = cwd.ancestors().find(is_top).unwrap_or(&cwd);
    top.to_string_lossy().into_owned()
}

/// The base branch of a ticket: the one that is named, else the one that the remote
/// shows first, else a usual one that the repository has.
///
/// # Errors
/// There is none, or its name is none.
pub(in crate::tickets) async fn base_branch(
    git: &Git,
    source: &Source,
    named: &str,
    remote: Option<&Remote>,
) -> Result<Branch, StepFailure> {
    if !named.is_empty() {
        return branch(named);
    }
    if let Some(remote) = remote
        && let Ok(Some(first)) = git.default_branch(remote).await
    {
        return Ok(first);
    }
    for usual in USUAL {
        let usual = branch(usual)?;
        if let Ok(Some(_)) = source.repository.branch_head(&usual) {
            return Ok(usual);
        }
    }
    let message = "nothing names the base branch, and there is neither main nor master";
    Err(missing_base(message.to_owned(), ""))
}

pub(in crate::tickets) fn missing_base(message: String, branch: &str) -> StepFailure {
    let facts = json!({ "baseBranch": branch });
    failure(
        ExecutionStep::Base,
        StepFault::BaseBranchMissing,
        message,
        facts,
    )
}

/// A base branch is not where it is looked for.
pub(in crate::tickets) fn no_branch(name: &str, remote: Option<&Remote>) -> String {
    match remote {
        Some(_) => format!("the remote has no branch {name}"),
        None => format!("there is no branch {name}"),
    }
}

/// A branch as git takes it.
pub(in crate::tickets) fn branch(name: &str) -> Result<Branch, StepFailure> {
    Branch::new(name).map_err(|fault| {
        let message = format!("the name of the branch {fault}");
        let (step, fault) = (ExecutionStep::Source, StepFault::WorkspaceUnavailable);
        failure(step, fault, message, json!({ "branch": name }))
    })
}

/// What stands against a worktree of a source repository, if anything does: changes
/// of tracked files, an operation that is not ended, another branch than the base.
pub(in crate::tickets) fn guard(
    source: &Source,
    state: &SourceState,
    base: &Branch,
) -> Option<StepFailure> {
    let is_clean = state.total == 0 && state.operation.is_none();
    if source.is_mirror || (is_clean && is_on(state, base)) {
        return None;
    }
    let mut reasons = Vec::new();
    if state.total > 0 {
        reasons.push(format!("{} tracked files are changed", state.total));
    }
    if let Some(operation) = state.operation {
        reasons.push(format!("{operation} is in progress"));
    }
    if !is_on(state, base) {
        let on = state.branch.as_deref().unwrap_or_default();
        reasons.push(format!("{on} is checked out and not {base}"));
    }
    let paths: Vec<&String> = state.changed.iter().take(NAMED).collect();
    let facts = json!({
        "repo": source.repository.work_dir().unwrap_or(source.repository.common_dir()),
        "changedPaths": paths,
        "total": state.total,
        "branch": state.branch,
        "expectedBranch": base.as_str(),
        "operation": state.operation.map(|operation| operation.to_string()),
        "canForce": true,
    });
    let message = format!("the source repository is not clean: {}", reasons.join(", "));
    Some(failure(
        ExecutionStep::Source,
        StepFault::SourceRepoDirty,
        message,
        facts,
    ))
}

/// True where the base branch is checked out, or none at all.
pub(in crate::tickets) fn is_on(state: &SourceState, base: &Branch) -> bool {
    state
        .branch
        .as_deref()
        .is_none_or(|branch| branch == base.as_str())
}
