//! Files that git would read whole, wait for, or find where they are not the agent's.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use workforce_git::{
    CommitId, CommitOutcome, DiffTo, GitError, MAX_CHANGED, MAX_FILE, Reason, Refusal, Worktree,
};

use crate::support::{World, committed, git, message, write};

fn pipe(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let _ = fs::remove_file(path);
    mkfifo(path, Mode::S_IRWXU).unwrap();
}

fn sparse(path: &Path, size: u64) {
    File::create(path).unwrap().set_len(size).unwrap();
}

async fn refused(worktree: &Worktree) -> Vec<Refusal> {
    match worktree.commit(&message("Work")).await.unwrap() {
        CommitOutcome::Refused(refused) => refused,
        other => panic!("{other:?}"),
    }
}

fn named(refused: &[Refusal]) -> Vec<(&str, Reason)> {
    refused
        .iter()
        .map(|r| (&*r.path, r.reason.clone()))
        .collect()
}

#[tokio::test]
async fn files_that_git_reads_whole_are_small() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let base = worktree.head().unwrap();
    fs::create_dir(worktree.path().join("new")).unwrap();
    for name in [
        ".gitignore",
        "new/.gitignore",
        "src/.gitattributes",
        ".gitmodules",
    ] {
        let path = worktree.path().join(name);
        let before = fs::read(&path).ok();
        sparse(&path, 2 << 30);
        let refused = refused(&worktree).await;
        assert_eq!(named(&refused), [(name, Reason::TooLargeForGit)]);
        let diff = worktree.diff(&base, DiffTo::Files, 1000).await.unwrap();
        assert_eq!(named(&diff.refused), [(name, Reason::TooLargeForGit)]);
        assert_eq!(diff.files, []);
        fs::remove_file(&path).unwrap();
        if let Some(before) = before {
            fs::write(&path, before).unwrap();
        }
    }
    // Many of them are as large together.
    for n in 0..20 {
        let folder = worktree.path().join(format!("new/{n}"));
        fs::create_dir(&folder).unwrap();
        sparse(&folder.join(".gitignore"), 1 << 20);
    }
    let refused = refused(&worktree).await;
    let is_too_large = |refused: &Refusal| refused.reason == Reason::TooLargeForGit;
    assert!(refused.iter().all(is_too_large), "{refused:?}");
    assert!(!refused.is_empty());
}

#[tokio::test]
async fn what_is_ignored_refuses_nothing() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let path = worktree.path();
    sparse(&path.join("large.log"), MAX_FILE + 1);
    fs::create_dir(path.join("target")).unwrap();
    sparse(&path.join("target/.gitignore"), 2 << 30);
    pipe(&path.join("target/.gitattributes"));
    pipe(&path.join("target/nested/.git/HEAD"));
    pipe(&path.join("target/pipe"));
    write(path, "target/id_rsa", "x");
    let outcome = worktree.commit(&message("Work")).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Nothing(_)), "{outcome:?}");
    assert_eq!(worktree.changes(5).await.unwrap().total, 0);
}

