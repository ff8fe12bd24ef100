//! Projects and their workspaces (docs/workspaces.md#projects).

mod conventions;
mod workspaces;

use workforce_app::access::Denied;
use workforce_app::projects::{self, CreateProject, ProjectError, UpdateProject};
use workforce_app::{Code, Refusal};
use workforce_domain::ObjectOnly;
use workforce_domain::change::Change;
use workforce_testkit::world::{World, done, new_project, new_workspace, refused};

use crate::support::add_workspace;

#[test]
fn an_unknown_goal_is_pointed_at() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let own = world.goal(company, "Grow").id;
    let foreign = world.goal(world.company("Other").id, "Theirs").id;
    let made = world.project_with(company, &new_project("Site")).project.id;
    for unknown in [world.id(), foreign] {
        let goals = vec![own, unknown];
        let command = CreateProject {
            goal_ids: Some(goals.clone()),
            ..new_project("New")
        };
        let board = world.board();
        let created =
            refused(board.write(|tx, ctx| projects::create(tx, ctx, company, command.clone())));
        let command = UpdateProject {
            goal_ids: Change::Set(goals),
            ..UpdateProject::default()
        };
        let changed =
            refused(board.write(|tx, ctx| projects::update(tx, ctx, made, command.clone())));
        for told in [created, changed] {
            assert_eq!(told.code(), Code::ReferenceNotFound);
            assert_eq!(told.details().unwrap()[0]["pointer"], "/goalIds/1");
        }
    }
}

#[test]
fn goals_are_linked_once_each_and_replaced_as_a_whole() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let [first, second] = ["First", "Second"].map(|titled| world.goal(company, titled).id);
    let command = CreateProject {
        goal_ids: Some(vec![second, second]),
        ..new_project("Site")
    };
    let view = world.project_with(company, &command);
    assert_eq!(
        view.goals.iter().map(|goal| goal.id).collect::<Vec<_>>(),
        [second]
    );
    let replace = |goals: Change<Vec<_>>| {
        let command = UpdateProject {
            goal_ids: goals,
            ..UpdateProject::default()
        };
        let board = world.board();
        let id = view.project.id;
        let changed = board.write(|tx, ctx| projects::update(tx, ctx, id, command.clone()));
        done(changed)
            .goals
            .into_iter()
            .map(|goal| goal.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(replace(Change::Set(vec![first])), [first]);
    assert_eq!(replace(Change::Keep), [first]);
    assert_eq!(replace(Change::Clear), []);
}

#[test]
fn short_names_of_projects_are_numbered() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let keys = [(); 2].map(|()| {
        world
            .project_with(company, &new_project("Site"))
            .project
            .url_key
    });
    assert_eq!(keys, ["site", "site-2"]);
}

#[test]
fn an_agent_makes_projects_without_workspaces() {
    let world = World::sqlite();
    let agent = world.hired(world.company("Acme").id, "Worker");
    let who = world.agent(agent.id);
    let make = |command: CreateProject| {
        who.write(|tx, ctx| projects::create(tx, ctx, agent.company, command.clone()))
    };
    let view = done(make(new_project("Mine")));
    let seeded = CreateProject {
        workspace: Some(ObjectOnly(new_workspace("/etc"))),
        ..new_project("Mine")
    };
    let board_required = ProjectError::Denied(Denied::BoardRequired);
    assert_eq!(refused(make(seeded)), board_required);
    assert_eq!(
        refused(add_workspace(who, view.project.id, &new_workspace("/etc"))),
        board_required
    );
}
