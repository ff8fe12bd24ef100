//! Folders that are in the place of worktrees, and worktrees whose folder is gone.

use std::fs;
use std::path::Path;

use workforce_git::{Branch, GitError};

use crate::support::{World, branch, committed, git, message, write};

#[tokio::test]
async fn a_worktree_is_found_again() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    write(worktree.path(), "x", "not committed");
    let again = world.worktree().await;
    assert_eq!(again.path(), worktree.path());
    assert!(again.path().join("x").exists());
    let repository = world.open().await;
    let found = repository
        .open_worktree(Path::new("tickets/one"), &branch())
        .await
        .unwrap();
    assert_eq!(found.unwrap().changes(1).await.unwrap().total, 1);
    let found = repository
        .open_worktree(Path::new("tickets/two"), &branch())
        .await
        .unwrap();
    assert!(found.is_none());
}

#[tokio::test]
async fn what_is_in_its_place_is_put_aside() {
    let world = World::new().await;
    let place = world.path("managed/tickets/one");
    write(&place, "precious", "1");
    let worktree = world.worktree().await;
    let aside = place.with_file_name("one.quarantine-1");
    assert!(aside.join("precious").exists());

    // The agent went to another branch, and left work there.
    git(worktree.path(), &["checkout", "-q", "-b", "feature/other"]);
    write(worktree.path(), "x", "x");
    let worktree = world.worktree().await;
    assert!(!worktree.path().join("x").exists());
    let aside = place.with_file_name("one.quarantine-2");
    assert_eq!(git(&aside, &["status", "--porcelain"]), "?? x");
    assert_eq!(git(&aside, &["branch", "--show-current"]), "feature/other");
    assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_worktree_whose_folder_is_gone_is_made_again() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    write(worktree.path(), "x", "x");
    committed(worktree.commit(&message("Work")).await.unwrap());
    let user = world.path("user");
    git(
        &world.source(),
        &["worktree", "add", "-q", user.to_str().unwrap()],
    );
    fs::remove_dir_all(&user).unwrap();
    fs::remove_dir_all(worktree.path()).unwrap();
    let worktree = world.worktree().await;
    assert!(worktree.path().join("x").exists());
    // What somebody else's worktree left is none of ours.
    let listed = git(&world.source(), &["worktree", "list"]);
    assert_eq!(listed.lines().count(), 3, "{listed}");
    let user = Branch::new("user").unwrap();
    let repository = world.open().await;
    let added = repository
        .add_worktree(Path::new("user"), &user, &world.main())
        .await;
    assert!(
        matches!(added, Err(GitError::BranchInUse { .. })),
        "{added:?}"
    );
}

#[tokio::test]
async fn only_what_is_pushed_is_removed() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let main = world.main();
    let path = worktree.path().to_owned();
    write(&path, "untracked", "x");
    let refused = worktree.remove(&main).await.unwrap_err();
    assert!(
        matches!(refused, GitError::Uncommitted { total: 1, .. }),
        "{refused}"
    );
    let worktree = world.worktree().await;
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    let refused = worktree.remove(&main).await.unwrap_err();
    assert!(matches!(refused, GitError::Unpushed), "{refused}");
    assert!(path.join("untracked").exists());
    write(&path, "target/ignored", "x");
    world.worktree().await.remove(&head).await.unwrap();
    assert!(!path.exists());
    assert_eq!(
        fs::read_dir(world.path("managed/.removed"))
            .unwrap()
            .count(),
        0
    );
}

#[tokio::test]
async fn a_mirror_has_what_a_commit_writes_to() {
    let world = World::new().await;
    let mirror = world
        .git
        .mirror(Path::new("mirror"), &world.remote())
        .await
        .unwrap();
    let made = mirror
        .add_worktree(Path::new("one"), &branch(), &world.main())
        .await
        .unwrap();
    let shared = made.shared_folders().unwrap();
    write(made.path(), "x", "x");
    git(made.path(), &["add", "x"]);
    git(made.path(), &["commit", "-q", "-m", "x"]);
    let log = world.path("managed/mirror/logs/refs/heads/feature");
    assert!(shared.contains(&log), "{shared:?}");
    // Nothing but what it says was written to.
    let mut logs = log.parent().unwrap().read_dir().unwrap();
    assert_eq!(logs.next().unwrap().unwrap().path(), log);
    assert!(logs.next().is_none());
}

#[tokio::test]
async fn a_mirror_keeps_branches_of_tickets() {
    let world = World::new().await;
    write(&world.path("managed/mirror"), "precious", "x");
    let mirror = world
        .git
        .mirror(Path::new("mirror"), &world.remote())
        .await
        .unwrap();
    assert!(world.path("managed/mirror.quarantine-1/precious").exists());
    let made = mirror
        .add_worktree(Path::new("one"), &branch(), &world.main())
        .await
        .unwrap();
    write(made.path(), "x", "x");
    let head = committed(made.commit(&message("Work")).await.unwrap());
    let base = world.move_main("y", "y");
    git(
        &world.source(),
        &["push", "-q", "origin", "main:refs/heads/feature/one"],
    );
    let mirror = world
        .git
        .mirror(Path::new("mirror"), &world.remote())
        .await
        .unwrap();
    assert_eq!(mirror.branch_head(&branch()).unwrap(), Some(head));
    assert!(mirror.has_commit(&base).await.unwrap());
    let path = world.path("managed/mirror");
    assert_eq!(
        git(&path, &["rev-parse", "refs/remotes/origin/main"]),
        base.as_str()
    );
    git(&path, &["fsck", "--strict"]);

    // A branch in the way of another one that is gone.
    let source = world.source();
    git(&source, &["push", "-q", "origin", "main:refs/heads/a"]);
    world
        .git
        .mirror(Path::new("mirror"), &world.remote())
        .await
        .unwrap();
    git(&source, &["push", "-q", "origin", ":refs/heads/a"]);
    let base = world.move_main("z", "z");
    git(&source, &["push", "-q", "origin", "main:refs/heads/a/b"]);
    let mirror = world
        .git
        .mirror(Path::new("mirror"), &world.remote())
        .await
        .unwrap();
    assert!(mirror.has_commit(&base).await.unwrap());
}

#[tokio::test]
async fn a_lock_that_was_left_behind_is_removed() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    write(&world.source(), ".git/refs/heads/feature/one.lock", "");
    write(worktree.path(), "x", "x");
    committed(worktree.commit(&message("Work")).await.unwrap());
}
