//! Refs, objects and bits that an agent bends, and states that it leaves.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use workforce_git::{Branch, GitError, MergeOutcome, Operation, PushOutcome};

use crate::support::{World, branch, commit_id, committed, git, message, write};

#[tokio::test]
async fn a_ref_that_leads_to_another_branch_is_not_followed() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let main = world.main();
    git(
        &world.source(),
        &["symbolic-ref", "refs/heads/feature/one", "refs/heads/main"],
    );
    write(worktree.path(), "x", "x");
    let refused = worktree.commit(&message("Work")).await.unwrap_err();
    assert!(matches!(refused, GitError::Tampered { .. }), "{refused}");
    assert_eq!(world.main(), main);

    let heads = world.source().join(".git/refs/heads");
    fs::remove_file(heads.join("feature/one")).unwrap();
    symlink("../main", heads.join("feature/one")).unwrap();
    let refused = worktree.commit(&message("Work")).await.unwrap_err();
    assert!(matches!(refused, GitError::Tampered { .. }), "{refused}");
    assert_eq!(world.main(), main);
}

#[tokio::test]
async fn a_folder_of_refs_that_is_a_link_is_not_entered() {
    let world = World::new().await;
    let elsewhere = world.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, world.source().join(".git/refs/heads/feature")).unwrap();
    let repository = world.open().await;
    let added = repository
        .add_worktree(Path::new("one"), &branch(), &world.main())
        .await;
    assert!(
        matches!(added, Err(GitError::RefConflict { .. })),
        "{added:?}"
    );
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[tokio::test]
async fn a_log_of_refs_that_is_a_link_is_not_written() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let victim = world.path("victim");
    fs::write(&victim, "precious\n").unwrap();
    let logs = world.source().join(".git/logs/refs/heads/feature");
    fs::create_dir_all(&logs).unwrap();
    let _ = fs::remove_file(logs.join("one"));
    symlink(&victim, logs.join("one")).unwrap();
    let head = world.source().join(".git/worktrees/one/logs");
    fs::create_dir_all(&head).unwrap();
    let _ = fs::remove_file(head.join("HEAD"));
    symlink(&victim, head.join("HEAD")).unwrap();
    write(worktree.path(), "x", "x");
    committed(worktree.commit(&message("Work")).await.unwrap());
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious\n");
}

#[tokio::test]
async fn replaced_and_grafted_history_is_not_believed() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    write(worktree.path(), "x", "x");
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    let main = world.main();
    let source = world.source();
    let base = world.move_main("y", "y");
    // As if the branch had the base already; and as if it had no parent.
    let tree = git(&source, &["rev-parse", &format!("{head}^{{tree}}")]);
    let args = ["commit-tree", &tree, "-p", base.as_str(), "-m", "fake"];
    let fake = git(&source, &args);
    git(&source, &["replace", head.as_str(), &fake]);
    fs::write(source.join(".git/info/grafts"), format!("{head} {base}\n")).unwrap();
    let repository = world.open().await;
    assert!(!repository.is_ancestor(&base, &head).await.unwrap());
    let refused = worktree.remove(&base).await.unwrap_err();
    assert!(matches!(refused, GitError::Unpushed), "{refused}");
    let worktree = world.worktree().await;
    assert_eq!(worktree.log(&main, 10).await.unwrap().len(), 1);
    let outcome = worktree.merge(&base, &message("Merge")).await.unwrap();
    assert!(matches!(outcome, MergeOutcome::Merged(_)), "{outcome:?}");
}

#[tokio::test]
async fn bits_of_the_index_hide_nothing() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let path = worktree.path();
    git(path, &["update-index", "--skip-worktree", "README.md"]);
    git(path, &["update-index", "--assume-unchanged", "src/a.txt"]);
    write(path, "README.md", "hidden\n");
    write(path, "src/a.txt", "hidden\n");
    assert_eq!(git(path, &["status", "--porcelain"]), "");
    assert_eq!(worktree.changes(10).await.unwrap().total, 2);
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    let name = format!("{head}:src/a.txt");
    assert_eq!(git(path, &["show", &name]), "hidden");
}

#[tokio::test]
async fn operations_and_other_branches_are_told() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let path = worktree.path();
    git(path, &["checkout", "-q", "-b", "feature/other"]);
    let refused = worktree.commit(&message("Work")).await.unwrap_err();
    let GitError::OffBranch { found } = refused else {
        panic!("{refused}");
    };
    assert_eq!(found.as_deref(), Some("feature/other"));
    git(path, &["checkout", "-q", "--detach"]);
    let refused = worktree.commit(&message("Work")).await.unwrap_err();
    assert!(matches!(refused, GitError::OffBranch { found: None }));

    git(path, &["checkout", "-q", "feature/one"]);
    let base = world.move_main("src/a.txt", "main\n");
    git(
        path,
        &["merge", "-q", "--no-ff", "--no-commit", base.as_str()],
    );
    let refused = worktree.commit(&message("Work")).await.unwrap_err();
    let GitError::OperationInProgress { operation } = refused else {
        panic!("{refused}");
    };
    assert_eq!(operation, Operation::Merge);
}

#[tokio::test]
async fn commits_of_the_agent_are_built_on() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    write(worktree.path(), "x", "x");
    git(worktree.path(), &["add", "x"]);
    git(worktree.path(), &["commit", "-q", "-m", "by the agent"]);
    git(&world.source(), &["pack-refs", "--all"]);
    write(worktree.path(), "y", "y");
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    assert_eq!(worktree.log(&world.main(), 9).await.unwrap().len(), 2);
    assert_eq!(git(worktree.path(), &["rev-parse", "HEAD"]), head.as_str());
}

