//! Repositories of git, and what is in them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The files of a folder by their paths: what each is, and what it holds.
pub(super) type Files = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// Runs git as somebody of this machine, and gives what it printed.
#[track_caller]
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = try_git(folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {errors}");
    let printed = String::from_utf8(output.stdout).unwrap();
    printed.trim_end().to_owned()
}

/// The same for what may fail.
pub(super) fn try_git(folder: &Path, arguments: &[&str]) -> Output {
    Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "Ada")
        .env("GIT_AUTHOR_EMAIL", "ada@example.com")
        .env("GIT_COMMITTER_NAME", "Ada")
        .env("GIT_COMMITTER_EMAIL", "ada@example.com")
        .output()
        .unwrap()
}

/// Writes a file, with the folders above it.
pub(crate) fn write(folder: &Path, name: &str, content: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Makes a repository with one commit on `main`.
pub(crate) fn make_source(path: &Path) {
    fs::create_dir(path).unwrap();
    git(path, &["init", "-q", "-b", "main"]);
    write(path, "README.md", "hello\n");
    write(path, "src/lib.txt", "one\ntwo\nthree\n");
    write(path, ".gitignore", "target/\n");
    git(path, &["add", "."]);
    git(path, &["commit", "-q", "-m", "first"]);
}

/// Makes an empty bare repository with what a source has on `main`.
pub(crate) fn make_remote(source: &Path, remote: &Path) {
    fs::create_dir(remote).unwrap();
    git(remote, &["init", "-q", "-b", "main", "--bare"]);
    git(source, &["push", "-q", &file_url(remote), "main"]);
}

/// The address of a repository on this machine.
pub(crate) fn file_url(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// Commits a file to a branch of a bare repository, as somebody else does.
pub(super) fn commit_at(remote: &Path, branch: &str, name: &str, content: &str) {
    let clone = tempfile::tempdir().unwrap();
    let address = file_url(remote);
    git(
        clone.path(),
        &["clone", "-q", "--branch", branch, &address, "."],
    );
    write(clone.path(), name, content);
    git(clone.path(), &["add", "."]);
    git(clone.path(), &["commit", "-q", "-m", "of somebody else"]);
    git(clone.path(), &["push", "-q", "origin", branch]);
}

/// The refs of a repository with their commits, but for those below a prefix.
pub(super) fn refs_but(repository: &Path, prefix: &str) -> BTreeMap<String, String> {
    let printed = git(
        repository,
        &["for-each-ref", "--format=%(refname) %(objectname)"],
    );
    let refs = printed.lines().filter_map(|line| line.split_once(' '));
    refs.filter(|(name, _)| !name.starts_with(prefix))
        .map(|(name, commit)| (name.to_owned(), commit.to_owned()))
        .collect()
}

/// Everything below a folder, but for paths that begin with one of `without`.
pub(super) fn files(folder: &Path, without: &[&str]) -> Files {
    let mut found = Files::new();
    collect(folder, Path::new(""), without, &mut found);
    found
}

fn collect(folder: &Path, below: &Path, without: &[&str], found: &mut Files) {
    for entry in fs::read_dir(folder.join(below)).unwrap() {
        let path = below.join(entry.unwrap().file_name());
        if without.iter().any(|without| path.starts_with(without)) {
            continue;
        }
        let full = folder.join(&path);
        let metadata = fs::symlink_metadata(&full).unwrap();
        let mode = metadata.permissions().mode();
        let content = if metadata.is_dir() {
            collect(folder, &path, without, found);
            Vec::new()
        } else if metadata.is_symlink() {
            let target = fs::read_link(&full).unwrap();
            target.into_os_string().into_encoded_bytes()
        } else {
            fs::read(&full).unwrap()
        };
        found.insert(path, (mode, content));
    }
}

/// The paths in which two folders differ.
pub(super) fn differences(before: &Files, after: &Files) -> Vec<PathBuf> {
    let names = before.keys().chain(after.keys());
    let mut differing: Vec<PathBuf> = names
        .filter(|name| before.get(*name) != after.get(*name))
        .cloned()
        .collect();
    differing.dedup();
    differing.sort();
    differing.dedup();
    differing
}

/// What a source must keep while a ticket on `feature/...` is worked on: files,
/// index, head, settings, hooks and every other ref.
pub(super) fn untouchable(source: &Path) -> Files {
    files(
        source,
        &[
            ".git/objects",
            ".git/refs/heads/feature",
            ".git/logs/refs/heads/feature",
            ".git/worktrees",
        ],
    )
}
