//! One at a time for each repository.

use std::time::Duration;

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
