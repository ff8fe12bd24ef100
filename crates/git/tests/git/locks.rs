//! One at a time for each repository.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use workforce_git::{Git, GitError, Settings};

use crate::support::{World, git};

#[tokio::test]
async fn one_at_a_time_also_between_servers() {
    let world = World::new().await;
    let none = Duration::ZERO;
    let repository = world.open().await;
    git(&world.source(), &["worktree", "add", "-q", "../linked"]);
    let linked = world.git.open(&world.path("linked")).await.unwrap();
    let settings = Settings::new(world.path("managed"), world.path("scratch"));
    let server = Git::new(settings).await.unwrap();
    let elsewhere = server.open(&world.source()).await.unwrap();
    let other = World::new().await;

    let lock = repository.lock(Duration::from_secs(60)).await.unwrap();
    for same in [&repository, &linked, &elsewhere] {
        let refused = same.lock(none).await.unwrap_err();
        assert!(matches!(refused, GitError::Busy), "{refused}");
    }
    other
        .open()
        .await
        .lock(Duration::from_secs(60))
        .await
        .unwrap();
    let wait = tokio::spawn(async move { elsewhere.lock(Duration::from_secs(60)).await.is_ok() });
    tokio::task::yield_now().await;
    drop(lock);
    assert!(wait.await.unwrap());
    repository.lock(Duration::from_secs(60)).await.unwrap();
}

#[tokio::test]
async fn servers_with_other_folders_are_kept_apart_and_nothing_is_written() {
    let world = World::new().await;
    let settings = Settings::new(world.path("managed-2"), world.path("scratch-2"));
    let second = Git::new(settings).await.unwrap();
    let (first, second) = (
        world.open().await,
        second.open(&world.source()).await.unwrap(),
    );
    let long = Duration::from_secs(60);
    let before = files(&world.source());

    let lock = first.lock(long).await.unwrap();
    let refused = second.lock(Duration::ZERO).await.unwrap_err();
    assert!(matches!(refused, GitError::Busy), "{refused}");
    drop(lock);
    let lock = second.lock(long).await.unwrap();
    let refused = first.lock(Duration::ZERO).await.unwrap_err();
    assert!(matches!(refused, GitError::Busy), "{refused}");
    // Whoever waits gets it.
    let wait = tokio::spawn(async move { first.lock(long).await.is_ok() });
    tokio::task::yield_now().await;
    drop(lock);
    assert!(wait.await.unwrap());
    assert_eq!(files(&world.source()), before);
}

/// All that lies below a folder, with the time of its last change.
fn files(dir: &Path) -> BTreeMap<PathBuf, SystemTime> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let changed = path.symlink_metadata().unwrap().modified().unwrap();
        found.insert(path.clone(), changed);
        if path.is_dir() {
            found.extend(files(&path));
        }
    }
    found
}
