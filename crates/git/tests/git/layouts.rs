//! A worktree is what git itself would have made, in the layouts that people have.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use workforce_git::GitError;

use crate::support::{World, branch, committed, git, message, write};

/// The files of a folder, by path: their bytes and modes, without what git keeps.
fn files(root: &Path) -> BTreeMap<String, (Vec<u8>, u32)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name() == Some(".git".as_ref()) {
                continue;
            }
            let name = path
                .strip_prefix(root)
                .unwrap()
                .to_string_lossy()
                .into_owned();
            let metadata = path.symlink_metadata().unwrap();
            if metadata.is_dir() {
                found.insert(format!("{name}/"), (Vec::new(), 0));
                folders.push(path);
            } else {
                let mode = metadata.permissions().mode() & 0o111;
                found.insert(name, (fs::read(&path).unwrap_or_default(), mode));
            }
        }
    }
    found
}

/// Makes the worktree of a ticket and has git make another of the same commit; both have the same
/// files, and git works in ours. The sources of bare layouts lie in `bare.git`.
async fn is_as_git_makes_it(world: &World, source: &Path, has_same_files: bool) {
    let repository = world.git.open(source).await.unwrap();
    let start = world.main();
    let made = repository
        .add_worktree(Path::new("tickets/one"), &branch(), &start)
        .await
        .unwrap();
    let ours = made.path();
    let theirs = world.path("theirs");
    git(
        source,
        &[
            "worktree",
            "add",
            "-q",
            "--detach",
            theirs.to_str().unwrap(),
            start.as_str(),
        ],
    );
    if has_same_files {
        assert_eq!(files(ours), files(&theirs));
    }
    assert_eq!(git(ours, &["status", "--porcelain"]), "");
    assert_eq!(git(ours, &["branch", "--show-current"]), "feature/one");
    assert_eq!(
        git(ours, &["rev-parse", "--show-toplevel"]),
        ours.to_str().unwrap()
    );
    // An agent's own git commits there, and the server after it.
    write(ours, "of-agent.txt", "agent\n");
    git(ours, &["add", "."]);
    git(ours, &["commit", "-q", "-m", "By the agent"]);
    write(ours, "README.md", "hello\nagain\n");
    let commit = committed(made.commit(&message("By the server")).await.unwrap());
    assert_eq!(git(ours, &["status", "--porcelain"]), "");
    assert_eq!(git(source, &["rev-parse", "feature/one"]), commit.as_str());
    assert_eq!(
        repository
            .set_in_order(ours, &branch(), Some(&commit))
            .await
            .unwrap(),
        []
    );
}

fn bare(world: &World) -> std::path::PathBuf {
    let bare = world.path("bare.git");
    git(
        &world.path(""),
        &["clone", "-q", "--bare", "source", "bare.git"],
    );
    bare
}

#[tokio::test]
async fn a_plain_source() {
    let world = World::new().await;
    is_as_git_makes_it(&world, &world.source(), true).await;
}

#[tokio::test]
async fn a_bare_clone() {
    let world = World::new().await;
    is_as_git_makes_it(&world, &bare(&world), true).await;
}

