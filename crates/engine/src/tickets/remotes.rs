//! Where a ticket is fetched from and pushed to.

use workforce_domain::approval::ExecutionStep;
use workforce_domain::execution_workspace::ExecutionWorkspace;
use workforce_domain::port::{StepFailure, StepFault};
use workforce_domain::project::Workspace;
use workforce_forges::RepositoryAddress;
use workforce_git::{ConfiguredRemote, Credential, GitError, Remote, Repository};

use super::fault::failure;
use super::settings::TicketSettings;

/// The addresses of a workspace, as its rows and the settings of its repository say
/// now. An agent may change these settings, so that they are read once, before a
/// worktree is made, and kept.
pub(super) async fn addresses(
    repository: &Repository,
    workspace: &Workspace,
) -> Result<Option<ConfiguredRemote>, GitError> {
    match workspace.source.repo_url() {
        Some(url) => repository.rewritten_address(url).await.map(Some),
        None => repository.configured_remote("origin").await,
    }
}

/// Where the base branch of a ticket is fetched from; `None` without a remote.
pub(super) fn fetched_from(
    settings: &TicketSettings,
    worktree: &ExecutionWorkspace,
    step: ExecutionStep,
) -> Result<Option<Remote>, StepFailure> {
    remote(settings, worktree, worktree.fetch_address.as_deref(), step)
}

/// Where the branch of a ticket is pushed to; `None` without a remote.
pub(super) fn pushed_to(
    settings: &TicketSettings,
    worktree: &ExecutionWorkspace,
    step: ExecutionStep,
) -> Result<Option<Remote>, StepFailure> {
    remote(settings, worktree, worktree.push_address.as_deref(), step)
}

fn remote(
    settings: &TicketSettings,
    worktree: &ExecutionWorkspace,
    address: Option<&str>,
    step: ExecutionStep,
) -> Result<Option<Remote>, StepFailure> {
    let Some(address) = address else {
        return Ok(None);
    };
    with_credential(settings, worktree.repository_url.as_deref(), address)
        .map(Some)
        .map_err(|message| {
            failure(
                step,
                StepFault::WorkspaceUnavailable,
                message,
                serde_json::json!({}),
            )
        })
}

/// A remote, with the token of the forge that the repository is at. The token goes
/// to the host of that forge alone.
pub(super) fn with_credential(
    settings: &TicketSettings,
    repository_url: Option<&str>,
    address: &str,
) -> Result<Remote, String> {
    let remote = Remote::new(address).map_err(|fault| format!("the remote {fault}"))?;
    let of = |url: &str| RepositoryAddress::parse(url);
    let (Some(named), Some(spoken)) = (repository_url.and_then(of), of(address)) else {
        return Ok(remote);
    };
    let token = settings
        .forge_of(&named)
        .filter(|_| named.host() == spoken.host())
        .and_then(|forge| forge.git_password());
    Ok(match token {
        Some((user, secret)) => remote.with_credential(Credential::password(user, secret)),
        None => remote,
    })
}
