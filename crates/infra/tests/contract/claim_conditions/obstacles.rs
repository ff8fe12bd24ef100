//! What keeps a run from starting.

use workforce_domain::actor::Scope;
use workforce_domain::id::{ExecutionWorkspaceId, IssueId};
use workforce_domain::issue::{Holder, Issue};
use workforce_domain::run::Run;
use workforce_domain::time::Timestamp;

use crate::world::{World, claim, execute, id, literal, now};

pub(crate) fn take(world: &World<'_>, issue: &Issue, holder: Holder, at: Timestamp) {
    world.take_lease(issue, holder, at);
}

pub(crate) fn end_lease(world: &World<'_>) {
    world.write(|tx| {
        let held = tx
            .issues_mut()
            .lock(Scope::SYSTEM, &world.issue.id.into())?
            .expect("exists");
        tx.issues_mut().end_lease(&held)
    });
}

/// A live run of a colleague that is about nothing.
pub(crate) fn busy_colleague(world: &World<'_>) -> Run {
    world.queue(&world.hire(), None);
    claim(world.store).expect("it may start").run
}

/// A worktree, stored past the ports.
pub(crate) fn worktree(world: &World<'_>) -> ExecutionWorkspaceId {
    let (workspace, project, place): (ExecutionWorkspaceId, IssueId, IssueId) = (id(), id(), id());
    let (company, at) = (world.company.id, literal(world.store, now()));
    let no = if world.store.connection().starts_with("postgres") {
        "false"
    } else {
        "0"
    };
    for statement in [
        format!(
            "INSERT INTO projects (id, company_id, name, url_key, status, review_required, \
             created_at, updated_at) \
             VALUES ('{project}', '{company}', 'P', '{project}', 'planned', {no}, {at}, {at})"
        ),
        format!(
            "INSERT INTO project_workspaces (id, company_id, project_id, name, cwd, is_primary, \
             metadata, created_at, updated_at) \
             VALUES ('{place}', '{company}', '{project}', 'W', '/x', {no}, '{{}}', {at}, {at})"
        ),
        format!(
            "INSERT INTO execution_workspaces (id, company_id, project_workspace_id, ticket_key, \
             branch, base_branch, path, status, conflict_wakes, created_at, updated_at) \
             VALUES ('{workspace}', '{company}', '{place}', 'T', 'b', 'main', '/x', 'ready', 0, \
             {at}, {at})"
        ),
    ] {
        execute(world.store, &statement);
    }
    workspace
}
