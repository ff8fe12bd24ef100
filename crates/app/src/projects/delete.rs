use serde_json::json;
use workforce_domain::activity::{Action, Entity};
use workforce_domain::id::ProjectId;
use workforce_domain::port::{Failure, Tx};

use super::{ProjectError, hold, write_down};
use crate::access::denied;
use crate::call::Call;

/// Deletes a project with its workspaces. For the board. Its issues and costs
/// stay without it; directories and repositories are left alone.
///
/// # Errors
/// [`ProjectError`]
pub fn delete(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    id: ProjectId,
) -> Result<(), Failure<ProjectError>> {
    call.require_board().map_err(denied)?;
    let project = hold(tx, call, id)?;
    let entity = (Entity::Project, &project.id as &dyn std::fmt::Display);
    let details = json!({ "name": project.name });
    write_down(tx, call, Action::ProjectDeleted, entity, &project, details);
    tx.projects_mut().delete(project)?;
    Ok(())
}
