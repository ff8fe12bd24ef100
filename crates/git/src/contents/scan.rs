//! Finds what differs between a commit and the files of a worktree.
//!
//! The index and the settings of the worktree are the agent's: bits there can hide
//! changes. So the files are compared with a fresh index of the commit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::contents::filters::unfiltered;
use crate::contents::index::{forget, refresh};
use crate::contents::judge::judge;
use crate::contents::lfs::{clean, holding_objects};
use crate::contents::private_files::PrivateFiles;
use crate::contents::refusal::{Reason, Refusal};
use crate::contents::survey::{Found, look_at, tracked};
use crate::contents::walk::{Known, others};
use crate::error::Tried as _;
use crate::folder::path_of;
use crate::process::run_blocking;
use crate::program::{LIST_LIMIT, lossy, records};
use crate::view::View;
use crate::{CommitId, GitError};

/// So many files are put into an index by one command.
const ADDED_AT_ONCE: usize = 10_000;

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
    /// Those that are committed as pointers of Git LFS.
    lfs: BTreeSet<Vec<u8>>,
    /// How large the files are that may be committed.
    sizes: BTreeMap<Vec<u8>, u64>,
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

    /// Keeps the first changes that are so many files and bytes at most, and gives the
    /// others. What is gone is kept, and so is what is refused.
    pub(crate) fn keep_first(&mut self, files: usize, bytes: u64) -> Vec<(Vec<u8>, Status)> {
        let (mut count, mut total) = (0, 0_u64);
        let sizes = &self.sizes;
        let others = self
            .changes
            .extract_if(.., |path, _| match sizes.get(path) {
                Some(size) if count < files && total.saturating_add(*size) <= bytes => {
                    count += 1;
                    total += size;
                    false
                }
                size => size.is_some(),
            });
        others.collect()
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
    view.use_attributes().await?;
    view.read_tree(head.as_str()).await?;
    let tracked = tracked(view).await?;
    let known = Known::new(&tracked);
    let mut left_out: Vec<u8> = Vec::new();
    for (path, _) in tracked.iter().filter(|(_, entry)| entry.is_submodule) {
        left_out.extend_from_slice(path);
        left_out.push(0);
    }
    let mut found = look_at(files, tracked).await?;
    keep_unchanged(view, &mut found).await?;
    let others = others(view, files, known).await?;
    let mut scan = Scan::default();
    for path in found.gone.iter().chain(found.refused.keys()) {
        left_out.extend_from_slice(path);
        left_out.push(0);
    }
    forget(view, left_out).await?;
    scan.submodules = found.submodules;
    for path in found.gone {
        scan.changes.insert(path, Status::Deleted);
    }
    let entries = found.entries;
    let mut refused = found.refused;
    refused.extend(others.refused);
    for path in refused.keys() {
        let status = match entries.contains_key(path) {
            true => Status::Modified,
            false => Status::Added,
        };
        scan.changes.insert(path.clone(), status);
    }
    let mut candidates = Vec::new();
    if !others.stops_git {
        refresh(view, files).await?;
        for path in records(&modified(view, files).await?) {
            scan.changes.insert(path.to_vec(), Status::Modified);
            candidates.push(path.to_vec());
        }
    }
    for path in others.paths {
        scan.changes.insert(path.clone(), Status::Added);
        candidates.push(path);
    }
    let tracked = candidates.iter().filter_map(|path| {
        let id = String::from_utf8_lossy(entries.get(path)?);
        Some((path.clone(), id.split(' ').nth(1)?.to_owned()))
    });
    let unchanged = match others.stops_git {
        true => BTreeSet::new(),
        false => holding_objects(view, files, tracked.collect()).await?,
    };
    candidates.retain(|path| !unchanged.contains(path));
    scan.changes.retain(|path, _| !unchanged.contains(path));
    let judged = judge(files, candidates).await?;
    // Nobody is told of what is not there: a folder on the way may have been a link to
    // files that are not the agent's.
    for path in judged.missing {
        scan.changes.remove(&path);
    }
    refused.extend(judged.refused);
    scan.sizes = judged.sizes;
    if !others.stops_git {
        let changed = scan.sizes.keys().map(Vec::as_slice).collect();
        let filtered = unfiltered(view, head, files, &changed).await?;
        refused.extend(filtered.refused);
        scan.lfs = filtered.lfs;
        scan.sizes.retain(|path, _| !refused.contains_key(path));
    }
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

/// The paths of the index whose files are others.
async fn modified(view: &View, files: &Path) -> Result<Vec<u8>, GitError> {
    view.command_in("ls-files", files)
        .args(["-z", "--modified", "--deduplicate"])
        .stdout_limit(LIST_LIMIT)
        .output()
        .await
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
        if let Some(path) = copied.refused {
            let what = format!("{}, which changed meanwhile,", lossy(&path));
            return Err(GitError::Tampered { what });
        }
        let lfs = copied.paths.iter().filter(|path| scan.lfs.contains(*path));
        let lfs: Vec<_> = lfs
            .map(|path| copied.files.path().join(path_of(path)))
            .collect();
        let own = view.path().to_owned();
        let cleaning = run_blocking(move || lfs.iter().try_for_each(|file| clean(file, &own)));
        cleaning
            .await
            .tried(|| "make pointers of Git LFS".to_owned())?;
        // Each part has the time of a command.
        for part in copied.paths.chunks(ADDED_AT_ONCE) {
            view.command_in("update-index", copied.files.path())
                .args(["--ignore-submodules", "-z", "--add", "--stdin"])
                .input(part.join(&0))
                .output()
                .await?;
        }
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
