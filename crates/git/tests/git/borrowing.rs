//! Repositories that name the objects of others, from the beginning or by an agent's hand.

use std::fs;
use std::path::{Path, PathBuf};

use workforce_git::{Branch, GitError, Worktree};

use crate::support::{World, branch, commit_id, committed, git, message, write};

/// What an agent writes that wants the server to read the objects of another repository.
fn name_objects(of: &World, at: &World) -> PathBuf {
    let line = format!("{}\n", of.source().join(".git/objects").display());
    let info = at.source().join(".git/objects/info");
    fs::create_dir_all(&info).unwrap();
    let alternates = info.join("alternates");
    fs::write(&alternates, line).unwrap();
    alternates
}

#[track_caller]
fn named<T: std::fmt::Debug>(result: Result<T, GitError>) -> PathBuf {
    match result {
        Err(GitError::Borrowing { file, .. }) => file,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn objects_of_other_repositories_are_not_borrowed() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let other = World::new().await;
    let secret = other.move_main("secret", "secret\n");
    let alternates = name_objects(&other, &world);
    let seen = git(&world.source(), &["cat-file", "-t", secret.as_str()]);
    assert_eq!(seen, "commit");
    let pushed = worktree.push(&world.remote(), &secret).await;
    assert_eq!(named(pushed), alternates);
    let looked = worktree.refused_in_commits(&[], &secret).await;
    assert_eq!(named(looked), alternates);
}

#[tokio::test]
async fn a_file_with_such_a_secret_is_not_pushed() {
    let (world, other) = (World::new().await, World::new().await);
    let worktree = world.worktree().await;
    other.move_main("secret", "secret\n");
    let alternates = name_objects(&other, &world);
    // Git keeps no second copy of what the other repository has.
    write(worktree.path(), "stolen", "secret\n");
    git(worktree.path(), &["add", "stolen"]);
    git(worktree.path(), &["commit", "-q", "-m", "by the agent"]);
    let head = worktree.head().unwrap();
    let looked = worktree.refused_in_commits(&[world.main()], &head).await;
    assert_eq!(named(looked), alternates);
    let _ = worktree.push(&world.remote(), &head).await;
    let pushed = git(
        &world.path("remote.git"),
        &["branch", "--list", "feature/*"],
    );
    assert_eq!(pushed, "");
}

/// Works on a ticket from its commit to its push.
async fn work_on(world: &World, worktree: &Worktree) {
    write(worktree.path(), "x", "x\n");
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    let refused = worktree.refused_in_commits(&[world.main()], &head).await;
    assert_eq!(refused.unwrap(), []);
    worktree.push(&world.remote(), &head).await.unwrap();
}

#[tokio::test]
async fn a_file_that_names_others_stops_nobody_who_needs_none_of_them() {
    let world = World::new().await;
    let first = world.worktree().await;
    let other = World::new().await;
    other.move_main("secret", "secret\n");
    let alternates = name_objects(&other, &world);
    let repository = world.open().await;
    assert_eq!(repository.source_state().await.unwrap().total, 0);
    let second = Branch::new("feature/two").unwrap();
    let (place, start) = (Path::new("tickets/two"), world.main());
    let made = repository.add_worktree(place, &second, &start).await;
    work_on(&world, &made.unwrap()).await;
    work_on(&world, &first).await;
    repository.fetch(&world.remote(), &second).await.unwrap();
    // It was left alone, and nothing of what was made needs it.
    fs::remove_file(&alternates).unwrap();
    git(&world.source(), &["fsck", "--strict"]);
}

#[tokio::test]
async fn a_repository_that_needs_the_objects_of_another_is_refused() {
    let world = World::new().await;
    let (whole, shared) = (world.source(), world.path("shared"));
    git(
        &whole,
        &["clone", "-q", "--shared", ".", shared.to_str().unwrap()],
    );
    let alternates = shared.join(".git/objects/info/alternates");
    let repository = world.git.open(&shared).await.unwrap();
    assert_eq!(named(repository.source_state().await), alternates);
    // What it has of its own is not all.
    write(&shared, "new", "new\n");
    git(&shared, &["add", "new"]);
    git(&shared, &["commit", "-q", "-m", "half"]);
    let start = commit_id(&git(&shared, &["rev-parse", "HEAD"]));
    let place = Path::new("tickets/one");
    let made = repository.add_worktree(place, &branch(), &start).await;
    assert_eq!(named(made), alternates);
    assert_eq!(repository.branch_head(&branch()).unwrap(), None);

    git(&shared, &["repack", "-q", "-a", "-d"]);
    let made = repository.add_worktree(place, &branch(), &start).await;
    assert_eq!(made.unwrap().head().unwrap(), start);
    fs::remove_file(&alternates).unwrap();
    assert_eq!(repository.source_state().await.unwrap().total, 0);
}
