//! Links and other files in the place of those that the server writes or reads.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use nix::fcntl::{RenameFlags, renameat2};
use workforce_git::{Branch, CommitOutcome, DiffTo, GitError, MergeOutcome, Reason};

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
    // A new one is nothing that git would know.
    pipe("pipe");
    let outcome = worktree.commit(&message("Work")).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Nothing(_)), "{outcome:?}");
    // With this, git does not take the folder for a repository.
    write(worktree.path(), "fake/.git", "x");
    for name in [
        "README.md",
        "src/.gitattributes",
        ".gitmodules",
        "fake/.gitignore",
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

/// Exchanges two names in a folder as fast as it can until it is told to stop.
fn exchange(folder: &Path, stop: &Arc<AtomicBool>) -> JoinHandle<()> {
    let (folder, stop) = (fs::File::open(folder).unwrap(), Arc::clone(stop));
    std::thread::spawn(move || {
        while !stop.load(Ordering::Relaxed) {
            for n in 0..SWAPPED {
                let (file, link) = (format!("leak-{n}"), format!(".swap/link-{n}"));
                let flags = RenameFlags::RENAME_EXCHANGE;
                renameat2(&folder, file.as_str(), &folder, link.as_str(), flags).unwrap();
            }
        }
    })
}

const SWAPPED: usize = 20;

#[tokio::test]
async fn files_that_turn_into_links_meanwhile_are_not_read_through() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let secret = world.path("secret");
    let (hidden, shown) = ("hidden".repeat(7), "usual.".repeat(7));
    fs::write(&secret, &hidden).unwrap();
    fs::create_dir(worktree.path().join(".swap")).unwrap();
    write(worktree.path(), ".gitignore", ".swap\n");
    for n in 0..SWAPPED {
        write(worktree.path(), &format!("leak-{n}"), &shown);
        symlink(&secret, worktree.path().join(format!(".swap/link-{n}"))).unwrap();
    }
    let stop = Arc::new(AtomicBool::new(false));
    let swapping = exchange(worktree.path(), &stop);
    let base = world.main();
    let mut seen = 0;
    for _ in 0..60 {
        // It may say that files changed meanwhile.
        if let Ok(diff) = worktree.diff(&base, DiffTo::Files, 1 << 20).await {
            assert!(!diff.patch.contains(&hidden), "{}", diff.patch);
            seen += usize::from(diff.patch.contains(&shown));
        }
    }
    stop.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
    assert!(seen > 0, "no look went through");
}

#[tokio::test]
async fn a_folder_that_turns_into_a_link_meanwhile_is_not_written_through() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let outside = world.path("outside");
    fs::create_dir(&outside).unwrap();
    write(&world.source(), "leak-0/file.txt", "from the base\n");
    git(&world.source(), &["add", "."]);
    git(&world.source(), &["commit", "-q", "-m", "more"]);
    fs::create_dir_all(worktree.path().join("leak-0")).unwrap();
    for n in 0..SWAPPED {
        fs::create_dir_all(worktree.path().join(format!("leak-{n}"))).unwrap();
        fs::create_dir_all(worktree.path().join(".swap")).unwrap();
        symlink(&outside, worktree.path().join(format!(".swap/link-{n}"))).unwrap();
    }
    let stop = Arc::new(AtomicBool::new(false));
    let swapping = exchange(worktree.path(), &stop);
    for _ in 0..20 {
        // What becomes of the merge is for whoever plays such tricks.
        let _ = worktree.merge(&world.main(), &message("Merge")).await;
    }
    stop.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}
