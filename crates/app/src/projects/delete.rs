use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::id::ProjectId;
use workforce_domain::port::{Failure, Tx};

use super::{ProjectError, hold};
use crate::access::denied;
use crate::call::Call;
use crate::record::record;

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
    let details = json!({ "name": project.name });
    record(tx, call, Action::ProjectDeleted, &project, details);
    tx.projects_mut().delete(project)?;
    Ok(())
}
