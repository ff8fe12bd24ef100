//! Finds what differs between a commit and the files of a worktree.
//!
//! The index and the settings of the worktree are the agent's: bits there can hide
//! changes. So the files are compared with a fresh index of the commit.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use crate::error::Tried as _;
use crate::folder::{Folder, path_of};
use crate::index::refresh;
use crate::private_files::PrivateFiles;
use crate::process::run_blocking;
use crate::program::{LIST_LIMIT, lossy, records};
use crate::refusal::{self, Reason, Refusal};
use crate::survey::{Found, look_at, tracked};
use crate::view::View;
use crate::{CommitId, GitError};

/// What happened to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is new.
    Added,
    /// Its content or kind is another.
    Modified,
    /// It is gone.
    Deleted,
    /// It had another name. Only between commits.
    Renamed,
}

/// What differs, and what of it is not committed.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) changes: BTreeMap<Vec<u8>, Status>,
    pub(crate) refused: Vec<Refusal>,
    /// What is put into the index again before a tree is made of it.
    submodules: Vec<u8>,
    /// Entries of the commit whose file is refused.
    refused_entries: Vec<u8>,
}

impl Scan {
    /// Leaves what is refused as it was in the commit, for [`stage`].
    pub(crate) fn keep_refused(&mut self) {
        self.submodules.append(&mut self.refused_entries);
    }

    pub(crate) fn paths(&self, limit: usize) -> Vec<String> {
        self.changes
            .keys()
            .take(limit)
            .map(|path| lossy(path))
            .collect()
    }
}

/// Compares the files in a folder with a commit. The index of the view is then
/// that of the commit without submodules and without what is gone.
pub(crate) async fn scan(view: &View, head: &CommitId, files: &Path) -> Result<Scan, GitError> {
    view.read_tree(head.as_str()).await?;
    let tracked = tracked(view).await?;
    let submodules: BTreeSet<Vec<u8>> = tracked
        .iter()
        .filter(|(_, entry)| entry.is_submodule)
        .map(|(path, _)| path.clone())
        .collect();
    let mut found = look_at(files, tracked).await?;
    keep_unchanged(view, &mut found).await?;
    let mut scan = Scan::default();
    let mut left_out: Vec<u8> = Vec::new();
    for path in submodules
        .iter()
        .chain(&found.gone)
        .chain(found.refused.keys())
    {
        left_out.extend_from_slice(path);
        left_out.push(0);
    }
    scan.submodules = found.submodules;
    for path in found.gone {
        scan.changes.insert(path, Status::Deleted);
    }
    let mut refused = found.refused;
    for path in refused.keys() {
        scan.changes.insert(path.clone(), Status::Modified);
    }
    let entries = found.entries;
    forget(view, left_out).await?;
    let printed = if found.stops_git {
        Vec::new()
    } else {
        refresh(view, files).await?;
        found
            .special
            .retain(|path| !is_submodule(path, &submodules));
        for path in not_ignored(view, files, found.special).await? {
            scan.changes.insert(path.clone(), Status::Added);
            refused.insert(path, Reason::SpecialFile);
        }
        list(view, files).await?
    };
    let mut candidates = Vec::new();
    for record in records(&printed) {
        let (tag, path) = record.split_at(record.len().min(2));
        if is_submodule(path, &submodules) || refused.contains_key(path) {
            continue;
        }
        let was_there = scan.changes.contains_key(path);
        let is_new = tag.first() == Some(&b'?') && !was_there;
        let status = if is_new {
            Status::Added
        } else {
            Status::Modified
        };
        scan.changes.insert(path.to_vec(), status);
        candidates.push(path.to_vec());
    }
    refused.extend(judge(files, candidates).await?);
    for path in refused.keys() {
        if let Some(entry) = entries.get(path) {
            scan.refused_entries.extend_from_slice(entry);
        }
    }
    scan.refused = refused
        .into_iter()
        .map(|(path, reason)| Refusal {
            path: lossy(&path),
            reason,
        })
        .collect();
    Ok(scan)
}

/// The paths that are modified or unknown, each after a letter for which.
async fn list(view: &View, files: &Path) -> Result<Vec<u8>, GitError> {
    view.command_in("ls-files", files)
        .args(["-z", "-t", "--others", "--modified", "--exclude-standard"])
        .stdout_limit(LIST_LIMIT)
        .output()
        .await
}

