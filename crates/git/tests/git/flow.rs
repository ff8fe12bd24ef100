//! A ticket from its worktree to its push.

use std::fs;

use workforce_git::{
    CommitOutcome, DiffTo, GitError, MergeOutcome, PushOutcome, Rejection, Status,
};

use crate::support::{World, branch, commit_id, committed, git, message, write};

#[tokio::test]
async fn a_ticket_is_worked_on_merged_and_pushed() {
    for format in ["sha1", "sha256"] {
        let world = World::with_format(format).await;
        let worktree = world.worktree().await;
        let path = worktree.path().to_owned();
        assert_eq!(git(&path, &["status", "--porcelain"]), "");
        assert_eq!(git(&path, &["branch", "--show-current"]), "feature/one");

        write(&path, "src/a.txt", "one\n2\nthree\n");
        write(&path, "new.txt", "new\n");
        write(&path, "target/x", "ignored");
        fs::remove_file(path.join("src/b.txt")).unwrap();
        let changes = worktree.changes(2).await.unwrap();
        assert_eq!(changes.total, 3);
        assert_eq!(changes.first.len(), 2);
        assert_eq!(changes.first[0].path, "new.txt");
        assert_eq!(changes.first[0].status, Status::Added);

        let first = committed(worktree.commit(&message("Work\n\nMore")).await.unwrap());
        assert_eq!(git(&path, &["status", "--porcelain"]), "");
        assert_eq!(git(&path, &["rev-parse", "HEAD"]), first.as_str());
        assert_eq!(
            git(
                &path,
                &["show", "--format=%an %ce%n%B", "--name-status", "HEAD"]
            ),
            "Agent server@example.com\nWork\n\nMore\n\n\nA\tnew.txt\nM\tsrc/a.txt\nD\tsrc/b.txt"
        );
        let again = worktree.commit(&message("Again")).await.unwrap();
        assert_eq!(again, CommitOutcome::Nothing(first.clone()));

        let base = world.move_main("README.md", "hello\nworld\n");
        let apart = worktree.ahead_behind(&base).await.unwrap();
        assert_eq!((apart.ahead, apart.behind), (1, 1));
        let merge = match worktree.merge(&base, &message("Merge")).await.unwrap() {
            MergeOutcome::Merged(merge) => merge,
            other => panic!("{other:?}"),
        };
        assert_eq!(git(&path, &["status", "--porcelain"]), "");
        assert_eq!(
            fs::read_to_string(path.join("README.md")).unwrap(),
            "hello\nworld\n"
        );
        assert_eq!(
            git(&path, &["rev-parse", "HEAD^1", "HEAD^2"]),
            format!("{first}\n{base}")
        );
        let outcome = worktree.merge(&base, &message("Merge")).await.unwrap();
        assert_eq!(outcome, MergeOutcome::UpToDate);

        write(&path, "more.txt", "uncommitted\n");
        let diff = worktree.diff(&base, DiffTo::Files, 10_000).await.unwrap();
        let names: Vec<_> = diff.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(names, ["more.txt", "new.txt", "src/a.txt", "src/b.txt"]);
        assert_eq!(diff.files[2].additions, Some(1));
        assert!(diff.patch.contains("+uncommitted") && !diff.is_truncated);
        let diff = worktree.diff(&base, DiffTo::Head, 20).await.unwrap();
        assert_eq!(
            (diff.files.len(), diff.patch.len(), diff.is_truncated),
            (3, 20, true)
        );
        fs::remove_file(path.join("more.txt")).unwrap();

        let subjects: Vec<_> = worktree.log(&base, 10).await.unwrap();
        let subjects: Vec<_> = subjects
            .iter()
            .map(|entry| entry.subject.as_str())
            .collect();
        assert_eq!(subjects, ["Merge", "Work"]);
        assert_eq!(worktree.last_commit().await.unwrap().author, "Agent");

        let remote = world.remote();
        assert_eq!(
            worktree.push(&remote, &merge).await.unwrap(),
            PushOutcome::Pushed
        );
        assert_eq!(
            worktree.push(&remote, &merge).await.unwrap(),
            PushOutcome::UpToDate
        );
        let there = world.git.remote_head(&remote, &branch()).await.unwrap();
        assert_eq!(there.as_ref(), Some(&merge));

        worktree.remove(&merge).await.unwrap();
        assert!(!path.exists());
        assert_eq!(
            git(&world.source(), &["worktree", "list"]).lines().count(),
            1
        );
        assert_eq!(
            git(&world.source(), &["rev-parse", "feature/one"]),
            merge.as_str()
        );
    }
}

