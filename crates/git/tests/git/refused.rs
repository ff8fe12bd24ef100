//! What is not committed.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;

use nix::fcntl::{OFlag, openat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::mkfifo;
use workforce_git::{CommitOutcome, DiffTo, MAX_FILE, Reason};

use crate::support::{World, committed, git, message, write};

#[tokio::test]
async fn one_path_that_may_not_be_committed_refuses_all() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let path = worktree.path();
    let before = worktree.head().unwrap();
    write(path, "good.txt", "good\n");
    write(path, ".env.example", "A=\n");
    write(path, "conf/.env", "A=secret\n");
    write(path, "key.txt", "x\n-----BEGIN RSA PRIVATE KEY-----\n");
    File::create(path.join("huge"))
        .unwrap()
        .set_len(MAX_FILE + 1)
        .unwrap();
    fs::create_dir(path.join("nested")).unwrap();
    git(&path.join("nested"), &["init", "-q"]);
    write(path, "nested/x", "x");
    write(path, "dir/.GIT/config", "x");
    let outcome = worktree.commit(&message("Work")).await.unwrap();
    let CommitOutcome::Refused(refused) = outcome else {
        panic!("{outcome:?}");
    };
    let refused: Vec<_> = refused
        .iter()
        .map(|r| (r.path.as_str(), r.reason.clone()))
        .collect();
    assert_eq!(
        refused,
        [
            ("conf/.env", Reason::SecretName),
            ("dir/.GIT/config", Reason::GitFolder),
            ("huge", Reason::TooLarge),
            ("key.txt", Reason::PrivateKey),
            ("nested/", Reason::NestedRepository),
        ]
    );
    assert_eq!(worktree.head().unwrap(), before);
    // Nor shown as a part of a diff.
    let diff = worktree
        .diff(&before, DiffTo::Files, 100_000)
        .await
        .unwrap();
    let names: Vec<_> = diff.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(names, [".env.example", "good.txt"]);
    assert_eq!(diff.refused.len(), 5);

    for name in ["conf", "nested", "dir"] {
        fs::remove_dir_all(path.join(name)).unwrap();
    }
    fs::remove_file(path.join("huge")).unwrap();
    fs::remove_file(path.join("key.txt")).unwrap();
    committed(worktree.commit(&message("Work")).await.unwrap());
}

#[tokio::test]
async fn a_large_file_may_stay_as_it_is() {
    let world = World::new().await;
    let file = File::create(world.source().join("data.bin")).unwrap();
    file.set_len(MAX_FILE + 1).unwrap();
    world.move_main("x", "x");
    let worktree = world.worktree().await;
    write(worktree.path(), "y", "y");
    committed(worktree.commit(&message("Work")).await.unwrap());
    let file = File::options()
        .write(true)
        .open(worktree.path().join("data.bin"))
        .unwrap();
    file.set_len(MAX_FILE + 2).unwrap();
    let outcome = worktree.commit(&message("Work")).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Refused(_)), "{outcome:?}");
    assert_eq!(worktree.changes(5).await.unwrap().total, 1);
    let diff = worktree
        .diff(&world.main(), DiffTo::Files, 1000)
        .await
        .unwrap();
    assert_eq!(diff.files.len(), 1);
}

