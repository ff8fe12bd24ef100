//! Links and other files in the place of those that the server writes or reads.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use workforce_git::{Branch, CommitOutcome, DiffTo, Git, GitError, MergeOutcome, Reason, Settings};

use crate::support::{World, branch, committed, git, message, write};

#[tokio::test]
async fn an_index_that_is_a_link_is_replaced() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let victim = world.path("victim");
    fs::write(&victim, "precious").unwrap();
    let index = world.source().join(".git/worktrees/one/index");
    fs::remove_file(&index).unwrap();
    symlink(&victim, &index).unwrap();
    write(worktree.path(), "x", "x");
    committed(worktree.commit(&message("Work")).await.unwrap());
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    assert!(fs::symlink_metadata(&index).unwrap().is_file());
    assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_folder_about_the_worktree_that_is_a_link_is_not_entered() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let admin = world.source().join(".git/worktrees/one");
    let elsewhere = world.path("elsewhere");
    fs::rename(&admin, &elsewhere).unwrap();
    symlink(&elsewhere, &admin).unwrap();
    fs::remove_file(elsewhere.join("index")).unwrap();
    write(worktree.path(), "x", "x");
    let refused = worktree.commit(&message("Work")).await.unwrap_err();
    assert!(matches!(refused, GitError::Tampered { .. }), "{refused}");
    assert!(!elsewhere.join("index").exists());

    let all = world.source().join(".git/worktrees");
    fs::remove_file(&admin).unwrap();
    fs::rename(&elsewhere, &admin).unwrap();
    fs::rename(&all, world.path("all")).unwrap();
    symlink(world.path("all"), &all).unwrap();
    let refused = worktree.commit(&message("Work")).await.unwrap_err();
    assert!(matches!(refused, GitError::Tampered { .. }), "{refused}");
    let before = fs::read_dir(world.path("all")).unwrap().count();
    let two = Branch::new("feature/two").unwrap();
    let repository = world.open().await;
    let added = repository
        .add_worktree(Path::new("two"), &two, &world.main())
        .await;
    assert!(added.is_err());
    assert_eq!(fs::read_dir(world.path("all")).unwrap().count(), before);
}

#[tokio::test]
async fn a_git_file_that_leads_elsewhere_is_not_followed() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let other = World::new().await;
    let theirs = other.worktree().await;
    let link = fs::read(theirs.path().join(".git")).unwrap();
    fs::write(worktree.path().join(".git"), link).unwrap();
    write(worktree.path(), "x", "x");
    let before = git(&other.source(), &["for-each-ref"]);
    let refused = worktree.commit(&message("Work")).await.unwrap_err();
    assert!(matches!(refused, GitError::Tampered { .. }), "{refused}");
    assert_eq!(git(&other.source(), &["for-each-ref"]), before);
    let repository = world.open().await;
    let found = repository
        .open_worktree(worktree.path(), &branch())
        .await
        .unwrap();
    assert!(found.is_none());

    fs::remove_file(worktree.path().join(".git")).unwrap();
    symlink(theirs.path().join(".git"), worktree.path().join(".git")).unwrap();
    let refused = worktree.commit(&message("Work")).await.unwrap_err();
    assert!(matches!(refused, GitError::Tampered { .. }), "{refused}");
}

#[tokio::test]
async fn a_worktree_that_became_a_link_is_not_entered() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let elsewhere = world.path("elsewhere");
    fs::rename(worktree.path(), &elsewhere).unwrap();
    symlink(&elsewhere, worktree.path()).unwrap();
    let refused = worktree.commit(&message("Work")).await.unwrap_err();
    assert!(matches!(refused, GitError::Tampered { .. }), "{refused}");
    // Made again beside it; what it was is kept.
    fs::remove_dir_all(&elsewhere).unwrap();
    let again = world.worktree().await;
    assert!(fs::symlink_metadata(again.path()).unwrap().is_dir());
    let aside = again.path().with_file_name("one.quarantine-1");
    assert!(fs::symlink_metadata(aside).unwrap().is_symlink());
}

#[tokio::test]
async fn no_worktree_is_made_through_a_link() {
    let world = World::new().await;
    let elsewhere = world.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, world.path("managed/tickets")).unwrap();
    let repository = world.open().await;
    let added = repository
        .add_worktree(Path::new("tickets/one"), &branch(), &world.main())
        .await
        .unwrap_err();
    assert!(matches!(added, GitError::Tampered { .. }), "{added}");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    for path in ["../x", "/tmp/x", "a/../../x", "", ".hidden"] {
        let added = repository
            .add_worktree(Path::new(path), &branch(), &world.main())
            .await;
        assert!(matches!(added, Err(GitError::OutsideRoot { .. })), "{path}");
    }
}

