//! Workspaces of projects (docs/workspaces.md#workspaces).

use std::time::Duration;

use serde_json::json;
use workforce_app::projects::{
    self, CreateProject, CreateWorkspace, ProjectError, UpdateWorkspace,
};
use workforce_app::{Code, Failure, Refusal};
use workforce_domain::ObjectOnly;
use workforce_domain::change::{Change, Replace};
use workforce_domain::id::{ProjectId, WorkspaceId};
use workforce_domain::project::Workspace;
use workforce_domain::text::Location;
use workforce_testkit::world::{World, done, label, new_project, new_workspace, refused};

use crate::support::add_workspace;

fn location(text: &str) -> Location {
    Location::parse(text).unwrap()
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

fn change(
    world: &World,
    (project, workspace): (ProjectId, WorkspaceId),
    command: &UpdateWorkspace,
) -> Result<Workspace, Failure<ProjectError>> {
    let board = world.board();
    board.write(|tx, ctx| projects::update_workspace(tx, ctx, project, workspace, command.clone()))
}

#[track_caller]
fn remove(world: &World, project: ProjectId, workspace: WorkspaceId) {
    let board = world.board();
    done(board.write(|tx, ctx| projects::delete_workspace(tx, ctx, project, workspace)));
}

/// The workspaces as they are listed, and whether each is the primary one.
#[track_caller]
fn listed(world: &World, project: ProjectId) -> Vec<(WorkspaceId, bool)> {
    let board = world.board();
    done(board.read(|reads, ctx| projects::workspaces(reads, ctx, project)))
        .into_iter()
        .map(|workspace| (workspace.id, workspace.is_primary))
        .collect()
}

/// Workspaces made one after another.
fn three(world: &World, project: ProjectId) -> [WorkspaceId; 3] {
    ["/srv/a", "/srv/b", "/srv/c"].map(|cwd| {
        world.advance(Duration::from_secs(1));
        done(add_workspace(world.board(), project, &new_workspace(cwd))).id
    })
}

#[test]
fn the_first_workspace_is_the_primary_one_whatever_it_says() {
    let world = World::sqlite();
    let id = project(&world);
    assert!(done(add_workspace(world.board(), id, &new_workspace("/srv/a"))).is_primary);
    assert!(!done(add_workspace(world.board(), id, &new_workspace("/srv/b"))).is_primary);
    let seeded = CreateProject {
        workspace: Some(ObjectOnly(new_workspace("/srv/site"))),
        ..new_project("S")
    };
    let view = world.project_with(world.company("Other").id, &seeded);
    assert!(view.workspaces[0].is_primary);
    assert_eq!(view.workspaces[0].name.as_str(), "site");
}

#[test]
fn one_workspace_only_is_the_primary_one() {
    let world = World::sqlite();
    let id = project(&world);
    let [a, b, c] = three(&world, id);
    assert_eq!(listed(&world, id), [(a, true), (b, false), (c, false)]);
    let primary = UpdateWorkspace {
        is_primary: Replace::Set(true),
        ..UpdateWorkspace::default()
    };
    assert!(done(change(&world, (id, c), &primary)).is_primary);
    assert_eq!(listed(&world, id), [(c, true), (a, false), (b, false)]);
    let claimed = CreateWorkspace {
        is_primary: Some(true),
        ..new_workspace("/srv/d")
    };
    let d = done(add_workspace(world.board(), id, &claimed)).id;
    assert_eq!(listed(&world, id)[0], (d, true));
    assert_eq!(
        listed(&world, id)
            .iter()
            .filter(|(_, primary)| *primary)
            .count(),
        1
    );
    let given_up = UpdateWorkspace {
        is_primary: Replace::Set(false),
        ..UpdateWorkspace::default()
    };
    assert!(done(change(&world, (id, d), &given_up)).is_primary);
}

#[test]
fn the_oldest_workspace_takes_the_place_of_a_deleted_primary_one() {
    let world = World::sqlite();
    let id = project(&world);
    let [a, b, c] = three(&world, id);
    let primary = UpdateWorkspace {
        is_primary: Replace::Set(true),
        ..UpdateWorkspace::default()
    };
    done(change(&world, (id, c), &primary));
    remove(&world, id, c);
    assert_eq!(listed(&world, id), [(a, true), (b, false)]);
    remove(&world, id, b);
    assert_eq!(listed(&world, id), [(a, true)]);
    remove(&world, id, a);
    assert_eq!(listed(&world, id), []);
    assert!(
        done(add_workspace(
            world.board(),
            id,
            &new_workspace("/srv/again")
        ))
        .is_primary
    );
}

#[test]
fn a_workspace_is_somewhere() {
    let world = World::sqlite();
    let id = project(&world);
    let told = refused(add_workspace(world.board(), id, &nowhere()));
    assert_eq!(told, ProjectError::NoSource { pointer: "" });
    assert_eq!(told.code(), Code::InvalidField);
    let company = world.company("Other").id;
    let seeded = CreateProject {
        workspace: Some(ObjectOnly(nowhere())),
        ..new_project("Nowhere")
    };
    let board = world.board();
    let told = refused(board.write(|tx, ctx| projects::create(tx, ctx, company, seeded.clone())));
    assert_eq!(
        told.details().unwrap()[0]["pointer"],
        json!("/workspace/cwd")
    );
    // A refused project is not made without its workspace instead.
    let after = world.project_with(company, &new_project("Nowhere"));
    assert_eq!(after.project.url_key, "nowhere");
}

#[test]
fn a_workspace_stays_somewhere_after_a_change() {
    let world = World::sqlite();
    let id = project(&world);
    let made = done(add_workspace(world.board(), id, &new_workspace("/srv/a")));
    let at = (id, made.id);
    let no_cwd = UpdateWorkspace {
        cwd: Change::Clear,
        ..UpdateWorkspace::default()
    };
    assert_eq!(
        refused(change(&world, at, &no_cwd)),
        ProjectError::NoSource { pointer: "" }
    );
    let repo = Change::Set(location("https://example.org/a.git"));
    done(change(
        &world,
        at,
        &UpdateWorkspace {
            repo_url: repo,
            ..UpdateWorkspace::default()
        },
    ));
    assert_eq!(done(change(&world, at, &no_cwd)).source.cwd(), None);
    let no_repo = UpdateWorkspace {
        repo_url: Change::Clear,
        ..UpdateWorkspace::default()
    };
    assert_eq!(
        refused(change(&world, at, &no_repo)),
        ProjectError::NoSource { pointer: "" }
    );
}

#[test]
fn what_git_would_take_for_an_option_or_a_password_is_refused() {
    let world = World::sqlite();
    let id = project(&world);
    let made = done(add_workspace(world.board(), id, &new_workspace("/srv/a"))).id;
    let bad = [
        "--upload-pack=x",
        "-x",
        "ext::sh -c id",
        "https://u:secret@example.org/a.git",
    ];
    for url in bad {
        let created = refused(add_workspace(world.board(), id, &cloned(url)));
        let repo_url = Change::Set(location(url));
        let command = UpdateWorkspace {
            repo_url,
            ..UpdateWorkspace::default()
        };
        let changed = refused(change(&world, (id, made), &command));
        for told in [created, changed] {
            assert_eq!(told.code(), Code::InvalidField, "{url}");
            assert_eq!(told.details().unwrap()[0]["pointer"], "/repoUrl", "{url}");
            assert!(!told.to_string().contains("secret"));
        }
    }
    let option = || Some(label("--force"));
    let refs = [
        (
            "/repoRef",
            CreateWorkspace {
                repo_ref: option(),
                ..new_workspace("/srv/b")
            },
        ),
        (
            "/defaultBaseBranch",
            CreateWorkspace {
                default_base_branch: option(),
                ..new_workspace("/srv/b")
            },
        ),
    ];
    for (pointer, command) in refs {
        let told = refused(add_workspace(world.board(), id, &command));
        assert_eq!(told.details().unwrap()[0]["pointer"], pointer);
    }
    for url in [
        "https://u@example.org/a.git",
        "git@example.org:a/b.git",
        "ssh://git@example.org:22/a",
    ] {
        assert!(
            add_workspace(world.board(), id, &cloned(url)).is_ok(),
            "{url}"
        );
    }
}