#[tokio::test]
async fn kinds_of_files_may_change() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let path = worktree.path();
    // A file becomes a folder, a folder a file, a file a link.
    fs::remove_file(path.join("README.md")).unwrap();
    write(path, "README.md/inner", "x");
    fs::remove_dir_all(path.join("src")).unwrap();
    write(path, "src", "x");
    fs::remove_file(path.join(".gitignore")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", path.join(".gitignore")).unwrap();
    committed(worktree.commit(&message("Work")).await.unwrap());
    let listed = git(
        path,
        &["ls-tree", "-r", "HEAD", "--format=%(objectmode) %(path)"],
    );
    assert_eq!(
        listed,
        "120000 .gitignore\n100644 README.md/inner\n100644 src"
    );
    assert_eq!(git(path, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn commits_of_the_agent_are_looked_through() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let path = worktree.path();
    write(path, "conf/.env", "A=secret\n");
    write(path, "a/key.txt", "-----BEGIN PRIVATE KEY-----\n");
    write(path, "good.txt", "good\n");
    write(path, "empty", "");
    git(path, &["add", "--force", "."]);
    git(path, &["commit", "-q", "-m", "by the agent"]);
    git(path, &["rm", "-q", "-r", "conf", "a"]);
    git(path, &["commit", "-q", "-m", "as if nothing had been"]);
    let (main, head) = (world.main(), worktree.head().unwrap());
    let refused = worktree.refused_in_commits(&[main], &head).await.unwrap();
    let refused: Vec<_> = refused
        .iter()
        .map(|r| (r.path.as_str(), r.reason.clone()))
        .collect();
    assert_eq!(
        refused,
        [
            ("a/key.txt", Reason::PrivateKey),
            ("conf/.env", Reason::SecretName)
        ]
    );
    let refused = worktree
        .refused_in_commits(std::slice::from_ref(&head), &head)
        .await;
    assert_eq!(refused.unwrap(), []);
}

#[tokio::test]
async fn submodules_that_an_agent_commits_are_refused() {
    let world = World::new().await;
    let submodule = |dir: &Path, path: &str, commit: &str| {
        let entry = format!("160000,{commit},{path}");
        git(dir, &["update-index", "--add", "--cacheinfo", &entry]);
    };
    let (first, second) = ("1".repeat(40), "2".repeat(40));
    for (path, commit) in [("kept", &first), ("moved", &first)] {
        submodule(&world.source(), path, commit);
    }
    let start = world.move_main("x", "x");
    let worktree = world.worktree().await;
    let path = worktree.path();
    // Main goes on, and the agent merges that itself.
    submodule(&world.source(), "kept", &second);
    let main = world.move_main("y", "y");
    write(path, "a/z", "z");
    git(path, &["add", "a/z"]);
    git(path, &["commit", "-q", "-m", "by the agent"]);
    git(path, &["merge", "-q", "-m", "a merge", "main"]);
    let head = worktree.head().unwrap();
    let known = [start, main];
    let refused = worktree.refused_in_commits(&known, &head).await.unwrap();
    assert_eq!(refused, []);

    submodule(path, "moved", &second);
    submodule(path, "a/new", &first);
    git(path, &["commit", "-q", "-m", "submodules"]);
    git(path, &["rm", "-q", "--cached", "a/new"]);
    git(path, &["commit", "-q", "-m", "as if nothing had been"]);
    let head = worktree.head().unwrap();
    let refused = worktree.refused_in_commits(&known, &head).await.unwrap();
    let refused: Vec<_> = refused
        .iter()
        .map(|r| (&*r.path, r.reason.clone()))
        .collect();
    let nested = |path| (path, Reason::NestedRepository);
    assert_eq!(refused, [nested("a/new"), nested("moved")]);
}

#[tokio::test]
async fn all_names_of_what_is_committed_count() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let path = worktree.path();
    // The same content stands under a name that may be committed.
    write(path, "conf/.env", "hello\n");
    write(path, "a.txt", "A=secret\n");
    write(path, "b.pem", "A=secret\n");
    git(path, &["add", "--force", "."]);
    git(path, &["commit", "-q", "-m", "by the agent"]);
    let head = worktree.head().unwrap();
    let refused = worktree.refused_in_commits(&[world.main()], &head).await;
    let refused = refused.unwrap();
    let refused: Vec<_> = refused
        .iter()
        .map(|r| (&*r.path, r.reason.clone()))
        .collect();
    let secret = |path| (path, Reason::SecretName);
    assert_eq!(refused, [secret("b.pem"), secret("conf/.env")]);
}

#[tokio::test]
async fn what_is_no_file_is_refused_unless_it_is_ignored() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let path = worktree.path();
    write(path, "good.txt", "good\n");
    write(path, "dir/.gitignore", "*.pipe\n!kept.pipe\n");
    fs::create_dir(path.join("target")).unwrap();
    let pipes = [
        "pipe",
        "target/pipe",
        ":!*.log",
        "dir/[a] ?.pipe",
        "dir/kept.pipe",
    ];
    for pipe in pipes {
        mkfifo(&path.join(pipe), Mode::S_IRWXU).unwrap();
    }
    // A name that is no UTF-8.
    let socket = path.join("dir").join(OsStr::from_bytes(b"s\xff"));
    let _listener = UnixListener::bind(&socket).unwrap();
    let outcome = worktree.commit(&message("Work")).await.unwrap();
    let CommitOutcome::Refused(refused) = outcome else {
        panic!("{outcome:?}");
    };
    let named: Vec<_> = refused
        .iter()
        .map(|r| (&*r.path, r.reason.clone()))
        .collect();
    let special = |path| (path, Reason::SpecialFile);
    assert_eq!(
        named,
        [
            special("dir/kept.pipe"),
            special("dir/s\u{fffd}"),
            special("pipe")
        ]
    );
    let base = worktree.head().unwrap();
    let diff = worktree.diff(&base, DiffTo::Files, 100_000).await.unwrap();
    let names: Vec<_> = diff.files.iter().map(|file| &*file.path).collect();
    assert_eq!(names, ["dir/.gitignore", "good.txt"]);
    assert_eq!(diff.refused.len(), 3);

    for refused in [path.join("dir/kept.pipe"), socket, path.join("pipe")] {
        fs::remove_file(refused).unwrap();
    }
    committed(worktree.commit(&message("Work")).await.unwrap());
    assert_eq!(worktree.changes(5).await.unwrap().total, 0);
}

/// Makes folders in folders, without a path that is longer than the system takes.
fn nest(top: &Path, levels: usize) {
    let mut at = File::open(top).unwrap();
    for _ in 0..levels {
        mkdirat(&at, "in", Mode::S_IRWXU).unwrap();
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY;
        at = openat(&at, "in", flags, Mode::empty()).unwrap().into();
    }
}

#[tokio::test]
async fn folders_that_lie_too_deep_are_refused() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let path = worktree.path();
    write(path, "good.txt", "good\n");
    fs::create_dir(path.join("deep")).unwrap();
    nest(&path.join("deep"), 2_000);
    let outcome = worktree.commit(&message("Work")).await.unwrap();
    let CommitOutcome::Refused(refused) = outcome else {
        panic!("{outcome:?}");
    };
    let named: Vec<_> = refused
        .iter()
        .map(|r| (&*r.path, r.reason.clone()))
        .collect();
    assert_eq!(named, [("deep", Reason::TooDeep)]);
    let base = worktree.head().unwrap();
    let diff = worktree.diff(&base, DiffTo::Files, 100_000).await.unwrap();
    assert_eq!(diff.refused.len(), 1);
}