#[tokio::test]
async fn objects_that_are_links_are_not_read() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let other = World::new().await;
    let secret = other.move_main("secret", "secret\n");
    let (theirs, ours) = (
        other.source().join(".git/objects"),
        world.source().join(".git/objects"),
    );
    let (folder, file) = secret.as_str().split_at(2);
    let _ = fs::create_dir(ours.join(folder));
    symlink(theirs.join(folder).join(file), ours.join(folder).join(file)).unwrap();
    let pushed = worktree.push(&world.remote(), &secret).await;
    assert!(
        matches!(pushed, Err(GitError::Tampered { .. })),
        "{pushed:?}"
    );
    fs::remove_file(ours.join(folder).join(file)).unwrap();

    git(&other.source(), &["repack", "-q", "-a", "-d"]);
    let _ = fs::remove_dir_all(ours.join("pack"));
    symlink(theirs.join("pack"), ours.join("pack")).unwrap();
    let pushed = worktree.push(&world.remote(), &secret).await;
    assert!(
        matches!(pushed, Err(GitError::Tampered { .. })),
        "{pushed:?}"
    );
}

#[tokio::test]
async fn an_address_that_was_read_is_kept() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let source = world.source();
    let remote = world.path("remote.git").display().to_string();
    let evil = world.path("evil.git").display().to_string();
    git(&world.path(""), &["init", "-q", "--bare", "evil.git"]);
    git(&source, &["config", "url.evil:.insteadOf", "short:"]);
    git(&source, &["remote", "set-url", "origin", "short:a/b"]);
    git(&source, &["config", "url.push:.pushInsteadOf", "short:a"]);
    let found = world
        .open()
        .await
        .configured_remote("origin")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (found.fetch.as_str(), found.push.as_str()),
        ("evil:a/b", "push:/b")
    );
    git(&source, &["remote", "set-url", "origin", "../remote.git"]);
    let found = world
        .open()
        .await
        .configured_remote("origin")
        .await
        .unwrap()
        .unwrap();
    assert_eq!((found.fetch, found.push), (remote.clone(), remote.clone()));

    // From now on the agent changes whatever names an address.
    for (key, value) in [
        ("remote.origin.url", evil.as_str()),
        ("remote.origin.pushurl", &evil),
        (&format!("url.{evil}.insteadOf"), "file://"),
        (&format!("url.{evil}.pushInsteadOf"), "file://"),
        (&format!("url.{evil}.insteadOf"), &remote),
    ] {
        git(&source, &["config", "--add", key, value]);
    }
    write(worktree.path(), "x", "x");
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    let pushed = worktree.push(&world.remote(), &head).await.unwrap();
    assert_eq!(pushed, PushOutcome::Pushed);
    assert_eq!(git(Path::new(&evil), &["for-each-ref"]), "");
}

#[tokio::test]
async fn another_working_folder_in_the_settings_is_not_used() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let elsewhere = world.path("elsewhere");
    write(&elsewhere, "precious", "precious");
    git(
        &world.source(),
        &["config", "core.worktree", elsewhere.to_str().unwrap()],
    );
    let repository = world.open().await;
    assert_eq!(repository.work_dir(), Some(world.source().as_path()));
    assert_eq!(repository.source_state().await.unwrap().total, 0);
    write(worktree.path(), "x", "x");
    committed(worktree.commit(&message("Work")).await.unwrap());
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);
}

#[tokio::test]
async fn a_branch_that_looks_like_an_option_is_only_a_name() {
    for name in ["-x", "--upload-pack=touch", "a..b", "HEAD", "@"] {
        assert!(Branch::new(name).is_err(), "{name}");
    }
    let world = World::new().await;
    let repository = world.open().await;
    let odd = Branch::new("feature/--output=x").unwrap();
    let worktree = repository
        .add_worktree(Path::new("--odd"), &odd, &world.main())
        .await
        .unwrap();
    write(worktree.path(), "--all", "x");
    write(worktree.path(), ":(glob)*", "x");
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    worktree.push(&world.remote(), &head).await.unwrap();
    let there = world.git.remote_head(&world.remote(), &odd).await.unwrap();
    assert_eq!(there, Some(head));
}

#[tokio::test]
async fn a_branch_that_is_in_use_is_told() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let repository = world.open().await;
    let added = repository
        .add_worktree(Path::new("two"), &branch(), &world.main())
        .await;
    let Err(GitError::BranchInUse { path }) = added else {
        panic!("{added:?}");
    };
    assert_eq!(path, worktree.path());
    let main = Branch::new("main").unwrap();
    let added = repository
        .add_worktree(Path::new("two"), &main, &world.main())
        .await;
    assert!(matches!(added, Err(GitError::BranchInUse { path }) if path == world.source()));
    let missing = commit_id(&"1".repeat(40));
    let two = Branch::new("feature/two").unwrap();
    let added = repository
        .add_worktree(Path::new("two"), &two, &missing)
        .await;
    assert!(matches!(added, Err(GitError::NoCommit { .. })), "{added:?}");
    let inner = Branch::new("feature/one/two").unwrap();
    git(&world.source(), &["pack-refs", "--all"]);
    let added = repository
        .add_worktree(Path::new("two"), &inner, &world.main())
        .await;
    assert!(
        matches!(added, Err(GitError::NameInTheWay { .. })),
        "{added:?}"
    );
}
