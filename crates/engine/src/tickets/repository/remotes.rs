//! Where a ticket is fetched from and pushed to.

use serde_json::json;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::approval::ExecutionStep;
use workforce_domain::execution_workspace::ExecutionWorkspace;
use workforce_domain::id::WorkspaceId;
use workforce_domain::port::{CarryOutError, RemoteAddresses, StepFailure, StepFault};
use workforce_domain::project::Workspace;
use workforce_forges::RepositoryAddress;
use workforce_git::{ConfiguredRemote, Credential, GitError, Remote, Repository};

use super::token::forge_of;
use super::{git_of, source};
use crate::state::EngineState;
use crate::tickets::fault::{failure, of_git};

/// The addresses of a workspace, as its rows and the settings of its repository say
/// now. An agent may change these settings, so that they are read once, before a
/// worktree is made, and kept.
pub(in crate::tickets) async fn addresses(
    repository: &Repository,
    workspace: &Workspace,
) -> Result<Option<ConfiguredRemote>, GitError> {
    match workspace.source.repo_url() {
        Some(url) => repository.rewritten_address(url).await.map(Some),
        None => repository.configured_remote("origin").await,
    }
}

/// The addresses that a ticket of a workspace would get now.
pub(crate) async fn of_workspace(
    state: &EngineState,
    company: CompanyScope,
    id: WorkspaceId,
) -> Result<Option<RemoteAddresses>, CarryOutError> {
    let step = ExecutionStep::Source;
    let refused = |failure: StepFailure| CarryOutError::Step(Box::new(failure));
    let found = state
        .store
        .read(move |reads| reads.projects().find_workspace(company, id))
        .await?;
    let Some(workspace) = found else {
        let message = "the workspace was deleted meanwhile";
        let fault = StepFault::WorkspaceUnavailable;
        return Err(refused(failure(step, fault, message, json!({}))));
    };
    let git = git_of(state, step).await.map_err(refused)?;
    let source = source::open(state, git, &workspace, false).await;
    let source = source.map_err(refused)?;
    let found = addresses(&source.repository, &workspace).await;
    let found = found.map_err(|error| refused(of_git(step, &error)))?;
    Ok(found.map(|found| RemoteAddresses {
        named: found.named,
        fetch: found.fetch,
        push: found.push,
    }))
}

/// Where the base branch of a ticket is fetched from; `None` without a remote.
pub(in crate::tickets) async fn fetched_from(
    state: &EngineState,
    worktree: &ExecutionWorkspace,
    step: ExecutionStep,
) -> Result<Option<Remote>, StepFailure> {
    remote(state, worktree, worktree.fetch_address.as_deref(), step).await
}

/// Where the branch of a ticket is pushed to; `None` without a remote.
pub(in crate::tickets) async fn pushed_to(
    state: &EngineState,
    worktree: &ExecutionWorkspace,
    step: ExecutionStep,
) -> Result<Option<Remote>, StepFailure> {
    remote(state, worktree, worktree.push_address.as_deref(), step).await
}

async fn remote(
    state: &EngineState,
    worktree: &ExecutionWorkspace,
    address: Option<&str>,
    step: ExecutionStep,
) -> Result<Option<Remote>, StepFailure> {
    let Some(address) = address else {
        return Ok(None);
    };
    let named = worktree.repository_url.as_deref();
    with_credential(state, worktree.scope(), named, address, step)
        .await
        .map(Some)
}

/// The project takes no ticket that cannot be pushed.
pub(in crate::tickets) fn without_remote(step: ExecutionStep) -> StepFailure {
    let message = "the project demands a remote, and the repository has none";
    failure(step, StepFault::WorkspaceUnavailable, message, json!({}))
}

/// A remote, with the token of the forge that the repository is at. The token goes
/// to the host of that forge alone.
///
/// # Errors
/// The address is none, or the token cannot be had.
pub(in crate::tickets) async fn with_credential(
    state: &EngineState,
    company: CompanyScope,
    repository_url: Option<&str>,
    address: &str,
    step: ExecutionStep,
) -> Result<Remote, StepFailure> {
    let remote = Remote::new(address).map_err(|fault| {
        let message = format!("the remote {fault}");
        failure(step, StepFault::WorkspaceUnavailable, message, json!({}))
    })?;
    let of = |url: &str| RepositoryAddress::parse(url);
    let (Some(named), Some(spoken)) = (repository_url.and_then(of), of(address)) else {
        return Ok(remote);
    };
    if named.host() != spoken.host() || !remote.takes_credential() {
        return Ok(remote);
    }
    let forge = forge_of(state, company, &named, step).await?;
    Ok(match forge.and_then(|forge| forge.git_password()) {
        Some((user, secret)) => remote.with_credential(Credential::password(user, secret)),
        None => remote,
    })
}
