//! What approving a plan would find now.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use workforce_app::approvals::execution;
use workforce_app::tickets::{PlannedWorkspace, planned};
use workforce_domain::actor::CompanyScope;
use workforce_domain::approval::ExecutionStep;
use workforce_domain::id::ApprovalId;
use workforce_domain::port::{Preflight, StepFailure, StoreError};
use workforce_domain::project::Workspace;

use crate::state::EngineState;
use crate::tickets::fault::of_git;
use crate::tickets::repository::branches::{self, Place};
use crate::tickets::repository::git_of;
use crate::tickets::repository::remotes::{addresses, without_remote};
use crate::tickets::repository::source::{self, base_branch, branch, is_on};

/// The longest look at one repository.
const LIMIT: Duration = Duration::from_secs(10);

/// Looks at the source repositories of a plan. Nothing is changed and nothing is
/// fetched.
pub(crate) async fn preflight(
    state: &Arc<EngineState>,
    company: CompanyScope,
    approval: ApprovalId,
) -> Result<Vec<Preflight>, StoreError> {
    let (found, remote_required) = state
        .store
        .read(move |reads| {
            let approval = reads.approvals().find(company.into(), approval)?;
            let mut found = Vec::new();
            let about = approval.as_ref().and_then(|it| it.primary_issue);
            let issue = match about {
                Some(issue) => reads.issues().find(company.into(), &issue.into())?,
                None => None,
            };
            let remote_required = match &issue {
                Some(issue) => execution::remote_required(reads, issue)?,
                None => false,
            };
            for planned in approval.as_ref().map(planned).unwrap_or_default() {
                let id = planned.project_workspace_id;
                found.push((planned, reads.projects().find_workspace(company, id)?));
            }
            Ok((found, remote_required))
        })
        .await?;
    let mut looked = Vec::with_capacity(found.len());
    for (planned, workspace) in found {
        let mut preflight = unknown(planned);
        let seen = match &workspace {
            None => Err("the workspace is gone".to_owned()),
            Some(workspace) => match timeout(
                LIMIT,
                look(state, workspace, remote_required, &mut preflight),
            )
            .await
            {
                Ok(Ok(())) => Ok(()),
                Ok(Err(failure)) => Err(failure.message),
                Err(_elapsed) => Err("the repository cannot be looked at in time".to_owned()),
            },
        };
        preflight.error = seen.err();
        looked.push(preflight);
    }
    Ok(looked)
}

fn unknown(planned: PlannedWorkspace) -> Preflight {
    Preflight {
        project_workspace_id: planned.project_workspace_id,
        ticket_key: planned.ticket_key,
        branch: planned.branch,
        base_branch: planned.base_branch,
        clean: false,
        branch_ok: false,
        base_exists: false,
        changed_paths: Vec::new(),
        error: None,
    }
}

async fn look(
    state: &EngineState,
    workspace: &Workspace,
    remote_required: bool,
    preflight: &mut Preflight,
) -> Result<(), StepFailure> {
    let step = ExecutionStep::Source;
    let git = git_of(state, step).await?;
    let (key, branch_name) = (preflight.ticket_key.clone(), preflight.branch.clone());
    let require_own = |place| branches::require_own(state, workspace, &key, &branch_name, place);
    let folder = workspace.source.cwd().map(|folder| folder.as_str());
    if folder.is_none() {
        let url = workspace.source.repo_url().map(|url| url.as_str());
        let addresses = [url, None, None];
        require_own(Place { addresses, folder }).await?;
        // What would be fetched is not looked at.
        preflight.clean = true;
        preflight.branch_ok = true;
        preflight.base_exists = preflight.base_branch.is_some();
        return Ok(());
    }
    let source = source::open(state, git, workspace, false).await?;
    let of_git = |error| of_git(step, &error);
    source.repository.need_writable().map_err(of_git)?;
    let remote = addresses(&source.repository, workspace)
        .await
        .map_err(of_git)?;
    if remote_required && remote.is_none() {
        return Err(without_remote(step));
    }
    let remote = remote.as_ref();
    let addresses = [
        remote.map(|remote| remote.named.as_str()),
        remote.map(|remote| remote.fetch.as_str()),
        remote.map(|remote| remote.push.as_str()),
    ];
    require_own(Place { addresses, folder }).await?;
    let found = source.repository.source_state().await.map_err(of_git)?;
    preflight.clean = found.total == 0 && found.operation.is_none();
    preflight.changed_paths = found.changed.iter().take(50).cloned().collect();
    let named = preflight.base_branch.clone().unwrap_or_default();
    let base = base_branch(git, &source, &named, None).await?;
    preflight.branch_ok = is_on(&found, &base);
    let own = source.repository.branch_head(&base).map_err(of_git)?;
    preflight.base_exists = own.is_some();
    preflight.base_branch = Some(base.as_str().to_owned());
    let planned = branch(&preflight.branch)?;
    source.repository.need_room_for(&planned).map_err(of_git)
}