#[tokio::test]
async fn a_bare_clone_whose_worktrees_have_settings_of_their_own() {
    let world = World::new().await;
    let bare = bare(&world);
    git(&bare, &["config", "extensions.worktreeConfig", "true"]);
    // By hand, `core.bare` stays among the shared settings, and counts for all worktrees.
    let repository = world.git.open(&bare).await.unwrap();
    let made = repository
        .add_worktree(Path::new("tickets/one"), &branch(), &world.main())
        .await
        .unwrap();
    assert_eq!(git(made.path(), &["status", "--porcelain"]), "");
    assert_eq!(
        git(made.path(), &["rev-parse", "--is-bare-repository"]),
        "false"
    );
    assert_eq!(git(&bare, &["rev-parse", "--is-bare-repository"]), "true");
    // One that was made before is mended when it is looked at.
    let settings = bare.join("worktrees/one/config.worktree");
    fs::remove_file(&settings).unwrap();
    repository
        .set_in_order(made.path(), &branch(), None)
        .await
        .unwrap();
    assert_eq!(git(made.path(), &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_bare_clone_whose_own_settings_say_so() {
    let world = World::new().await;
    let bare = bare(&world);
    git(&bare, &["config", "extensions.worktreeConfig", "true"]);
    git(&bare, &["config", "--unset", "core.bare"]);
    git(&bare, &["config", "--worktree", "core.bare", "true"]);
    git(&bare, &["config", "--worktree", "user.name", "Bea"]);
    is_as_git_makes_it(&world, &bare, true).await;
    let ours = world.path("managed/tickets/one");
    assert_eq!(git(&ours, &["config", "user.name"]), "Bea");
}

#[tokio::test]
async fn a_source_whose_files_lie_elsewhere() {
    for has_own_settings in [false, true] {
        let world = World::new().await;
        let (source, elsewhere) = (world.source(), world.path("elsewhere"));
        fs::create_dir(&elsewhere).unwrap();
        git(
            &source,
            &["config", "core.worktree", elsewhere.to_str().unwrap()],
        );
        if has_own_settings {
            git(&source, &["config", "extensions.worktreeConfig", "true"]);
        }
        let repository = world.git.open(&source).await.unwrap();
        let made = repository
            .add_worktree(Path::new("tickets/one"), &branch(), &world.main())
            .await
            .unwrap();
        let ours = made.path();
        let top = git(ours, &["rev-parse", "--show-toplevel"]);
        assert_eq!(top, ours.to_str().unwrap(), "{has_own_settings}");
        assert_eq!(git(ours, &["status", "--porcelain"]), "");
    }
}

#[tokio::test]
async fn a_sparse_checkout() {
    let world = World::new().await;
    let source = world.source();
    git(&source, &["sparse-checkout", "set", "--cone", "docs"]);
    assert!(!source.join("src").exists());
    // A ticket has all files, wherever its source has only some.
    is_as_git_makes_it(&world, &source, false).await;
    assert!(world.path("managed/tickets/one/src/a.txt").exists());
}

#[tokio::test]
async fn line_ends_of_other_systems() {
    for (key, value) in [
        ("core.autocrlf", "true"),
        ("core.autocrlf", "input"),
        ("core.eol", "crlf"),
    ] {
        let world = World::new().await;
        let source = world.source();
        world.move_main(".gitattributes", "*.txt text\n*.bin -text\n");
        world.move_main("a.bin", "one\r\ntwo\n");
        git(&source, &["config", key, value]);
        is_as_git_makes_it(&world, &source, true).await;
    }
}

#[tokio::test]
async fn a_source_of_a_file_system_without_case() {
    let world = World::new().await;
    let source = world.source();
    git(&source, &["config", "core.ignorecase", "true"]);
    git(&source, &["config", "core.precomposeunicode", "true"]);
    is_as_git_makes_it(&world, &source, true).await;
}

#[tokio::test]
async fn objects_with_longer_names() {
    let world = World::with_format("sha256").await;
    is_as_git_makes_it(&world, &world.source(), true).await;
}

#[tokio::test]
async fn a_source_with_submodules() {
    let world = World::new().await;
    let source = world.source();
    let remote = world.path("remote.git");
    git(
        &source,
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "-q",
            "add",
            remote.to_str().unwrap(),
            "vendor/lib",
        ],
    );
    git(&source, &["commit", "-q", "-m", "A submodule"]);
    is_as_git_makes_it(&world, &source, true).await;
}

#[tokio::test]
async fn relative_paths_between_worktrees() {
    let world = World::new().await;
    let source = world.source();
    git(&source, &["config", "worktree.useRelativePaths", "true"]);
    is_as_git_makes_it(&world, &source, true).await;
}

#[tokio::test]
async fn refs_that_are_no_files_are_refused() {
    let world = World::new().await;
    let source = world.source();
    git(&source, &["config", "core.repositoryformatversion", "1"]);
    git(&source, &["config", "extensions.refstorage", "reftable"]);
    let refused = world.git.open(&source).await.unwrap_err();
    assert!(matches!(refused, GitError::Unsupported { .. }), "{refused}");
    assert!(refused.to_string().contains("refs"), "{refused}");
}