#[tokio::test]
async fn a_conflict_changes_nothing() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    write(worktree.path(), "src/a.txt", "agent\n");
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    let base = world.move_main("src/a.txt", "main\n");
    let outcome = worktree.merge(&base, &message("Merge")).await.unwrap();
    assert_eq!(
        outcome,
        MergeOutcome::Conflict(vec!["src/a.txt".to_owned()])
    );
    assert_eq!(worktree.head().unwrap(), head);
    assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "");
    assert_eq!(
        fs::read_to_string(worktree.path().join("src/a.txt")).unwrap(),
        "agent\n"
    );
}

#[tokio::test]
async fn a_merge_wants_everything_committed_and_overwrites_nothing_ignored() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let base = world.move_main("c.txt", "c\n");
    write(worktree.path(), "src/a.txt", "agent\n");
    let refused = worktree.merge(&base, &message("Merge")).await.unwrap_err();
    assert!(
        matches!(refused, GitError::Uncommitted { total: 1, .. }),
        "{refused}"
    );
    worktree.commit(&message("Work")).await.unwrap();

    git(&world.source(), &["rm", "-q", ".gitignore"]);
    let base = world.move_main("x.log", "main\n");
    write(worktree.path(), "x.log", "agent\n");
    let refused = worktree.merge(&base, &message("Merge")).await.unwrap_err();
    assert!(matches!(refused, GitError::InTheWay { .. }), "{refused}");
    assert_eq!(
        fs::read_to_string(worktree.path().join("x.log")).unwrap(),
        "agent\n"
    );
}

#[tokio::test]
async fn a_remote_that_moved_is_not_overwritten() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    write(worktree.path(), "x", "x");
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    let source = world.source();
    git(
        &source,
        &["push", "-q", "origin", "main:refs/heads/feature/one"],
    );
    let other = world.move_main("y", "y");
    git(
        &source,
        &["push", "-q", "origin", "main:refs/heads/feature/one"],
    );
    let outcome = worktree.push(&world.remote(), &head).await.unwrap();
    assert_eq!(outcome, PushOutcome::Rejected(Rejection::NonFastForward));
    let there = world
        .git
        .remote_head(&world.remote(), &branch())
        .await
        .unwrap();
    assert_eq!(there, Some(other));
}

#[tokio::test]
async fn a_fetch_brings_commits_and_moves_no_ref() {
    let world = World::new().await;
    let repository = world.open().await;
    let clone = world.path("clone");
    git(&world.path(""), &["clone", "-q", "remote.git", "clone"]);
    write(&clone, "z", "z");
    git(&clone, &["add", "."]);
    git(&clone, &["commit", "-q", "-m", "elsewhere"]);
    git(&clone, &["push", "-q", "origin", "main"]);
    let before = git(&world.source(), &["for-each-ref"]);
    let main = workforce_git::Branch::new("main").unwrap();
    let head = repository
        .fetch(&world.remote(), &main)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(head, commit_id(&git(&clone, &["rev-parse", "HEAD"])));
    assert!(repository.has_commit(&head).await.unwrap());
    assert!(!world.source().join(".git/FETCH_HEAD").exists());
    assert_eq!(git(&world.source(), &["for-each-ref"]), before);
    git(&world.source(), &["fsck", "--strict"]);
    assert_eq!(
        repository.fetch(&world.remote(), &branch()).await.unwrap(),
        None
    );
    let default = world.git.default_branch(&world.remote()).await.unwrap();
    assert_eq!(default, Some(main));
}