#[tokio::test]
async fn patterns_count_as_git_reads_them() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let path = worktree.path();
    write(
        path,
        ".gitignore",
        "*.log\nbuild/\n/top\n!kept.log\nwhole/*\n!whole/in\n",
    );
    write(path, "deep/.gitignore", "*\n!*/\n!*.rs\n");
    let files = [
        "a.log",
        "kept.log",
        "build",
        "x/build/y",
        "x/top",
        "top",
        "whole/out",
        "whole/in/a",
        "deep/a/b/c.rs",
        "deep/a/b/c.txt",
        "-dash",
        ":(top)colon",
        "tab\tand\nline",
        "ünï/ç",
    ];
    for name in files {
        let is_folder = files.iter().any(|f| f.starts_with(&format!("{name}/")));
        assert!(!is_folder);
        write(path, name, "x");
    }
    symlink("/etc", path.join("link")).unwrap();
    git(path, &["add", "-A"]);
    let expected = git(path, &["diff", "--cached", "--name-only", "-z"]);
    git(path, &["reset", "-q"]);
    committed(worktree.commit(&message("Work")).await.unwrap());
    let found = git(path, &["diff", "HEAD~", "--name-only", "-z"]);
    assert_eq!(found, expected);
    assert!(found.contains("whole/in/a"), "{found}");
    assert_eq!(git(path, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn repositories_in_the_worktree_are_not_entered() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let path = worktree.path();
    pipe(&path.join("folder/.git/HEAD"));
    write(path, "folder/inner/x", "x");
    write(path, "file/.git", "gitdir: elsewhere\n");
    fs::create_dir(path.join("link")).unwrap();
    symlink("/nowhere", path.join("link/.git")).unwrap();
    pipe(&path.join("pipe/.git"));
    let refused = refused(&worktree).await;
    let nested = |path| (path, Reason::NestedRepository);
    assert_eq!(
        named(&refused),
        [
            nested("file/"),
            nested("folder/"),
            nested("link/"),
            ("pipe/.git", Reason::SpecialFile)
        ]
    );
}

#[tokio::test]
async fn changes_have_a_size_together() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let path = worktree.path();
    let count = MAX_CHANGED / MAX_FILE + 3;
    for n in 0..count {
        sparse(&path.join(format!("large-{n:02}")), MAX_FILE);
    }
    write(path, "small", "x");
    let refused = refused(&worktree).await;
    let expected = [
        ("large-20", Reason::TooMuch),
        ("large-21", Reason::TooMuch),
        ("large-22", Reason::TooMuch),
    ];
    assert_eq!(named(&refused), expected);
}

#[tokio::test]
async fn private_keys_are_found_behind_other_text() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let path = worktree.path();
    let long = "some text\n".repeat(100_000);
    let key = format!("{long}-----BEGIN PRIVATE KEY-----\n");
    write(path, "a.txt", &key);
    write(path, "b.txt", &long);
    let refused = refused(&worktree).await;
    assert_eq!(named(&refused), [("a.txt", Reason::PrivateKey)]);
    git(path, &["add", "."]);
    git(path, &["commit", "-q", "-m", "by the agent"]);
    let head = worktree.head().unwrap();
    let refused = worktree.refused_in_commits(&[world.main()], &head).await;
    let refused = refused.unwrap();
    assert_eq!(named(&refused), [("a.txt", Reason::PrivateKey)]);
}

/// Nobody is told which files lie in a folder that a link leads to for moments.
#[tokio::test(flavor = "multi_thread")]
async fn names_behind_links_are_not_told() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let elsewhere = world.path("elsewhere");
    for n in 0..50 {
        write(&elsewhere, &format!("secret-{n}"), "x");
    }
    let (folder, link) = (worktree.path().join("x"), worktree.path().join("y.log"));
    write(&folder, "own", "x");
    symlink(&elsewhere, &link).unwrap();
    let is_done = Arc::new(AtomicBool::new(false));
    let exchange = {
        let is_done = is_done.clone();
        move || {
            let dir = File::open("/").unwrap();
            while !is_done.load(Ordering::Relaxed) {
                let flags = nix::fcntl::RenameFlags::RENAME_EXCHANGE;
                nix::fcntl::renameat2(&dir, &folder, &dir, &link, flags).unwrap();
            }
        }
    };
    let exchanging = std::thread::spawn(exchange);
    for _ in 0..40 {
        let Ok(changes) = worktree.changes(1000).await else {
            continue;
        };
        let of_others = changes.first.iter().find(|c| c.path.contains("secret"));
        assert_eq!(of_others, None);
        let of_others = changes.refused.iter().find(|c| c.path.contains("secret"));
        assert_eq!(of_others, None);
    }
    is_done.store(true, Ordering::Relaxed);
    exchanging.join().unwrap();
}

/// Does all that a server does, and tells what failed.
async fn at_work(world: &World, worktree: &Worktree, base: &CommitId) -> Vec<GitError> {
    let mut failed = Vec::new();
    failed.extend(worktree.changes(5).await.err());
    failed.extend(worktree.commit(&message("Work")).await.err());
    failed.extend(worktree.diff(base, DiffTo::Files, 1000).await.err());
    failed.extend(worktree.refused_in_commits(&[], base).await.err());
    failed.extend(worktree.push(&world.remote(), base).await.err());
    failed.extend(worktree.merge(base, &message("Merge")).await.err());
    let repository = match world.git.open(&world.source()).await {
        Ok(repository) => repository,
        Err(error) => {
            failed.push(error);
            return failed;
        }
    };
    failed.extend(repository.source_state().await.err());
    failed.extend(repository.configured_remote("origin").await.err());
    failed.extend(
        repository
            .fetch(&world.remote(), worktree.branch())
            .await
            .err(),
    );
    let opened = repository.open_worktree(worktree.path(), worktree.branch());
    failed.extend(opened.await.err());
    failed
}

