use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::id::{ProjectId, WorkspaceId};
use workforce_domain::port::{Failure, Reads, Tx};

use super::{ProjectError, lock};
use crate::activity_log::log_activity;
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// What the deletion of a project or workspace is refused with.
pub const DELETE: Codes = Codes::of(&[Code::WorkspaceInUse]);

/// Deletes a project with its workspaces. For the board. Its issues and costs
/// stay without it; directories and repositories are left alone.
///
/// # Errors
/// [`ProjectError::WorkspaceInUse`]
pub fn delete(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ProjectId,
) -> Result<(), Failure<ProjectError>> {
    ctx.require_board()?;
    let project = lock(tx, ctx, id)?;
    let workspaces = tx.projects().workspaces(project.scope(), &[id])?;
    for workspace in workspaces {
        require_no_ticket(tx.reads(), project.scope(), workspace.id)?;
    }
    let details = json!({ "name": project.name });
    log_activity(tx, ctx, Action::ProjectDeleted, &project, details);
    tx.projects_mut().delete(project)?;
    Ok(())
}

/// Refuses while an open ticket has a worktree of a workspace: what is not pushed yet
/// would be forgotten.
pub(super) fn require_no_ticket(
    reads: &mut dyn Reads,
    company: CompanyScope,
    workspace: WorkspaceId,
) -> Result<(), Failure<ProjectError>> {
    let ticket = reads
        .execution_workspaces()
        .open_ticket_of(company, workspace)?;
    match ticket {
        Some(issue) => Err(Failure::Refused(ProjectError::WorkspaceInUse {
            workspace,
            issue,
        })),
        None => Ok(()),
    }
}
