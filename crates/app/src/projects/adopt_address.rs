//! Open tickets take over the address that a workspace has now
//! (docs/tickets.md#a-repository-that-moved).

use serde::{Deserialize, Serialize};
use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::execution_workspace::ExecutionWorkspace;
use workforce_domain::id::{ExecutionWorkspaceId, IssueId, ProjectId, WorkspaceId};
use workforce_domain::port::{Failure, Locked, Reads, RemoteAddresses, Tx};
use workforce_domain::project::Workspace;

use super::read::find;
use super::workspaces::split_workspaces;
use super::{ProjectError, lock};
use crate::access::Denied;
use crate::activity_log::log_activity;
use crate::context::Context;

/// Has open tickets take over the address of their workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AdoptAddress {
    /// Only tells what would change.
    #[serde(default)]
    pub dry_run: bool,
}

/// What the tickets of a workspace took over, or would.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AdoptedAddress {
    /// The address.
    pub repo_url: Option<String>,
    /// Whether it was taken over.
    pub applied: bool,
    /// The worktrees whose address is another; at most 1000.
    pub changes: Vec<AddressChange>,
}

/// A worktree whose ticket has another address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AddressChange {
    /// The worktree.
    pub execution_workspace_id: ExecutionWorkspaceId,
    /// The issue that has it.
    pub owner_issue_id: Option<IssueId>,
    /// The ticket.
    pub ticket_key: String,
    /// The branch.
    pub branch: String,
    /// The address that it has.
    pub from: Option<String>,
    /// The address that it gets.
    pub to: Option<String>,
    /// Whether its pull request is forgotten, since it is at another host. The next approval
    /// pushes and opens one there.
    pub drops_pull_request: bool,
}

/// The workspace whose address is asked for. Board only.
pub fn workspace_to_adopt(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    project: ProjectId,
    id: WorkspaceId,
) -> Result<Workspace, Failure<ProjectError>> {
    ctx.require_board()?;
    let project = find(reads, ctx, project)?;
    let all = reads
        .projects()
        .workspaces(project.scope(), &[project.id])?;
    let found = all.into_iter().find(|workspace| workspace.id == id);
    found.ok_or_else(|| Denied::NotFound("workspace").into())
}

/// Gives the worktrees of a workspace the addresses that it has now. Board only.
pub fn adopt_address(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    project: ProjectId,
    id: WorkspaceId,
    addresses: Option<&RemoteAddresses>,
    command: AdoptAddress,
) -> Result<AdoptedAddress, Failure<ProjectError>> {
    ctx.require_board()?;
    let project = lock(tx, ctx, project)?;
    let (workspace, _) = split_workspaces(tx, ctx, &project, id)?;
    let company = workspace.scope();
    let mut all = tx.execution_workspaces().of_workspace(company, id)?;
    // In the order of locks.
    all.sort_unstable_by_key(|worktree| worktree.id);
    let mut changes = Vec::new();
    for worktree in all {
        let Some(change) = change_of(&worktree, addresses) else {
            continue;
        };
        if !command.dry_run {
            let locked = tx
                .execution_workspaces_mut()
                .lock(company.into(), worktree.id)?;
            if let Some(locked) = locked {
                apply(tx, ctx, locked, addresses, &change)?;
            }
        }
        changes.push(change);
    }
    changes.sort_by(|a, b| a.branch.cmp(&b.branch));
    Ok(AdoptedAddress {
        repo_url: addresses.map(|it| it.named.clone()),
        applied: !command.dry_run,
        changes,
    })
}

fn change_of(
    worktree: &ExecutionWorkspace,
    addresses: Option<&RemoteAddresses>,
) -> Option<AddressChange> {
    let new = (
        addresses.map(|it| it.named.as_str()),
        addresses.map(|it| it.fetch.as_str()),
        addresses.map(|it| it.push.as_str()),
    );
    let old = (
        worktree.repository_url.as_deref(),
        worktree.fetch_address.as_deref(),
        worktree.push_address.as_deref(),
    );
    (old != new).then(|| AddressChange {
        execution_workspace_id: worktree.id,
        owner_issue_id: worktree.owner,
        ticket_key: worktree.ticket_key.clone(),
        branch: worktree.branch.clone(),
        from: worktree.repository_url.clone(),
        to: new.0.map(str::to_owned),
        drops_pull_request: worktree.pull_request.is_some() && old.0.map(host) != new.0.map(host),
    })
}

fn apply(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    mut worktree: Locked<ExecutionWorkspace>,
    addresses: Option<&RemoteAddresses>,
    change: &AddressChange,
) -> Result<(), Failure<ProjectError>> {
    worktree.repository_url = addresses.map(|it| it.named.clone());
    worktree.fetch_address = addresses.map(|it| it.fetch.clone());
    worktree.push_address = addresses.map(|it| it.push.clone());
    if change.drops_pull_request {
        worktree.pull_request = None;
        worktree.pushed_commit = None;
        tx.pull_request_watches_mut().end(&worktree)?;
    }
    worktree.updated_at = ctx.now;
    tx.execution_workspaces_mut().save(&worktree)?;
    let Some(owner) = worktree.owner else {
        return Ok(());
    };
    if let Some(issue) = tx.issues().find(worktree.scope().into(), &owner.into())? {
        let action = Action::WorktreeAddressChanged;
        log_activity(tx, ctx, action, &issue, json!(change));
    }
    Ok(())
}

/// The host of an address, in lower case.
fn host(address: &str) -> String {
    let rest = address
        .split_once("://")
        .map_or(address, |(_scheme, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    host.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn the_host_of_an_address() {
        for address in [
            "https://Forge.example/acme/shop.git",
            "https://user:pass@forge.example:8443/acme/shop",
            "git@forge.example:acme/shop.git",
            "ssh://git@forge.example:2222/acme/shop",
        ] {
            assert_eq!(host(address), "forge.example", "{address}");
        }
    }
}