#[tokio::test]
async fn nobody_waits_for_a_pipe() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    write(worktree.path(), "x", "x");
    let main = world.main();
    let loose = format!(".git/objects/{}", main.as_str().split_at(2).0);
    let loose = format!("{loose}/{}", main.as_str().split_at(2).1);
    git(&world.source(), &["config", "include.path", "included"]);
    let pipes = [
        ".git/config",
        ".git/included",
        ".git/HEAD",
        ".git/index",
        ".git/sharedindex.x",
        ".git/packed-refs",
        ".git/shallow",
        ".git/commondir",
        ".git/info/exclude",
        ".git/info/attributes",
        ".git/info/grafts",
        ".git/objects/info/alternates",
        ".git/objects/info/commit-graph",
        ".git/objects/pack/pack-1.idx",
        ".git/objects/pack/pack-1.pack",
        ".git/refs/heads/main",
        ".git/refs/heads/feature/one",
        ".git/refs/heads/other",
        ".git/logs/HEAD",
        ".git/worktrees/one/HEAD",
        ".git/worktrees/one/gitdir",
        ".git/worktrees/one/commondir",
        ".git/worktrees/one/index",
        ".git/worktrees/two",
        ".git/MERGE_HEAD",
        ".gitattributes",
        "src/.gitattributes",
        ".gitignore",
        ".gitmodules",
        &loose,
        "../managed/tickets/one/.git",
        "../managed/tickets/one/sub/.git/HEAD",
    ];
    for name in pipes {
        let path = world.source().join(name);
        let before = fs::read(&path).ok();
        pipe(&path);
        let work = tokio::time::timeout(Duration::from_secs(50), at_work(&world, &worktree, &main));
        let failed = work.await.unwrap_or_else(|_| panic!("waited for {name}"));
        let waited = failed.iter().any(|f| matches!(f, GitError::Timeout { .. }));
        assert!(!waited, "waited for {name}");
        let _ = fs::remove_file(&path);
        if let Some(before) = before {
            fs::write(&path, before).unwrap();
        }
    }
}

#[tokio::test]
async fn submodules_of_the_source_are_not_looked_into() {
    let world = World::new().await;
    let source = world.source();
    let entry = format!("160000,{},sub", "1".repeat(40));
    git(&source, &["update-index", "--add", "--cacheinfo", &entry]);
    world.move_main("x", "x");
    pipe(&source.join("sub/.git/HEAD"));
    write(&source, "README.md", "changed");
    let state = world.open().await.source_state().await.unwrap();
    assert_eq!(state.changed, ["README.md"]);
}

#[tokio::test]
async fn of_many_new_files_the_first_are_compared() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let path = worktree.path();
    fs::create_dir(path.join("many")).unwrap();
    for n in 0..5_010 {
        fs::write(path.join(format!("many/{n:05}")), "one line\n").unwrap();
    }
    write(path, "src/a.txt", "changed\n");
    fs::remove_file(path.join("src/b.txt")).unwrap();
    let base = world.main();
    let diff = worktree.diff(&base, DiffTo::Files, 10 << 20).await.unwrap();
    assert!(diff.is_truncated);
    assert_eq!(diff.files.len(), 5_012);
    let compared = |path: &str| {
        let file = diff.files.iter().find(|file| file.path == path).unwrap();
        file.additions
    };
    assert_eq!(compared("many/04999"), Some(1));
    assert_eq!(compared("many/05000"), None);
    assert_eq!(compared("src/a.txt"), None);
    assert_eq!(compared("src/b.txt"), Some(0));
    assert!(diff.patch.contains("many/04999"));
    assert!(!diff.patch.contains("many/05000"));
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    let names = git(path, &["diff", "--name-only", base.as_str(), head.as_str()]);
    assert_eq!(names.lines().count(), 5_012);
}
