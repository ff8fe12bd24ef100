//! The worktree of an issue as its answer shows it.

use serde::Serialize;
use serde_json::json;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::ExecutionStep;
use workforce_domain::execution_workspace::{
    ChecksState, ExecutionWorkspace, ExecutionWorkspaceStatus, WorktreeState,
};
use workforce_domain::id::{AgentId, ExecutionWorkspaceId, RunId};
use workforce_domain::issue::{Issue, IssueRef};
use workforce_domain::port::{Failure, Reads, StepFailure, StepFault};

use crate::access::Denied;
use crate::activity_log::document;
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
    /// What the checks of its open pull request said when the forge was asked last; `None` unless
    /// there is one that is watched.
    pub checks: Option<ChecksState>,
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
pub fn worktree<E: From<Denied> + From<StepFailure>>(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    issue: &IssueRef,
    named: Option<ExecutionWorkspaceId>,
) -> Result<WorktreeView, Failure<E>> {
    let missing = |what| Failure::Refused(E::from(Denied::NotFound(what)));
    let issue = reads
        .issues()
        .find(ctx.actor().scope(), issue)?
        .ok_or_else(|| missing("issue"))?;
    let company = issue.scope();
    let Some(own) = issue.execution_workspace else {
        return Err(Failure::Refused(none(&issue).into()));
    };
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
    let watch = match record.pull_request {
        Some(_) => reads.pull_request_watches().find(company, record.id)?,
        None => None,
    };
    Ok(WorktreeView {
        checks: watch.map(|watch| watch.checks),
        other_workspace_ids: of_ticket.iter().map(|it| it.id).collect(),
        live_run_id: live_run,
        live_agent_id: run.map(|run| run.agent),
        state: None,
        record,
    })
}

/// The issue has no worktree.
fn none(issue: &Issue) -> StepFailure {
    StepFailure {
        step: ExecutionStep::Worktree,
        fault: StepFault::WorkspaceMissing,
        message: "the issue has no worktree: an approved plan makes one".into(),
        details: document(json!({ "issueId": issue.id })),
    }
}

impl WorktreeView {
    /// True where there is something to look at.
    pub fn is_ready(&self) -> bool {
        self.record.status == ExecutionWorkspaceStatus::Ready
    }
}
