//! Which branches of a repository are not there for a ticket.

use serde_json::json;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::ExecutionStep;
use workforce_domain::execution_workspace::ExecutionWorkspace;
use workforce_domain::port::{StepFailure, StepFault, StoreError};
use workforce_domain::project::Workspace;
use workforce_forges::RepositoryAddress;

use crate::state::EngineState;
use crate::tickets::fault::failure;

/// Where a repository is: its address, and the folder that a workspace has of it.
pub(in crate::tickets) struct Place<'a> {
    pub(in crate::tickets) addresses: [Option<&'a str>; 3],
    pub(in crate::tickets) folder: Option<&'a str>,
}

impl<'a> Place<'a> {
    fn of_worktree(worktree: &'a ExecutionWorkspace) -> Self {
        Self {
            addresses: [
                worktree.repository_url.as_deref(),
                worktree.fetch_address.as_deref(),
                worktree.push_address.as_deref(),
            ],
            folder: None,
        }
    }

    fn of_workspace(workspace: &'a Workspace) -> Self {
        let url = workspace.source.repo_url();
        let folder = workspace.source.cwd();
        Self {
            addresses: [url.map(|url| url.as_str()), None, None],
            folder: folder.map(|folder| folder.as_str()),
        }
    }

    /// True where both are known to be one repository.
    fn is_same(&self, other: &Self) -> bool {
        let own = self.addresses.iter().flatten();
        let is_at = |address: &str| {
            let others = other.addresses.iter().flatten();
            others.into_iter().any(|it| is_same_address(address, it))
        };
        own.into_iter().any(|address| is_at(address))
            || matches!((self.folder, other.folder), (Some(one), Some(two))
                if one.trim_end_matches('/') == two.trim_end_matches('/'))
    }
}

fn is_same_address(one: &str, other: &str) -> bool {
    let parsed = (
        RepositoryAddress::parse(one),
        RepositoryAddress::parse(other),
    );
    match parsed {
        (Some(one), Some(other)) => one.is_same(&other),
        _ => one.trim_end_matches('/') == other.trim_end_matches('/'),
    }
}

/// Refuses the branch of a ticket that another ticket of the company has, or that anything of the
/// company is merged into, in the same repository: whatever project names it, and by whatever
/// address.
pub(in crate::tickets) async fn require_own(
    state: &EngineState,
    workspace: &Workspace,
    ticket_key: &str,
    branch: &str,
    place: Place<'_>,
) -> Result<(), StepFailure> {
    let (company, named) = (workspace.scope(), branch.to_owned());
    let found = state
        .store
        .read(move |reads| {
            let worktrees = reads
                .execution_workspaces()
                .naming_branch(company, &named)?;
            let mut others = Vec::with_capacity(worktrees.len());
            for worktree in worktrees {
                let id = worktree.project_workspace;
                let workspace = reads.projects().find_workspace(company, id)?;
                others.push((worktree, workspace));
            }
            let based = reads.projects().workspaces_based_on(company, &named)?;
            Ok((others, based))
        })
        .await
        .map_err(|error: StoreError| unread(&error))?;
    let (others, based) = found;
    for (other, its_workspace) in &others {
        let is_same_workspace = other.project_workspace == workspace.id;
        let is_here = is_same_workspace
            || place.is_same(&Place::of_worktree(other))
            || its_workspace
                .as_ref()
                .is_some_and(|it| place.is_same(&Place::of_workspace(it)));
        let is_itself = is_same_workspace && other.ticket_key == ticket_key;
        if is_itself || !is_here {
            continue;
        }
        if other.base_branch == branch {
            return Err(is_base(branch));
        }
        let message = format!("the ticket {} has the branch already", other.ticket_key);
        let facts = json!({ "branch": branch, "ticketKey": other.ticket_key });
        return Err(refused(StepFault::BranchInUse, message, facts));
    }
    let is_based_on =
        |it: &Workspace| it.id == workspace.id || place.is_same(&Place::of_workspace(it));
    match based.iter().any(is_based_on) {
        true => Err(is_base(branch)),
        false => Ok(()),
    }
}

/// Work goes to a branch of its own, which the board merges.
pub(in crate::tickets) fn is_base(branch: &str) -> StepFailure {
    let message = format!("{branch} is a base branch; a ticket needs its own");
    let facts = json!({ "branch": branch });
    refused(StepFault::WorkspaceUnavailable, message, facts)
}

fn unread(error: &StoreError) -> StepFailure {
    let message = format!("the store failed: {error}");
    refused(StepFault::WorkspaceUnavailable, message, json!({}))
}

fn refused(fault: StepFault, message: String, facts: serde_json::Value) -> StepFailure {
    failure(ExecutionStep::Source, fault, message, facts)
}
