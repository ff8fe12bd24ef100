//! In which worktree of a ticket a new child is worked on
//! (docs/tickets.md#execution-workspaces).

use serde_json::Value;
use workforce_domain::JsonMap;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::Agent;
use workforce_domain::approval::{Approval, ApprovalStatus, ApprovalType};
use workforce_domain::execution_workspace::ExecutionWorkspace;
use workforce_domain::id::{ExecutionWorkspaceId, IssueId};
use workforce_domain::issue::Issue;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{Failure, Reads, StoreError};

use super::IssueError;
use crate::access::FieldFault;

/// The worktree of a child: the one that is named, which must be one of the ticket,
/// else the one that the plan gave to its assignee, else that of its parent.
pub(super) fn for_child(
    reads: &mut dyn Reads,
    parent: Option<&Issue>,
    named: Option<ExecutionWorkspaceId>,
    assignee: Option<&Agent>,
) -> Result<Option<ExecutionWorkspaceId>, Failure<IssueError>> {
    let missing = || FieldFault::missing("/executionWorkspaceId", "worktree of its ticket");
    let of_parent = parent.and_then(|parent| Some((parent, parent.execution_workspace?)));
    let Some((parent, own)) = of_parent else {
        return match named {
            Some(_) => Err(missing().into()),
            None => Ok(None),
        };
    };
    if named.is_none() && assignee.is_none() {
        return Ok(Some(own));
    }
    let company = parent.scope();
    let owner = reads.execution_workspaces().find(company.into(), own)?;
    let Some(owner) = owner.and_then(|own| own.owner) else {
        return Ok(Some(own));
    };
    let of_ticket = reads.execution_workspaces().owned_by(company, owner)?;
    if let Some(named) = named {
        return match of_ticket.iter().any(|it| it.id == named) {
            true => Ok(Some(named)),
            false => Err(missing().into()),
        };
    }
    let delegated = match assignee {
        Some(assignee) if of_ticket.len() > 1 => {
            delegated_to(reads, parent, owner, assignee, &of_ticket)?
        }
        _ => None,
    };
    Ok(Some(delegated.unwrap_or(own)))
}

/// The worktree that the approved plan of a ticket gave to an agent.
fn delegated_to(
    reads: &mut dyn Reads,
    parent: &Issue,
    owner: IssueId,
    assignee: &Agent,
    of_ticket: &[ExecutionWorkspace],
) -> Result<Option<ExecutionWorkspaceId>, StoreError> {
    let company = parent.scope();
    let page = reads
        .approvals()
        .of_issue(company, owner, &PageRequest::first())?;
    let is_plan = |it: &&Approval| {
        it.kind == ApprovalType::ApproveIssuePlan && it.status() == ApprovalStatus::Approved
    };
    let Some(plan) = page.items.iter().find(is_plan) else {
        return Ok(None);
    };
    let delegations = plan.payload.get("delegations").and_then(Value::as_array);
    let mut of_agent = delegations
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .filter(|delegation| is_to(delegation, assignee));
    let text = |delegation: &JsonMap, key: &str| {
        let text = delegation.get(key).and_then(Value::as_str);
        text.map(ToOwned::to_owned)
    };
    let named = of_agent.find_map(|delegation| {
        text(delegation, "projectWorkspaceId").or_else(|| text(delegation, "workspaceName"))
    });
    let Some(named) = named else {
        return Ok(None);
    };
    for worktree in of_ticket {
        let id = worktree.project_workspace;
        let workspace = reads.projects().find_workspace(company, id)?;
        let is_named = |name: &str| name == named;
        if is_named(&id.to_string()) || workspace.is_some_and(|it| is_named(&it.name)) {
            return Ok(Some(worktree.id));
        }
    }
    Ok(None)
}

fn is_to(delegation: &JsonMap, agent: &Agent) -> bool {
    let says = |key: &str, value: &str| {
        let said = delegation.get(key).and_then(Value::as_str);
        said.is_some_and(|said| said.eq_ignore_ascii_case(value))
    };
    says("agentId", &agent.id.to_string())
        || says("agentName", &agent.name)
        || says("agentName", &agent.url_key)
}
