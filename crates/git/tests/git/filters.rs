//! Files that a filter has to change before they are committed.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use workforce_git::{CommitOutcome, DiffTo, GitError, Reason, Refusal, Worktree};

use crate::support::{World, branch, committed, git, message, write};

/// What git-crypt makes of a file begins so.
const ENCRYPTED: &str = "\0GITCRYPT\0 and what nobody can read";

/// A world where files in `vault` are encrypted.
async fn with_vault() -> World {
    let world = World::new().await;
    write(&world.source(), "vault/kept", ENCRYPTED);
    world.move_main(
        ".gitattributes",
        "vault/** filter=git-crypt diff=git-crypt\n",
    );
    world
}

fn filter(name: &str) -> Reason {
    Reason::Filter(name.to_owned())
}

/// What a commit refuses.
async fn refused(worktree: &Worktree) -> Vec<(String, Reason)> {
    match worktree.commit(&message("Work")).await.unwrap() {
        CommitOutcome::Refused(refused) => named(refused),
        other => panic!("{other:?}"),
    }
}

fn named(refused: Vec<Refusal>) -> Vec<(String, Reason)> {
    refused.into_iter().map(|it| (it.path, it.reason)).collect()
}

fn vault(paths: &[&str]) -> Vec<(String, Reason)> {
    let one = |path: &&str| ((*path).to_owned(), filter("git-crypt"));
    paths.iter().map(one).collect()
}

/// Commits all, as an agent does that has no program of a filter.
fn commit_as_agent(path: &Path) {
    git(path, &["add", "-A"]);
    git(path, &["commit", "-q", "-m", "by the agent"]);
}

async fn refused_in_commits(world: &World, worktree: &Worktree) -> Vec<(String, Reason)> {
    let head = worktree.head().unwrap();
    let refused = worktree.refused_in_commits(&[world.main()], &head).await;
    named(refused.unwrap())
}

#[tokio::test]
async fn a_file_that_its_filter_did_not_change_is_refused() {
    let world = with_vault().await;
    git(
        &world.source(),
        &["config", "filter.git-crypt.required", "true"],
    );
    let worktree = world.worktree().await;
    let path = worktree.path();
    write(path, "vault/notes.txt", "plain\n");
    write(path, "vault/deep/in/it", "plain\n");
    write(path, "vault/empty", "");
    write(path, "vault/copied", ENCRYPTED);
    symlink("kept", path.join("vault/link")).unwrap();
    write(path, "good.txt", "good\n");
    let before = worktree.head().unwrap();
    let expected = vault(&["vault/deep/in/it", "vault/notes.txt"]);
    assert_eq!(refused(&worktree).await, expected);
    assert_eq!(worktree.head().unwrap(), before);
    let changes = worktree.changes(50).await.unwrap();
    assert_eq!(named(changes.refused), expected);
    let diff = worktree
        .diff(&before, DiffTo::Files, 100_000)
        .await
        .unwrap();
    assert!(!diff.patch.contains("plain"), "{}", diff.patch);
    let told = expected[0].1.to_string();
    for part in ["`git-crypt`", "commit it with git", "`.gitattributes`"] {
        assert!(told.contains(part), "{told}");
    }

    fs::remove_dir_all(path.join("vault/deep")).unwrap();
    fs::remove_file(path.join("vault/notes.txt")).unwrap();
    committed(worktree.commit(&message("Work")).await.unwrap());
    assert_eq!(refused_in_commits(&world, &worktree).await, []);
}

