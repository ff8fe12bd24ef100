//! Projects and their workspaces (contract section 2.4).

use std::time::Duration;

use serde_json::json;
use workforce_app::access::Denied;
use workforce_app::projects::{
    self, CreateProject, CreateWorkspace, ProjectError, UpdateProject, UpdateWorkspace,
};
use workforce_app::{Code, Failure, Refusal};
use workforce_domain::change::Change;
use workforce_domain::id::{ProjectId, WorkspaceId};
use workforce_domain::project::Workspace;
use workforce_domain::text::Location;
use workforce_testkit::world::{Acting, World, done, label, new_project, new_workspace, refused};

fn location(text: &str) -> Location {
    Location::new(text).unwrap()
}

fn cloned(repo_url: &str) -> CreateWorkspace {
    CreateWorkspace {
        cwd: None,
        repo_url: Some(location(repo_url)),
        ..new_workspace("/unused")
    }
}

fn nowhere() -> CreateWorkspace {
    CreateWorkspace {
        cwd: None,
        ..new_workspace("/unused")
    }
}

fn project(world: &World) -> ProjectId {
    world
        .project_with(world.company("Acme").id, &new_project("Site"))
        .project
        .id
}

fn add(
    who: Acting<'_>,
    project: ProjectId,
    command: &CreateWorkspace,
) -> Result<Workspace, Failure<ProjectError>> {
    who.write(|tx, call| projects::create_workspace(tx, call, project, command.clone()))
}

fn change(
    world: &World,
    (project, workspace): (ProjectId, WorkspaceId),
    command: &UpdateWorkspace,
) -> Result<Workspace, Failure<ProjectError>> {
    let board = world.board();
    board
        .write(|tx, call| projects::update_workspace(tx, call, project, workspace, command.clone()))
}

#[track_caller]
fn remove(world: &World, project: ProjectId, workspace: WorkspaceId) {
    let board = world.board();
    done(board.write(|tx, call| projects::delete_workspace(tx, call, project, workspace)));
}

/// The workspaces as they are listed, and whether each is the primary one.
#[track_caller]
fn listed(world: &World, project: ProjectId) -> Vec<(WorkspaceId, bool)> {
    let board = world.board();
    done(board.read(|reads, call| projects::workspaces(reads, call, project)))
        .into_iter()
        .map(|workspace| (workspace.id, workspace.is_primary))
        .collect()
}

/// Workspaces made one after another.
fn three(world: &World, project: ProjectId) -> [WorkspaceId; 3] {
    ["/srv/a", "/srv/b", "/srv/c"].map(|cwd| {
        world.advance(Duration::from_secs(1));
        done(add(world.board(), project, &new_workspace(cwd))).id
    })
}

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
            goals: goals.clone(),
            ..new_project("New")
        };
        let board = world.board();
        let created =
            refused(board.write(|tx, call| projects::create(tx, call, company, command.clone())));
        let command = UpdateProject {
            goals: Change::Set(goals),
            ..UpdateProject::default()
        };
        let changed =
            refused(board.write(|tx, call| projects::update(tx, call, made, command.clone())));
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
        goals: vec![second, second],
        ..new_project("Site")
    };
    let view = world.project_with(company, &command);
    assert_eq!(
        view.goals.iter().map(|goal| goal.id).collect::<Vec<_>>(),
        [second]
    );
    let replace = |goals: Change<Vec<_>>| {
        let command = UpdateProject {
            goals,
            ..UpdateProject::default()
        };
        let board = world.board();
        let id = view.project.id;
        let changed = board.write(|tx, call| projects::update(tx, call, id, command.clone()));
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
        who.write(|tx, call| projects::create(tx, call, agent.company, command.clone()))
    };
    let view = done(make(new_project("Mine")));
    let seeded = CreateProject {
        workspace: Some(new_workspace("/etc")),
        ..new_project("Mine")
    };
    let board_required = ProjectError::Denied(Denied::BoardRequired);
    assert_eq!(refused(make(seeded)), board_required);
    assert_eq!(
        refused(add(who, view.project.id, &new_workspace("/etc"))),
        board_required
    );
}
