//! The steps of an approved plan: a worktree for each of its workspaces.

use serde_json::json;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::ExecutionStep;
use workforce_domain::execution_workspace::ExecutionWorkspace;
use workforce_domain::port::{CarryOutError, StepFailure};
use workforce_domain::project::Workspace;
use workforce_git::{Branch, CommitId, Remote};

use crate::tickets::fault::of_git;
use crate::tickets::leases::attempt::{Attempt, Done};
use crate::tickets::repository::PATIENCE;
use crate::tickets::repository::branches::{self, Place};
use crate::tickets::repository::remotes::{addresses, with_credential, without_remote};
use crate::tickets::repository::source::{
    self, Source, base_branch, branch, guard, missing_base, no_branch,
};
use crate::tickets::repository::worktree::{self, path_of};

/// Where a ticket comes from and goes to.
struct Origin {
    source: Source,
    base: Branch,
    fetched_from: Option<Remote>,
}

/// Makes the worktree of a ticket in one workspace.
pub(in crate::tickets) async fn provision(
    attempt: &Attempt,
    worktree: &ExecutionWorkspace,
    workspace: &Workspace,
) -> Result<(), CarryOutError> {
    let id = worktree.id;
    let origin = attempt
        .step(
            id,
            ExecutionStep::Source,
            open_source(attempt, worktree, workspace),
        )
        .await?;
    let start = attempt
        .step(id, ExecutionStep::Base, find_base(&origin))
        .await?;
    attempt
        .step(
            id,
            ExecutionStep::Worktree,
            make_worktree(attempt, worktree, &origin, start),
        )
        .await
}

async fn open_source(
    attempt: &Attempt,
    worktree: &ExecutionWorkspace,
    workspace: &Workspace,
) -> Result<Done<Origin>, StepFailure> {
    let step = ExecutionStep::Source;
    let git = attempt
        .state
        .git()
        .await
        .map_err(|error| of_git(step, &error))?;
    let source = source::open(&attempt.state, git, workspace, true).await?;
    // What a worktree was made with is kept.
    let known = worktree.base_commit.as_ref().map(|_| {
        let (named, fetch, push) = (
            worktree.repository_url.clone(),
            worktree.fetch_address.clone(),
            worktree.push_address.clone(),
        );
        (named, fetch, push)
    });
    let (named, fetch, push) = match known {
        Some(known) => known,
        None => match addresses(&source.repository, workspace)
            .await
            .map_err(|error| of_git(step, &error))?
        {
            Some(found) => (Some(found.named), Some(found.fetch), Some(found.push)),
            None => (None, None, None),
        },
    };
    let fetched_from = match &fetch {
        Some(address) => {
            let (state, company) = (&attempt.state, workspace.scope());
            Some(with_credential(state, company, named.as_deref(), address, step).await?)
        }
        None if attempt.order.remote_required => {
            return Err(without_remote(step));
        }
        None => None,
    };
    let base = base_branch(git, &source, &worktree.base_branch, fetched_from.as_ref()).await?;
    let first = match &fetched_from {
        Some(remote) => git.default_branch(remote).await.ok().flatten(),
        None => None,
    };
    let own = branch(&worktree.branch)?;
    if base.as_str() == worktree.branch || first.is_some_and(|it| it.as_str() == worktree.branch) {
        return Err(branches::is_base(&worktree.branch));
    }
    let place = Place {
        addresses: [named.as_deref(), fetch.as_deref(), push.as_deref()],
        folder: workspace.source.cwd().map(|folder| folder.as_str()),
    };
    let (key, own_name) = (&worktree.ticket_key, &worktree.branch);
    branches::require_own(&attempt.state, workspace, key, own_name, place).await?;
    let repository = &source.repository;
    repository
        .need_writable()
        .and_then(|()| repository.need_room_for(&own))
        .map_err(|error| of_git(step, &error))?;
    let state = repository
        .source_state()
        .await
        .map_err(|error| of_git(step, &error))?;
    if !attempt.order.execution.forced
        && let Some(dirty) = guard(&source, &state, &base)
    {
        return Err(dirty);
    }
    let result = json!({
        "repository": named,
        "baseBranch": base.as_str(),
        "clean": state.total == 0 && state.operation.is_none(),
        "branch": state.branch,
    });
    let named_base = base.as_str().to_owned();
    Ok(Done {
        value: Origin {
            source,
            base,
            fetched_from,
        },
        result,
        note: Box::new(move |worktree| {
            worktree.repository_url.clone_from(&named);
            worktree.fetch_address.clone_from(&fetch);
            worktree.push_address.clone_from(&push);
            worktree.base_branch.clone_from(&named_base);
        }),
    })
}

/// The commit that the ticket starts from: that of the base branch at the remote,
/// and where that cannot be had, of the repository itself.
async fn find_base(origin: &Origin) -> Result<Done<CommitId>, StepFailure> {
    let step = ExecutionStep::Base;
    let repository = &origin.source.repository;
    let lock = repository.lock(PATIENCE).await;
    let _lock = lock.map_err(|error| of_git(step, &error))?;
    let remote = origin.fetched_from.as_ref();
    let mut unreached = None;
    let mut found = None;
    if let Some(remote) = remote {
        match repository.fetch(remote, &origin.base).await {
            Ok(commit) => found = commit.map(|commit| (commit, "remote")),
            Err(error) => unreached = Some(of_git(step, &error)),
        }
    }
    if remote.is_none() || unreached.is_some() {
        let own = repository.branch_head(&origin.base);
        let own = own.map_err(|error| of_git(step, &error))?;
        found = own.map(|commit| (commit, "local"));
    }
    let Some((commit, from)) = found else {
        let base = origin.base.as_str();
        let missing = || missing_base(no_branch(base, remote), base);
        return Err(unreached.unwrap_or_else(missing));
    };
    let unreached = unreached.map(|failure| failure.message);
    let result = json!({
        "branch": origin.base.as_str(),
        "commit": commit.as_str(),
        "from": from,
        "warning": unreached,
    });
    Ok(Done::new(commit, result))
}

async fn make_worktree(
    attempt: &Attempt,
    record: &ExecutionWorkspace,
    origin: &Origin,
    start: CommitId,
) -> Result<Done<()>, StepFailure> {
    let step = ExecutionStep::Worktree;
    let of_git = |error| of_git(step, &error);
    let path = path_of(&attempt.state.config.tickets, record);
    let branch = branch(&record.branch)?;
    let repository = &origin.source.repository;
    let _lock = repository.lock(PATIENCE).await.map_err(of_git)?;
    let state = &attempt.state;
    let made = worktree::add(state, repository, &path, &branch, &start, step).await?;
    let head = made.head().map_err(of_git)?;
    let result = json!({ "path": path, "branch": branch.as_str(), "commit": head.as_str() });
    let start = start.as_str().to_owned();
    Ok(Done {
        value: (),
        result,
        note: Box::new(move |worktree| {
            worktree.base_commit.get_or_insert_with(|| start.clone());
            worktree.head_commit = Some(head.as_str().to_owned());
        }),
    })
}
