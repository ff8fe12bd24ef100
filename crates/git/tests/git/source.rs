//! The folder of the source, which nobody but its owner changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use workforce_git::{Branch, GitError, Operation};

use crate::support::{World, branch, committed, git, message, write};

/// Every file below a folder, but for what a ticket may add: objects, its branch,
/// and what is kept about its worktree.
fn content(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let below = path.strip_prefix(dir).unwrap().to_str().unwrap();
            let may_change = [".git/objects", ".git/worktrees", ".git/refs/heads/feature"];
            if may_change.contains(&below) {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[tokio::test]
async fn the_source_stays_as_it_is_byte_for_byte() {
    let world = World::new().await;
    let base = world.move_main("README.md", "main\n");
    let source = world.source();
    write(&source, "src/a.txt", "not committed\n");
    write(&source, "staged", "staged\n");
    git(&source, &["add", "staged"]);
    git(&source, &["config", "core.autocrlf", "input"]);
    git(&source, &["stash", "list"]);
    let before = content(&source);
    let worktree = world.worktree().await;
    write(worktree.path(), "x", "x");
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    worktree.merge(&base, &message("Merge")).await.unwrap();
    worktree.push(&world.remote(), &head).await.unwrap();
    let repository = world.open().await;
    repository.fetch(&world.remote(), &branch()).await.unwrap();
    repository.source_state().await.unwrap();
    repository.configured_remote("origin").await.unwrap();
    worktree.remove(&head).await.unwrap();
    assert!(content(&source) == before);
    git(&source, &["fsck", "--strict"]);
}

#[tokio::test]
async fn the_state_of_the_source_is_told() {
    let world = World::new().await;
    let source = world.source();
    let repository = world.open().await;
    let state = repository.source_state().await.unwrap();
    assert_eq!(state.branch.as_deref(), Some("main"));
    assert_eq!(state.head, Some(world.main()));
    assert_eq!((state.total, state.operation), (0, None));

    write(&source, "untracked", "x");
    write(&source, "src/a.txt", "unstaged\n");
    write(&source, "src/b.txt", "staged\n");
    git(&source, &["add", "src/b.txt"]);
    let state = repository.source_state().await.unwrap();
    assert_eq!(state.changed, ["src/a.txt", "src/b.txt"]);

    git(&source, &["commit", "-q", "-a", "-m", "more"]);
    git(&source, &["checkout", "-q", "-b", "side", "HEAD~1"]);
    write(&source, "src/a.txt", "side\n");
    git(&source, &["commit", "-q", "-a", "-m", "side"]);
    let merge = std::process::Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b"])
        .args(["merge", "-q", "main"])
        .current_dir(&source)
        .output();
    assert!(!merge.unwrap().status.success());
    let state = repository.source_state().await.unwrap();
    assert_eq!(state.operation, Some(Operation::Merge));
    assert!(state.changed.contains(&"src/a.txt".to_owned()), "{state:?}");

    git(&source, &["merge", "--abort"]);
    git(&source, &["checkout", "-q", "--detach"]);
    let state = repository.source_state().await.unwrap();
    assert_eq!((state.branch, state.total), (None, 0));
    assert!(state.head.is_some());
}

#[tokio::test]
async fn repositories_of_all_kinds_are_opened() {
    let world = World::new().await;
    let source = world.source();
    let common = source.join(".git");
    let inner = world.git.open(&source.join("src")).await.unwrap();
    assert_eq!(inner.common_dir(), common);
    assert_eq!(inner.work_dir(), Some(source.as_path()));

    git(&source, &["worktree", "add", "-q", "../linked"]);
    let linked = world.git.open(&world.path("linked")).await.unwrap();
    assert_eq!(linked.common_dir(), common);
    assert_eq!(linked.work_dir(), Some(world.path("linked").as_path()));
    let state = linked.source_state().await.unwrap();
    assert_eq!(state.branch.as_deref(), Some("linked"));

    let bare = world.git.open(&world.path("remote.git")).await.unwrap();
    assert_eq!(bare.work_dir(), None);
    let made = bare
        .add_worktree(Path::new("bare"), &branch(), &world.main())
        .await
        .unwrap();
    write(made.path(), "x", "x");
    committed(made.commit(&message("Work")).await.unwrap());

    let address = world.path("remote.git").display().to_string();
    let add = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        &address,
        "sub",
    ];
    git(&source, &add);
    let submodule = world.git.open(&source.join("sub")).await.unwrap();
    assert_eq!(submodule.common_dir(), common.join("modules/sub"));
    assert_eq!(submodule.source_state().await.unwrap().total, 0);
    let made = submodule
        .add_worktree(Path::new("sub"), &branch(), &world.main())
        .await
        .unwrap();
    write(made.path(), "x", "x");
    committed(made.commit(&message("Work")).await.unwrap());
}

#[tokio::test]
async fn what_is_not_supported_is_said() {
    let world = World::new().await;
    for path in ["", "missing", "source/README.md"] {
        let opened = world.git.open(&world.path(path)).await;
        assert!(
            matches!(opened, Err(GitError::NotARepository { .. })),
            "{path}"
        );
    }
    git(
        &world.source(),
        &["config", "remote.origin.promisor", "true"],
    );
    let opened = world.git.open(&world.source()).await;
    assert!(
        matches!(opened, Err(GitError::Unsupported { .. })),
        "{opened:?}"
    );
}

#[tokio::test]
async fn settings_of_text_are_taken_over() {
    let world = World::new().await;
    git(&world.source(), &["config", "core.autocrlf", "input"]);
    let worktree = world.worktree().await;
    write(worktree.path(), "crlf.txt", "a\r\nb\r\n");
    write(worktree.path(), "kept", "x");
    write(&world.source(), ".git/info/exclude", "kept\n");
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    assert_eq!(
        git(worktree.path(), &["show", &format!("{head}:crlf.txt")]),
        "a\nb"
    );
    assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "");
    let listed = git(worktree.path(), &["ls-tree", "--name-only", "HEAD"]);
    assert!(!listed.contains("kept"), "{listed}");
}

