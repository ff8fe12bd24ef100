use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::id::ProjectId;
use workforce_domain::port::{Failure, Tx};

use super::{ProjectError, lock};
use crate::activity_log::log_activity;
use crate::context::Context;

/// Deletes a project with its workspaces. For the board. Its issues and costs
/// stay without it; directories and repositories are left alone.
pub fn delete(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ProjectId,
) -> Result<(), Failure<ProjectError>> {
    ctx.require_board()?;
    let project = lock(tx, ctx, id)?;
    let details = json!({ "name": project.name });
    log_activity(tx, ctx, Action::ProjectDeleted, &project, details);
    tx.projects_mut().delete(project)?;
    Ok(())
}