#[tokio::test]
async fn files_with_a_filter_that_nobody_touched_stay_as_they_are() {
    let world = World::new().await;
    write(&world.source(), "old/plain.x", "as it is\n");
    world.move_main(".gitattributes", "*.x filter=x\n");
    let worktree = world.worktree().await;
    write(worktree.path(), "good.txt", "good\n");
    committed(worktree.commit(&message("Work")).await.unwrap());
    // Nor does a filter count that they get now.
    write(
        worktree.path(),
        ".gitattributes",
        "*.x filter=x\n*.txt filter=y\n",
    );
    let base = world.move_main("old/plain.x", "another\n");
    committed(worktree.commit(&message("Work")).await.unwrap());
    worktree.merge(&base, &message("Merge")).await.unwrap();
    assert_eq!(named(worktree.changes(5).await.unwrap().refused), []);
    fs::remove_file(worktree.path().join("old/plain.x")).unwrap();
    committed(worktree.commit(&message("Work")).await.unwrap());
    assert_eq!(
        refused_in_commits(&world, &worktree).await,
        [("good.txt".to_owned(), filter("y"))],
        "but what the ticket itself brought has it"
    );
}

#[tokio::test]
async fn attributes_count_wherever_they_stand() {
    let world = World::new().await;
    let info = world.source().join(".git");
    write(
        &info,
        "info/attributes",
        "*.info filter=beside\n[attr]hidden filter=macro\n",
    );
    let worktree = world.worktree().await;
    let path = worktree.path();
    write(
        path,
        ".gitattributes",
        "*.top filter=top\n*.macro hidden\nnone/* -filter\n*.set filter\n",
    );
    write(
        path,
        "a/b/.gitattributes",
        "below filter=deep\n*.top !filter\n",
    );
    for file in [
        "x.top",
        "x.info",
        "x.macro",
        "a/b/below",
        "a/b/x.top",
        "none/x.top",
        "x.set",
    ] {
        write(path, file, "plain\n");
    }
    let one = |path: &str, name: &str| (path.to_owned(), filter(name));
    let expected = [
        one("a/b/below", "deep"),
        one("x.info", "beside"),
        one("x.macro", "macro"),
        one("x.top", "top"),
    ];
    assert_eq!(refused(&worktree).await, expected);
    commit_as_agent(path);
    assert_eq!(refused_in_commits(&world, &worktree).await, expected);

    // Who hides them from the server is refused.
    fs::remove_file(info.join("info/attributes")).unwrap();
    symlink("/dev/null", info.join("info/attributes")).unwrap();
    write(path, "more", "more\n");
    let hidden = worktree.commit(&message("Work")).await.unwrap_err();
    assert!(matches!(hidden, GitError::Tampered { .. }), "{hidden}");
    assert!(hidden.to_string().contains("info/attributes"), "{hidden}");

    fs::remove_file(info.join("info/attributes")).unwrap();
    write(&info, "info/attributes", "more filter=beside\n");
    fs::rename(info.join("info"), world.path("info")).unwrap();
    symlink(world.path("info"), info.join("info")).unwrap();
    let hidden = worktree.commit(&message("Work")).await.unwrap_err();
    assert!(matches!(hidden, GitError::Tampered { .. }), "{hidden}");
}

#[tokio::test]
async fn a_filter_that_is_taken_away_by_the_ticket_counts() {
    let world = with_vault().await;
    let worktree = world.worktree().await;
    let path = worktree.path();
    fs::remove_file(path.join(".gitattributes")).unwrap();
    committed(worktree.commit(&message("No filter")).await.unwrap());
    write(path, "vault/notes.txt", "plain\n");
    commit_as_agent(path);
    let expected = vault(&["vault/notes.txt"]);
    assert_eq!(refused_in_commits(&world, &worktree).await, expected);
    git(path, &["reset", "-q", "--hard", world.main().as_str()]);

    for attributes in ["", "vault/** -filter\n", "vault/** filter=other\n"] {
        write(path, ".gitattributes", attributes);
        write(path, "vault/notes.txt", "plain\n");
        let refused = refused(&worktree).await;
        assert!(refused.contains(&expected[0]), "{attributes}: {refused:?}");
    }

    // The base branch takes it away.
    world.move_main(".gitattributes", "");
    write(path, ".gitattributes", "");
    commit_as_agent(path);
    assert_eq!(refused_in_commits(&world, &worktree).await, []);
}

