//! Finds what differs between a commit and the files of a worktree.
//!
//! The index and the settings of the worktree are the agent's: bits there can hide
//! changes. So the files are compared with a fresh index of the commit.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::Tried as _;
use crate::folder::{Folder, Kind, path_of};
use crate::index::refresh;
use crate::process::run_blocking;
use crate::program::{lossy, records};
use crate::refusal::{self, MAX_FILE, Reason, Refusal};
use crate::view::View;
use crate::{CommitId, GitError};

/// Lists of paths are read up to so many bytes.
const LIST_LIMIT: usize = 256 * 1024 * 1024;
/// The mode of a submodule.
const SUBMODULE: &[u8] = b"160000";
/// Git opens these wherever they are, and would wait for a pipe.
const READ_BY_GIT: [&str; 2] = [".gitignore", ".gitattributes"];

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
    refresh(view, files).await?;
    let printed = view
        .command_in("ls-files", files)
        .args(["-z", "-t", "--others", "--modified", "--exclude-standard"])
        .stdout_limit(LIST_LIMIT)
        .output()
        .await?;
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

/// Puts what was found into the index of the view, and makes a tree of it. What
/// is refused stays as it was in the commit, or out.
pub(crate) async fn stage(view: &View, files: &Path, scan: &Scan) -> Result<String, GitError> {
    let refused: BTreeSet<&str> = scan.refused.iter().map(|r| r.path.as_str()).collect();
    let mut add = Vec::new();
    for (path, status) in &scan.changes {
        if *status != Status::Deleted && !refused.contains(lossy(path).as_str()) {
            add.extend_from_slice(path);
            add.push(0);
        }
    }
    if !add.is_empty() {
        view.command_in("update-index", files)
            .args(["--ignore-submodules", "-z", "--add", "--stdin"])
            .input(add)
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

struct Tracked {
    is_submodule: bool,
    is_file: bool,
    entry: Vec<u8>,
}

/// The entries of the view's index, by path.
async fn tracked(view: &View) -> Result<BTreeMap<Vec<u8>, Tracked>, GitError> {
    let printed = view
        .command("ls-files")
        .args(["-s", "-z"])
        .stdout_limit(LIST_LIMIT)
        .output()
        .await?;
    let mut tracked = BTreeMap::new();
    for record in records(&printed) {
        let Some(tab) = record.iter().position(|&b| b == b'\t') else {
            continue;
        };
        let path = record[tab + 1..].to_vec();
        let mut entry = record.to_vec();
        entry.push(0);
        tracked.insert(
            path,
            Tracked {
                is_submodule: record.starts_with(SUBMODULE),
                is_file: record.starts_with(b"100"),
                entry,
            },
        );
    }
    Ok(tracked)
}

/// What a look at the files alone tells, before any of them is opened.
#[derive(Default)]
struct Found {
    gone: BTreeSet<Vec<u8>>,
    refused: BTreeMap<Vec<u8>, Reason>,
    /// Files that are larger than one may be, and may have been so before; with
    /// the id of what they were.
    large: Vec<(Vec<u8>, String, u64)>,
    submodules: Vec<u8>,
    /// What the index of the commit says of all other paths.
    entries: BTreeMap<Vec<u8>, Vec<u8>>,
}

async fn look_at(files: &Path, tracked: BTreeMap<Vec<u8>, Tracked>) -> Result<Found, GitError> {
    let files = files.to_owned();
    run_blocking(move || {
        let root = Folder::open(&files)?;
        let mut found = Found::default();
        let mut parent: (PathBuf, Option<Folder>) =
            (PathBuf::new(), Some(root.below(Path::new(""))?));
        for (path, entry) in tracked {
            if entry.is_submodule {
                found.submodules.extend_from_slice(&entry.entry);
                continue;
            }
            found.entries.insert(path.clone(), entry.entry.clone());
            let file = path_of(&path);
            let above = file.parent().unwrap_or(Path::new(""));
            // Paths come in their order, so that most have the folder of the last.
            if parent.0 != above {
                parent = (above.to_owned(), root.below(above).ok());
            }
            let stat = match &parent.1 {
                Some(folder) => folder.stat_of(file.file_name().unwrap_or_default())?,
                None => None,
            };
            match stat.as_ref().map(Kind::of) {
                None | Some(Kind::Folder) => {
                    found.gone.insert(path);
                }
                Some(Kind::Special) => {
                    found.refused.insert(path, Reason::SpecialFile);
                }
                Some(Kind::File) => {
                    let size = stat.map_or(0, |stat| stat.st_size.unsigned_abs());
                    if size > MAX_FILE && entry.is_file {
                        let id = String::from_utf8_lossy(&entry.entry);
                        let id = id.split(' ').nth(1).unwrap_or_default().to_owned();
                        found.large.push((path, id, size));
                    } else if size > MAX_FILE {
                        found.refused.insert(path, Reason::TooLarge);
                    }
                }
                Some(Kind::Link) => {}
            }
        }
        find_pipes(&root, Path::new(""), &mut found.refused)?;
        io::Result::Ok(found)
    })
    .await
    .tried(|| "look at the files of the worktree".to_owned())
}

/// Finds files that git would open without looking at what they are.
fn find_pipes(
    folder: &Folder,
    path: &Path,
    refused: &mut BTreeMap<Vec<u8>, Reason>,
) -> io::Result<()> {
    for name in folder.names()? {
        if name == ".git" {
            continue;
        }
        let at = path.join(&name);
        let is_read = READ_BY_GIT.iter().any(|read| name == *read);
        match folder.kind(&name)? {
            Some(Kind::Folder) => {
                // Git does not enter what is a repository of its own.
                if let Ok(child) = folder.child(&name)
                    && child.kind(OsStr::new(".git"))?.is_none()
                {
                    find_pipes(&child, &at, refused)?;
                }
            }
            Some(Kind::Special) if is_read => {
                refused.insert(
                    at.into_os_string().into_encoded_bytes(),
                    Reason::SpecialFile,
                );
            }
            _ => {}
        }
    }
    Ok(())
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
