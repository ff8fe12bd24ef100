//! Which worktrees an approval is about.

use serde_json::json;
use workforce_domain::Document;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::{Approval, ApprovalType};
use workforce_domain::execution_workspace::{ExecutionWorkspace, ExecutionWorkspaceStatus};
use workforce_domain::port::{Reads, StoreError};

use super::plan::planned;
use crate::activity_log::document;

/// The worktrees that a plan was given, in the order in which it names them.
pub(crate) fn reserved_for(
    reads: &mut dyn Reads,
    approval: &Approval,
) -> Result<Vec<ExecutionWorkspace>, StoreError> {
    let Some(owner) = approval.primary_issue else {
        return Ok(Vec::new());
    };
    let mut reserved = Vec::new();
    for planned in planned(approval) {
        let (workspace, key) = (planned.project_workspace_id, &planned.ticket_key);
        let found = reads
            .execution_workspaces()
            .of_ticket(approval.scope(), workspace, key)?;
        reserved.extend(found.filter(|found| found.owner == Some(owner)));
    }
    Ok(reserved)
}

/// The worktrees whose work an approval pushes, oldest first.
pub(crate) fn pushed_from(
    reads: &mut dyn Reads,
    approval: &Approval,
) -> Result<Vec<ExecutionWorkspace>, StoreError> {
    let Some(owner) = approval.primary_issue.filter(|_| approval.kind.pushes()) else {
        return Ok(Vec::new());
    };
    let company = approval.scope();
    let mut owned = reads.execution_workspaces().owned_by(company, owner)?;
    owned.retain(|it| it.status == ExecutionWorkspaceStatus::Ready);
    Ok(owned)
}

/// The worktrees that the steps of an approval are taken in.
pub(crate) fn worked_on(
    reads: &mut dyn Reads,
    approval: &Approval,
) -> Result<Vec<ExecutionWorkspace>, StoreError> {
    match approval.kind {
        ApprovalType::ApproveIssuePlan => reserved_for(reads, approval),
        _ => pushed_from(reads, approval),
    }
}

/// What the payload of an approval shows of the first worktree of a ticket.
pub(crate) fn shown(first: Option<&ExecutionWorkspace>) -> Document {
    first.map_or_else(Document::new, |first| {
        document(json!({
            "ticketKey": first.ticket_key,
            "branch": first.branch,
            "baseBranch": first.base_branch,
        }))
    })
}