#[tokio::test]
async fn a_merge_does_not_write_through_a_linked_folder() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let elsewhere = world.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    write(&elsewhere, "a.txt", "one\ntwo\nthree\n");
    write(&elsewhere, "b.txt", "b\n");
    let base = world.move_main("src/a.txt", "main\n");
    fs::remove_dir_all(worktree.path().join("src")).unwrap();
    symlink(&elsewhere, worktree.path().join("src")).unwrap();
    // Through the link everything looks as if it were still there.
    let refused = worktree.merge(&base, &message("Merge")).await.unwrap_err();
    assert!(matches!(refused, GitError::Uncommitted { .. }), "{refused}");

    // Committed, it is a link in the tree, in the place of the folder.
    committed(worktree.commit(&message("Work")).await.unwrap());
    let listed = git(worktree.path(), &["ls-tree", "-r", "--name-only", "HEAD"]);
    assert_eq!(listed, ".gitignore\nREADME.md\nsrc");
    let outcome = worktree.merge(&base, &message("Merge")).await.unwrap();
    assert!(matches!(outcome, MergeOutcome::Conflict(_)), "{outcome:?}");
    assert_eq!(
        fs::read_to_string(elsewhere.join("a.txt")).unwrap(),
        "one\ntwo\nthree\n"
    );
}

#[tokio::test]
async fn a_merge_does_not_write_through_an_ignored_link() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let elsewhere = world.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, worktree.path().join("x.log")).unwrap();
    write(&world.source(), ".gitignore", "target/\n");
    let base = world.move_main("x.log/file", "main\n");
    let outcome = worktree.merge(&base, &message("Merge")).await;
    assert!(
        matches!(outcome, Err(GitError::InTheWay { .. })),
        "{outcome:?}"
    );
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[tokio::test]
async fn pipes_do_not_stop_the_server() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let pipe = |name: &str| {
        let path = worktree.path().join(name);
        let _ = fs::remove_file(&path);
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    };
    write(worktree.path(), "new/x", "x");
    for name in [
        "pipe",
        "README.md",
        "src/.gitattributes",
        ".gitmodules",
        "new/.gitignore",
    ] {
        pipe(name);
        let outcome = worktree.commit(&message("Work")).await.unwrap();
        let CommitOutcome::Refused(refused) = outcome else {
            panic!("{name}: {outcome:?}");
        };
        let found = refused.iter().find(|refusal| refusal.path == name).unwrap();
        assert_eq!(found.reason, Reason::SpecialFile);
        worktree.changes(5).await.unwrap();
    }
    for name in ["src/.gitattributes", ".gitmodules", "new/.gitignore"] {
        fs::remove_file(worktree.path().join(name)).unwrap();
    }
    // Nor those in the place of what the repository keeps.
    let common = world.source().join(".git");
    for name in ["info/exclude", "shallow", "packed-refs", "HEAD"] {
        let path = common.join(name);
        let _ = fs::remove_file(&path);
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let _ = worktree.changes(5).await;
        fs::remove_file(&path).unwrap();
    }
}

/// A file that is looked at may be a link when it is opened, and so may a folder above it. What git
/// opens by its path must lie where nobody else writes.
#[tokio::test]
async fn git_reads_and_writes_files_where_nobody_else_does() {
    let mut world = World::new().await;
    let (program, log) = (world.path("git.sh"), world.path("log"));
    let script = format!(
        "#!/bin/sh\necho \"$GIT_WORK_TREE $*\" >> '{}'\nexec git \"$@\"\n",
        log.display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let scratch = world.path("scratch");
    let settings = Settings {
        program,
        ..Settings::new(world.path("managed"), &scratch)
    };
    world.git = Git::new(settings).await.unwrap();
    let worktree = world.worktree().await;
    write(worktree.path(), "deep/x.sh", "x");
    symlink("deep/x.sh", worktree.path().join("link")).unwrap();
    let runs = fs::Permissions::from_mode(0o755);
    fs::set_permissions(worktree.path().join("deep/x.sh"), runs).unwrap();
    let main = world.main();
    let diff = worktree.diff(&main, DiffTo::Files, 1 << 20).await.unwrap();
    assert!(
        diff.patch.contains("new file mode 120000"),
        "{}",
        diff.patch
    );
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    let listed = git(&world.source(), &["ls-tree", "-r", head.as_str()]);
    for mode in ["100755", "120000"] {
        assert!(
            listed.lines().any(|line| line.starts_with(mode)),
            "{listed}"
        );
    }
    let base = world.move_main("deep/y.txt", "main\n");
    worktree.merge(&base, &message("Merge")).await.unwrap();
    assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "");
    let log = fs::read_to_string(&log).unwrap();
    for command in [
        " update-index --ignore-submodules -z --add",
        " checkout-index ",
    ] {
        let mut used = log.lines().filter(|line| line.contains(command)).peekable();
        assert!(used.peek().is_some(), "{command}");
        for line in used {
            assert!(line.starts_with(scratch.to_str().unwrap()), "{line}");
        }
    }
}
