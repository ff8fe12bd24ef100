//! Projects, their workspaces and conventions.

use workforce_app::Code;
use workforce_app::conventions::{self, ReplaceConventions, UpdateConventions};
use workforce_app::projects::{self, CreateProject, ProjectRef, UpdateProject, UpdateWorkspace};
use workforce_domain::change::Change;
use workforce_domain::id::{CompanyId, WorkspaceId};
use workforce_domain::page::PageRequest;
use workforce_testkit::world::{Acting, World, new_project, new_workspace};

use super::{Answers, Objects, told};

pub(super) fn about(who: Acting<'_>, at: &Objects) -> Answers {
    let change_project = UpdateProject::default;
    let change_workspace = UpdateWorkspace::default;
    vec![
        (
            "projects::get",
            told(who.read(|r, ctx| projects::get(r, ctx, &ProjectRef::Id(at.project)))),
        ),
        (
            "projects::workspaces",
            told(who.read(|r, ctx| projects::workspaces(r, ctx, at.project))),
        ),
        (
            "projects::update",
            told(who.write(|tx, ctx| projects::update(tx, ctx, at.project, change_project()))),
        ),
        (
            "projects::create_workspace",
            told(who.write(|tx, ctx| {
                projects::create_workspace(tx, ctx, at.project, new_workspace("/srv/other"))
            })),
        ),
        (
            "projects::update_workspace",
            told(who.write(|tx, ctx| {
                let change = change_workspace();
                projects::update_workspace(tx, ctx, at.project, at.workspace, change)
            })),
        ),
        (
            "projects::delete_workspace",
            told(
                who.write(|tx, ctx| projects::delete_workspace(tx, ctx, at.project, at.workspace)),
            ),
        ),
        (
            "conventions::get",
            told(who.read(|r, ctx| conventions::get(r, ctx, at.project))),
        ),
        (
            "conventions::replace",
            told(who.write(|tx, ctx| {
                conventions::replace(tx, ctx, at.project, ReplaceConventions::default())
            })),
        ),
        (
            "conventions::update",
            told(who.write(|tx, ctx| {
                conventions::update(tx, ctx, at.project, UpdateConventions::default())
            })),
        ),
        (
            "conventions::compact",
            told(who.write(|tx, ctx| conventions::compact(tx, ctx, at.project, 400))),
        ),
    ]
}

pub(super) fn of(who: Acting<'_>, company: CompanyId) -> Answers {
    vec![
        (
            "projects::create",
            told(who.write(|tx, ctx| projects::create(tx, ctx, company, new_project("Harm")))),
        ),
        (
            "projects::list",
            told(who.read(|r, ctx| projects::list(r, ctx, company, &PageRequest::first()))),
        ),
    ]
}

pub(super) fn references(
    who: Acting<'_>,
    own: &Objects,
    company: CompanyId,
    named: &Objects,
) -> Answers {
    let project = |command: CreateProject| {
        told(who.write(|tx, ctx| projects::create(tx, ctx, company, command.clone())))
    };
    let changed = |change: UpdateProject| {
        told(who.write(|tx, ctx| projects::update(tx, ctx, own.project, change.clone())))
    };
    vec![
        (
            "project goals",
            project(CreateProject {
                goal_ids: Some(vec![own.goal, named.goal]),
                ..new_project("P")
            }),
        ),
        (
            "project lead",
            project(CreateProject {
                lead_agent_id: Some(named.agent),
                ..new_project("P")
            }),
        ),
        (
            "project new goals",
            changed(UpdateProject {
                goal_ids: Change::Set(vec![named.goal]),
                ..UpdateProject::default()
            }),
        ),
        (
            "project new lead",
            changed(UpdateProject {
                lead_agent_id: Change::Set(named.agent),
                ..UpdateProject::default()
            }),
        ),
    ]
}

#[test]
fn a_workspace_is_found_through_its_own_project_only() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let own = world.project_with(company, &new_project("Own")).project.id;
    let sibling = Objects::of(&world, company);
    let theirs = Objects::of(&world, world.company("Other").id);
    let ask = |workspace: WorkspaceId| {
        told(
            world
                .board()
                .write(|tx, ctx| projects::delete_workspace(tx, ctx, own, workspace)),
        )
    };
    let missing = ask(world.id());
    assert_eq!(missing.0, Code::NotFound);
    assert_eq!(ask(sibling.workspace), missing);
    assert_eq!(ask(theirs.workspace), missing);
}