#[tokio::test]
async fn a_source_that_was_touched_or_copied_is_clean() {
    let world = World::new().await;
    let source = world.source();
    fs::write(
        source.join("src/a.txt"),
        fs::read(source.join("src/a.txt")).unwrap(),
    )
    .unwrap();
    git(&world.path(""), &["clone", "-q", "source", "other"]);
    for folder in [&source, &world.path("other")] {
        let touched = fs::File::options()
            .write(true)
            .open(folder.join("README.md"))
            .unwrap();
        touched.set_modified(std::time::UNIX_EPOCH).unwrap();
        let repository = world.git.open(folder).await.unwrap();
        let before = fs::read(folder.join(".git/index")).unwrap();
        let state = repository.source_state().await.unwrap();
        assert_eq!((state.total, state.changed), (0, Vec::new()));
        assert_eq!(fs::read(folder.join(".git/index")).unwrap(), before);
        write(folder, "README.md", "hallo\n");
        assert_eq!(repository.source_state().await.unwrap().total, 1);
    }
}

#[tokio::test]
async fn a_branch_that_cannot_stand_beside_another_is_refused_by_its_name() {
    let world = World::new().await;
    let (source, start) = (world.source(), world.main());
    let repository = world.open().await;
    for (number, (there, wanted)) in [("feature/DF", "feature/DF/sub"), ("topic/a/b/c", "topic/a")]
        .into_iter()
        .enumerate()
    {
        let wanted = Branch::new(wanted).unwrap();
        git(&source, &["branch", there]);
        for is_packed in [false, true] {
            if is_packed {
                git(&source, &["pack-refs", "--all"]);
            }
            let place = PathBuf::from(format!("tickets/{number}"));
            let made = repository.add_worktree(&place, &wanted, &start).await;
            for refused in [repository.need_room_for(&wanted), made.map(drop)] {
                let Err(GitError::NameInTheWay { other, .. }) = refused else {
                    panic!("{refused:?}");
                };
                assert_eq!(other, there);
            }
            assert!(!world.path("managed").join(&place).exists());
        }
        git(&source, &["branch", "-q", "-D", there]);
        repository.need_room_for(&wanted).unwrap();
        let place = PathBuf::from(format!("tickets/{number}"));
        repository
            .add_worktree(&place, &wanted, &start)
            .await
            .unwrap();
        // One that exists has its room.
        repository.need_room_for(&wanted).unwrap();
    }
}
