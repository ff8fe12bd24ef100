//! What is known of a commit that a merge was made on.

use workforce_git::{CommitId, MergeOutcome, Repository, Worktree};

use crate::support::{World, commit_id, committed, git, message, write};

#[tokio::test]
async fn merges_as_git_makes_them_add_nothing_unknown() {
    for format in ["sha1", "sha256"] {
        let world = World::with_format(format).await;
        let (repository, worktree) = (world.open().await, world.worktree().await);
        let work = work(&worktree).await;
        let only = async |head: &CommitId, merged: &[CommitId]| {
            adds_merges_only(&repository, &work, head, merged).await
        };
        assert!(only(&work, &[]).await);

        let first = world.move_main("README.md", "one\n");
        let merge = merged(&worktree, &first).await;
        assert!(only(&merge, std::slice::from_ref(&first)).await);
        let second = world.move_main("more.md", "two\n");
        let merge = merged(&worktree, &second).await;
        assert!(only(&merge, std::slice::from_ref(&second)).await);
        // What was merged must be known too.
        assert!(!only(&merge, &[first]).await);
        assert!(!only(&merge, &[]).await);
    }
}

#[tokio::test]
async fn whatever_an_agent_writes_on_top_is_unknown() {
    let world = World::new().await;
    let (repository, worktree) = (world.open().await, world.worktree().await);
    let path = worktree.path().to_owned();
    let start = world.main();
    let work = work(&worktree).await;
    let base = world.move_main("README.md", "theirs\n");
    let knows = [base.clone()];
    let unknown = async |what: &str| {
        let head = worktree.head().unwrap();
        let only = adds_merges_only(&repository, &work, &head, &knows).await;
        assert!(!only, "{what}");
        git(&path, &["reset", "-q", "--hard", work.as_str()]);
    };

    write(&path, "own.txt", "own\n");
    git(&path, &["add", "."]);
    git(&path, &["commit", "-q", "-m", "own"]);
    unknown("a commit").await;

    git(&path, &["merge", "-q", "--no-commit", base.as_str()]);
    write(&path, "own.txt", "own\n");
    git(&path, &["add", "."]);
    git(&path, &["commit", "-q", "-m", "Merge main"]);
    unknown("a merge with a file of its own").await;

    git(&path, &["merge", "-q", "-s", "ours", base.as_str()]);
    unknown("a merge that takes nothing").await;

    git(&path, &["checkout", "-q", "--detach", start.as_str()]);
    write(&path, "aside.txt", "aside\n");
    git(&path, &["add", "."]);
    git(&path, &["commit", "-q", "-m", "aside"]);
    let aside = git(&path, &["rev-parse", "HEAD"]);
    git(&path, &["checkout", "-q", "feature/one"]);
    git(&path, &["merge", "-q", "--no-ff", &aside]);
    unknown("a merge of something else").await;

    git(&path, &["reset", "-q", "--hard", start.as_str()]);
    unknown("what was there before").await;
    git(&path, &["reset", "-q", "--hard", base.as_str()]);
    unknown("the base branch alone").await;

    let gone = commit_id(&"1".repeat(40));
    let only = adds_merges_only(&repository, &gone, &work, &knows).await;
    assert!(!only, "a commit that is not there");
}

async fn work(worktree: &Worktree) -> CommitId {
    write(worktree.path(), "work.txt", "work\n");
    committed(worktree.commit(&message("Work")).await.unwrap())
}

async fn merged(worktree: &Worktree, commit: &CommitId) -> CommitId {
    match worktree.merge(commit, &message("Merge")).await.unwrap() {
        MergeOutcome::Merged(merge) => merge,
        other => panic!("{other:?}"),
    }
}

async fn adds_merges_only(
    repository: &Repository,
    known: &CommitId,
    head: &CommitId,
    merged: &[CommitId],
) -> bool {
    let only = repository.adds_merges_only(known, head, merged);
    only.await.unwrap()
}
