//! The worktree of an issue as its answer shows it.

use serde::Serialize;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::execution_workspace::{
    ExecutionWorkspace, ExecutionWorkspaceStatus, WorktreeState,
};
use workforce_domain::id::{AgentId, ExecutionWorkspaceId, RunId};
use workforce_domain::issue::IssueRef;
use workforce_domain::port::{Failure, Reads};

use crate::access::Denied;
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// The worktree of an issue.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = IssueWorktree))]
#[serde(rename_all = "camelCase")]
pub struct WorktreeView {
    /// The worktree.
    #[serde(flatten)]
    pub record: ExecutionWorkspace,
    /// The worktrees of the same ticket in other workspaces of the project.
    pub other_workspace_ids: Vec<ExecutionWorkspaceId>,
    /// The run that works there now.
    pub live_run_id: Option<RunId>,
    /// Its agent.
    pub live_agent_id: Option<AgentId>,
    /// What lies in it; `None` unless it is ready.
    pub state: Option<WorktreeState>,
}

/// What a look at a worktree is refused with.
pub const LOOK: Codes = Codes::of(&[
    Code::BaseBranchMissing,
    Code::GitCommitFailed,
    Code::GitFailed,
    Code::WorkspaceBusy,
    Code::WorkspaceMissing,
    Code::WorkspaceUnavailable,
]);

/// The worktree that an issue is worked on in, without what lies in it; `named` for
/// another one of its ticket. Anyone of the company.
pub fn worktree(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    issue: &IssueRef,
    named: Option<ExecutionWorkspaceId>,
) -> Result<WorktreeView, Failure<Denied>> {
    let missing = |what| Failure::Refused(Denied::NotFound(what));
    let issue = reads
        .issues()
        .find(ctx.actor().scope(), issue)?
        .ok_or_else(|| missing("issue"))?;
    let company = issue.scope();
    let own = issue
        .execution_workspace
        .ok_or_else(|| missing("worktree"))?;
    let own = reads.execution_workspaces().find(company.into(), own)?;
    let own = own.ok_or_else(|| missing("worktree"))?;
    let mut of_ticket = match own.owner {
        Some(owner) => reads.execution_workspaces().owned_by(company, owner)?,
        None => vec![own.clone()],
    };
    let wanted = named.unwrap_or(own.id);
    let place = of_ticket.iter().position(|it| it.id == wanted);
    let record = of_ticket.remove(place.ok_or_else(|| missing("worktree"))?);
    let live_run = reads.execution_workspaces().live_run(company, record.id)?;
    let run = match live_run {
        Some(run) => reads.runs().find(company.into(), run)?,
        None => None,
    };
    Ok(WorktreeView {
        other_workspace_ids: of_ticket.iter().map(|it| it.id).collect(),
        live_run_id: live_run,
        live_agent_id: run.map(|run| run.agent),
        state: None,
        record,
    })
}

impl WorktreeView {
    /// True where there is something to look at.
    pub fn is_ready(&self) -> bool {
        self.record.status == ExecutionWorkspaceStatus::Ready
    }
}
