//! Which worktrees an approval is about.

use serde_json::json;
use workforce_domain::Document;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::{Approval, ApprovalType};
use workforce_domain::execution_workspace::{ExecutionWorkspace, ExecutionWorkspaceStatus};
use workforce_domain::issue::Issue;
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

/// The worktrees that can be worked in whose work an issue brings before the board, oldest
/// first: its own, and else, where nothing stands above it, the one that it is worked on in. So
/// a further issue of a plan, and one whose ticket was deleted, come to an end by themselves.
pub(crate) fn brought_by(
    reads: &mut dyn Reads,
    issue: &Issue,
) -> Result<Vec<ExecutionWorkspace>, StoreError> {
    let company = issue.scope();
    let mut brought = reads.execution_workspaces().owned_by(company, issue.id)?;
    brought.retain(is_ready);
    if let (true, None, Some(shared)) =
        (brought.is_empty(), issue.parent, issue.execution_workspace)
    {
        let shared = reads.execution_workspaces().find(company.into(), shared)?;
        brought.extend(shared.filter(is_ready));
    }
    Ok(brought)
}

fn is_ready(worktree: &ExecutionWorkspace) -> bool {
    worktree.status == ExecutionWorkspaceStatus::Ready
}

/// The worktrees whose work an approval pushes, oldest first.
pub(crate) fn pushed_from(
    reads: &mut dyn Reads,
    approval: &Approval,
) -> Result<Vec<ExecutionWorkspace>, StoreError> {
    let Some(issue) = approval.primary_issue.filter(|_| approval.kind.pushes()) else {
        return Ok(Vec::new());
    };
    match reads
        .issues()
        .find(approval.scope().into(), &issue.into())?
    {
        Some(issue) => brought_by(reads, &issue),
        None => Ok(Vec::new()),
    }
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