/// Those of some paths that no `.gitignore` names.
async fn not_ignored(
    view: &View,
    files: &Path,
    mut paths: Vec<Vec<u8>>,
) -> Result<Vec<Vec<u8>>, GitError> {
    if paths.is_empty() {
        return Ok(paths);
    }
    // A name that begins with a colon would be more than a name.
    let plain = |path: &Vec<u8>| [b"./", path.as_slice()].concat();
    let input: Vec<_> = paths.iter().map(plain).collect();
    let output = view
        .command_in("check-ignore", files)
        // It takes names alone, and refuses to be told so.
        .env("GIT_LITERAL_PATHSPECS", "0")
        .args(["--no-index", "-z", "--stdin"])
        .input(input.join(&0))
        .stdout_limit(LIST_LIMIT)
        .run()
        .await?;
    // It says by its exit code whether any is ignored.
    if !matches!(output.code, Some(0 | 1)) {
        return Err(output.failed("check-ignore"));
    }
    let ignored: BTreeSet<&[u8]> = records(&output.stdout).collect();
    paths.retain(|path| !ignored.contains(plain(path).as_slice()));
    Ok(paths)
}

/// Puts what was found into the index of the view, and makes a tree of it. What
/// is refused stays as it was in the commit, or out.
pub(crate) async fn stage(view: &View, files: &Path, scan: &Scan) -> Result<String, GitError> {
    let refused: BTreeSet<&str> = scan.refused.iter().map(|r| r.path.as_str()).collect();
    let mut add = Vec::new();
    for (path, status) in &scan.changes {
        if *status != Status::Deleted && !refused.contains(lossy(path).as_str()) {
            add.push(path.clone());
        }
    }
    if !add.is_empty() {
        let copied = PrivateFiles::copy(view, files, add).await?;
        if let Some(path) = copied.refused.keys().next() {
            let what = format!("{}, which changed meanwhile,", lossy(path));
            return Err(GitError::Tampered { what });
        }
        view.command_in("update-index", copied.files.path())
            .args(["--ignore-submodules", "-z", "--add", "--stdin"])
            .input(copied.paths.join(&0))
            .output()
            .await?;
    }
    if !scan.submodules.is_empty() {
        view.command("update-index")
            .args(["-z", "--index-info"])
            .input(scan.submodules.clone())
            .output()
            .await?;
    }
    view.write_tree().await
}

/// Refuses large files that have not the size that they had.
async fn keep_unchanged(view: &View, found: &mut Found) -> Result<(), GitError> {
    for (path, id, size) in std::mem::take(&mut found.large) {
        let before = view.command("cat-file").args(["-s", &id]).text().await?;
        if before.parse() != Ok(size) {
            found.refused.insert(path, Reason::TooLarge);
        }
    }
    Ok(())
}

/// Takes paths out of the index, whatever is in the folder.
async fn forget(view: &View, paths: Vec<u8>) -> Result<(), GitError> {
    if paths.is_empty() {
        return Ok(());
    }
    view.command("update-index")
        .args(["--force-remove", "-z", "--stdin"])
        .input(paths)
        .output()
        .await?;
    Ok(())
}

/// True for a submodule, and for what lies in it.
fn is_submodule(path: &[u8], submodules: &BTreeSet<Vec<u8>>) -> bool {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    submodules.contains(path)
        || path
            .iter()
            .enumerate()
            .any(|(at, &b)| b == b'/' && submodules.contains(&path[..at]))
}

async fn judge(
    files: &Path,
    candidates: Vec<Vec<u8>>,
) -> Result<BTreeMap<Vec<u8>, Reason>, GitError> {
    let files = files.to_owned();
    run_blocking(move || {
        let folder = Folder::open(&files)?;
        let mut refused = BTreeMap::new();
        for candidate in candidates {
            let path = path_of(&candidate);
            let reason = if candidate.ends_with(b"/") {
                Some(Reason::NestedRepository)
            } else {
                refusal::by_name(&path).or_else(|| refusal::by_content(&folder, &path))
            };
            if let Some(reason) = reason {
                refused.insert(candidate, reason);
            }
        }
        io::Result::Ok(refused)
    })
    .await
    .tried(|| "look at the changed files".to_owned())
}
