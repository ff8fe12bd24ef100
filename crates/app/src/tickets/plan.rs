//! What worktrees a plan asks for (docs/tickets.md#plans). An agent proposes; the
//! workspace is one of the issue's project, and what git is told comes from here.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::{Approval, ApprovalType, ExecutionStep};
use workforce_domain::execution_workspace::ExecutionWorkspace;
use workforce_domain::id::WorkspaceId;
use workforce_domain::issue::Issue;
use workforce_domain::port::{Failure, Reads, StepFailure, StepFault};
use workforce_domain::project::Workspace;
use workforce_domain::{Document, JsonMap};

use super::ticket_key;
use crate::activity_log::document;

/// Where a payload tells what its plan was resolved to. Whatever a client puts
/// there is replaced.
pub(crate) const RESOLVED: &str = "resolvedWorkspaces";

/// A worktree that a plan asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedWorkspace {
    /// The workspace of the project.
    pub project_workspace_id: WorkspaceId,
    /// Its name, for people.
    pub name: String,
    /// The ticket.
    pub ticket_key: String,
    /// The branch of the ticket.
    pub branch: String,
    /// The branch that it starts from and is merged into; the one that the
    /// remote shows first when unsaid.
    pub base_branch: Option<String>,
}

/// The worktrees that a submitted plan asks for; none for a plan without any.
pub fn planned(approval: &Approval) -> Vec<PlannedWorkspace> {
    if approval.kind != ApprovalType::ApproveIssuePlan {
        return Vec::new();
    }
    let resolved = approval.payload.get(RESOLVED).cloned();
    resolved
        .and_then(|resolved| serde_json::from_value(resolved).ok())
        .unwrap_or_default()
}

/// No repository can be used.
fn unavailable(message: impl Into<String>, details: Value) -> StepFailure {
    StepFailure {
        step: ExecutionStep::Source,
        fault: StepFault::WorkspaceUnavailable,
        message: message.into(),
        details: document(details),
    }
}

/// Work goes to a branch of its own, which the board merges.
fn own_base(branch: &str, issue: &Issue) -> StepFailure {
    let message = format!("{branch} is a base branch; a ticket needs a branch of its own");
    unavailable(message, json!({ "issueId": issue.id, "branch": branch }))
}

/// Finds out which worktrees the payload of a plan asks for. Paths and addresses
/// in it mean nothing; a base branch counts from an agent only where the
/// workspace names none.
pub(crate) fn resolve<E: From<StepFailure>>(
    reads: &mut dyn Reads,
    issue: &Issue,
    by_board: bool,
    payload: &Document,
) -> Result<Vec<PlannedWorkspace>, Failure<E>> {
    let refused = |failure: StepFailure| Failure::Refused(E::from(failure));
    let asked = payload.get("workspace").and_then(Value::as_object);
    let delegations = payload.get("delegations").and_then(Value::as_array);
    let delegations: Vec<&JsonMap> = delegations
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .collect();
    let delegated = |it: &&&JsonMap| names_workspace(it);
    if asked.is_none() && !delegations.iter().any(|it| delegated(&it)) {
        return Ok(Vec::new());
    }
    let about = json!({ "issueId": issue.id });
    let Some(project) = issue.project else {
        let message = "the issue has no project, and so no repository to work in";
        return Err(refused(unavailable(message, about)));
    };
    let known = reads.projects().workspaces(issue.scope(), &[project])?;
    let mut chosen: Vec<&Workspace> = Vec::new();
    let of_plan = asked.filter(|asked| names_workspace(asked));
    for named in of_plan
        .into_iter()
        .chain(delegations.iter().copied().filter(|it| names_workspace(it)))
    {
        let Some(workspace) = known.iter().find(|it| is_named(it, named)) else {
            let message = "the plan names a workspace that the issue's project does not have";
            return Err(refused(unavailable(message, about)));
        };
        if chosen.iter().all(|it| it.id != workspace.id) {
            chosen.push(workspace);
        }
    }
    if chosen.is_empty() {
        let Some(primary) = known.iter().find(|it| it.is_primary) else {
            let message = "the issue's project has no workspace";
            return Err(refused(unavailable(message, about)));
        };
        chosen.push(primary);
    }
    if chosen.len() > ExecutionWorkspace::MAX_PER_PLAN {
        let most = ExecutionWorkspace::MAX_PER_PLAN;
        let message = format!("a plan is about at most {most} workspaces");
        return Err(refused(unavailable(message, about)));
    }
    let text = |key| {
        asked
            .and_then(|asked| asked.get(key))
            .and_then(Value::as_str)
    };
    let ticket_key = text("ticketKey").map_or_else(|| ticket_key::of_issue(issue), String::from);
    let branch =
        text("branch").map_or_else(|| ticket_key::branch(issue, &ticket_key), String::from);
    chosen
        .into_iter()
        .map(|workspace| {
            let own = workspace
                .default_base_branch
                .as_deref()
                .or(workspace.repo_ref.as_deref());
            let proposed = text("baseBranch");
            let base_branch = if by_board {
                proposed.or(own)
            } else {
                own.or(proposed)
            };
            let is_base = |named: Option<&str>| named == Some(branch.as_str());
            if is_base(base_branch) || is_base(own) || is_base(workspace.repo_ref.as_deref()) {
                return Err(refused(own_base(&branch, issue)));
            }
            Ok(PlannedWorkspace {
                project_workspace_id: workspace.id,
                name: workspace.name.to_string(),
                ticket_key: ticket_key.clone(),
                branch: branch.clone(),
                base_branch: base_branch.map(String::from),
            })
        })
        .collect()
}

/// True where an object of a plan says which workspace it is about.
fn names_workspace(object: &JsonMap) -> bool {
    ["projectWorkspaceId", "workspaceName"]
        .iter()
        .any(|key| object.get(*key).is_some_and(Value::is_string))
}

fn is_named(workspace: &Workspace, object: &JsonMap) -> bool {
    let text = |key| object.get(key).and_then(Value::as_str);
    match text("projectWorkspaceId") {
        Some(id) => id.parse() == Ok(workspace.id),
        None => text("workspaceName") == Some(&*workspace.name),
    }
}