#[tokio::test]
async fn what_an_agent_commits_counts_in_each_commit() {
    let world = with_vault().await;
    let worktree = world.worktree().await;
    let path = worktree.path();
    write(path, "vault/plain", "plain\n");
    write(path, "vault/other", "plain\n");
    commit_as_agent(path);
    write(path, "vault/plain", ENCRYPTED);
    fs::remove_file(path.join("vault/other")).unwrap();
    commit_as_agent(path);
    let expected = vault(&["vault/other", "vault/plain"]);
    assert_eq!(refused_in_commits(&world, &worktree).await, expected);

    // With the program of the filter, git commits what may be pushed.
    git(path, &["reset", "-q", "--hard", world.main().as_str()]);
    let program = world.path("encrypt");
    fs::write(
        &program,
        "#!/bin/sh\nprintf '\\0GITCRYPT\\0'; rot13() { tr a-z n-za-m; }; rot13\n",
    )
    .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let clean = format!("filter.git-crypt.clean={}", program.display());
    write(path, "vault/plain", "plain\n");
    git(path, &["-c", &clean, "add", "vault/plain"]);
    git(path, &["commit", "-q", "-m", "encrypted"]);
    let stored = git(path, &["show", "HEAD:vault/plain"]);
    assert_eq!(stored, "\0GITCRYPT\0cynva");
    assert_eq!(refused_in_commits(&world, &worktree).await, []);
}

#[tokio::test]
async fn text_is_committed_as_git_itself_would() {
    let world = World::new().await;
    let info = world.source().join(".git");
    write(&info, "info/attributes", "*.beside text eol=crlf\n");
    let attributes = "*.crlf text eol=crlf\n*.id ident\n*.wide working-tree-encoding=UTF-16\n";
    world.move_main(".gitattributes", attributes);
    let worktree = world.worktree().await;
    let path = worktree.path();
    let wide = |text: &str| -> Vec<u8> {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(u16::to_le_bytes).collect()
    };
    let fill = |path: &Path| {
        write(path, "x.crlf", "a\r\nb\r\n");
        write(path, "x.beside", "a\r\nb\r\n");
        write(path, "x.id", "$Id: 1234 $\n");
        fs::write(path.join("x.wide"), wide("größer\n")).unwrap();
    };
    fill(path);
    committed(worktree.commit(&message("Work")).await.unwrap());
    assert_eq!(git(path, &["show", "HEAD:x.wide"]), "größer");
    assert_eq!(refused_in_commits(&world, &worktree).await, []);
    let tree = git(path, &["rev-parse", "HEAD^{tree}"]);
    assert_eq!(git(path, &["status", "--porcelain"]), "");
    git(path, &["reset", "-q", "--hard", world.main().as_str()]);
    fill(path);
    commit_as_agent(path);
    assert_eq!(
        git(path, &["rev-parse", "HEAD^{tree}"]),
        tree,
        "as git itself"
    );

    // Another worktree has the files as they are written here.
    let base = worktree.head().unwrap();
    let repository = world.open().await;
    let two = workforce_git::Branch::new("feature/two").unwrap();
    let other = repository.add_worktree(Path::new("tickets/two"), &two, &base);
    let other = other.await.unwrap();
    for file in ["x.crlf", "x.beside", "x.wide"] {
        let (here, there) = (path.join(file), other.path().join(file));
        assert_eq!(fs::read(here).unwrap(), fs::read(there).unwrap(), "{file}");
    }
    assert_eq!(git(other.path(), &["status", "--porcelain"]), "");
    assert_eq!(branch().as_str(), "feature/one");

    fs::write(path.join("x.wide"), b"odd").unwrap();
    let expected = ("x.wide".to_owned(), Reason::Encoding("UTF-16".to_owned()));
    assert_eq!(refused(&worktree).await, [expected]);
}
