//! Brings the files of a worktree from one commit to another.
//!
//! A note outside of the agent's reach says that this was begun. As long as it is
//! there, each path that differs between the two commits is taken on its own: one
//! that is still as before, missing, or half written is written; one that is as it
//! will be is left; and so is one that is neither, which an agent changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::contents::index::refresh;
use crate::contents::lfs::holding_objects;
use crate::contents::private_files::PrivateFiles;
use crate::error::Tried as _;
use crate::folder::{Folder, Kind, path_of};
use crate::program::{LIST_LIMIT, records};
use crate::view::View;
use crate::{CommitId, GitError, Worktree};

use super::paths::{is_free, kind_at, remove_at};
use super::{Admin, Pending};

/// A file that is compared to tell whether it is half written has at most this
/// size.
const MAX_COMPARED: usize = 256 * 1024 * 1024;

/// A path that differs between two trees.
struct Difference {
    path: Vec<u8>,
    old: Option<Entry>,
    new: Option<Entry>,
}

/// A file of a tree.
struct Entry {
    mode: String,
    id: String,
}

impl Worktree {
    /// Brings what was begun to its end.
    pub(crate) async fn finish_pending(&self) -> Result<(), GitError> {
        let Some(pending) = self.pending()? else {
            return Ok(());
        };
        let head = self.head()?;
        let view = View::new(&self.repository, Some(&head)).await?;
        // The branch moves before any file does.
        let is_begun = pending.old.is_none()
            || head == pending.new
            || view.is_ancestor(&pending.new, &head).await.unwrap_or(false);
        if is_begun {
            view.use_attributes().await?;
            let admin = self.admin_on_branch()?;
            self.write_files(&view, &pending).await?;
            self.write_index(&view, &head, &admin).await?;
        }
        self.forget_pending()
    }

    /// Makes the index of the worktree that of a commit, so that `git status`
    /// tells what differs from it.
    pub(crate) async fn write_index(
        &self,
        view: &View,
        head: &CommitId,
        admin: &Admin,
    ) -> Result<(), GitError> {
        view.read_tree(head.as_str()).await?;
        refresh(view, self.path()).await?;
        self.place_index(view, admin)
    }

    /// Puts the index of a view in the place of the worktree's.
    pub(crate) fn place_index(&self, view: &View, admin: &Admin) -> Result<(), GitError> {
        crate::contents::index::place(view, admin.folder())
            .tried(|| format!("write the index of {}", self.path().display()))
    }

    async fn write_files(&self, view: &View, pending: &Pending) -> Result<(), GitError> {
        let differences = differences(view, pending).await?;
        let not_old = self
            .differing(view, &differences, |d| d.old.as_ref())
            .await?;
        let not_new = self
            .differing(view, &differences, |d| d.new.as_ref())
            .await?;
        let folder = self.folder()?;
        let mut write = Vec::new();
        let mut remove = Vec::new();
        for difference in &differences {
            let path = &difference.path;
            let kind = kind_at(&folder, path).tried(|| self.writing())?;
            if difference.new.is_none() {
                if kind.is_some() && !not_old.contains(path) {
                    remove.push(path);
                }
                continue;
            }
            let is_untouched = kind.is_none()
                || (difference.old.is_some() && !not_old.contains(path))
                || (not_new.contains(path) && self.is_torn(view, &folder, difference).await?);
            if not_new.contains(path) && is_untouched {
                write.push(path);
            }
        }
        for path in remove {
            remove_at(&folder, path).tried(|| self.writing())?;
        }
        view.read_tree(pending.new.as_str()).await?;
        let mut written = Vec::new();
        for path in write {
            // What an agent put in the way since is left, and counts as a change.
            if is_free(&folder, path, &BTreeSet::new()).tried(|| self.writing())? {
                written.push(path.clone());
            }
        }
        if written.is_empty() {
            return Ok(());
        }
        let files = PrivateFiles::new(view)?;
        view.command_in("checkout-index", files.path())
            .args(["--force", "-z", "--stdin"])
            .input(written.join(&0))
            .output()
            .await?;
        files.hand_over(self.path(), written).await
    }

    fn writing(&self) -> String {
        format!("write the files of {}", self.path().display())
    }

    /// The paths whose file is not that of one side. Missing files are among them.
    async fn differing(
        &self,
        view: &View,
        differences: &[Difference],
        side: impl Fn(&Difference) -> Option<&Entry>,
    ) -> Result<BTreeSet<Vec<u8>>, GitError> {
        let _ = std::fs::remove_file(view.index());
        let mut entries = Vec::new();
        let folder = self.folder()?;
        let mut found = BTreeSet::new();
        for difference in differences {
            let Some(entry) = side(difference) else {
                continue;
            };
            let kind = kind_at(&folder, &difference.path).tried(|| self.writing())?;
            let is_link = entry.mode == "160000";
            match kind {
                // A submodule is a folder, whatever is in it.
                Some(Kind::Folder) if is_link => {}
                Some(Kind::File | Kind::Link) if !is_link => {
                    entries.extend_from_slice(format!("{} {}\t", entry.mode, entry.id).as_bytes());
                    entries.extend_from_slice(&difference.path);
                    entries.push(0);
                }
                _ => {
                    found.insert(difference.path.clone());
                }
            }
        }
        if entries.is_empty() {
            return Ok(found);
        }
        view.command("update-index")
            .args(["-z", "--index-info"])
            .input(entries)
            .output()
            .await?;
        refresh(view, self.path()).await?;
        let printed = view
            .command_in("diff-files", self.path())
            .args(["--name-only", "-z", "--ignore-submodules=all"])
            .stdout_limit(LIST_LIMIT)
            .output()
            .await?;
        let differing: BTreeSet<&[u8]> = records(&printed).collect();
        let entries = differences.iter().filter_map(|difference| {
            let id = &side(difference)?.id;
            let path = &difference.path;
            differing
                .contains(path.as_slice())
                .then(|| (path.clone(), id.clone()))
        });
        let same = holding_objects(view, self.path(), entries.collect()).await?;
        let differing = differing.into_iter().filter(|path| !same.contains(*path));
        found.extend(differing.map(<[u8]>::to_vec));
        Ok(found)
    }

    /// True if a file is the beginning of what it is to become.
    async fn is_torn(
        &self,
        view: &View,
        folder: &Folder,
        difference: &Difference,
    ) -> Result<bool, GitError> {
        let Some(entry) = difference
            .new
            .as_ref()
            .filter(|new| new.mode.starts_with("100"))
        else {
            return Ok(false);
        };
        let path = path_of(&difference.path);
        let parent = folder.below(path.parent().unwrap_or(Path::new("")));
        let name = path.file_name().unwrap_or_default();
        let Ok(found) =
            parent.and_then(|parent| parent.read(&name.to_string_lossy(), MAX_COMPARED))
        else {
            return Ok(false);
        };
        let mut filtered = std::ffi::OsString::from("--path=");
        filtered.push(&path);
        let whole = view
            .command_in("cat-file", self.path())
            .arg("--filters")
            .arg(filtered)
            .arg(&entry.id)
            .stdout_limit(MAX_COMPARED)
            .output()
            .await?;
        Ok(found.is_some_and(|found| whole.starts_with(&found)))
    }
}

async fn differences(view: &View, pending: &Pending) -> Result<Vec<Difference>, GitError> {
    let format = view.repository().format();
    let old = pending
        .old
        .as_ref()
        .map_or(format.empty_tree(), CommitId::as_str);
    let printed = view
        .command("diff-tree")
        .args(["-r", "-z", "--raw", "--no-renames", "--full-index"])
        .args([old, pending.new.as_str()])
        .stdout_limit(LIST_LIMIT)
        .output()
        .await?;
    let mut found = BTreeMap::new();
    let mut records = records(&printed);
    while let (Some(header), Some(path)) = (records.next(), records.next()) {
        let header = String::from_utf8_lossy(header);
        let words: Vec<_> = header.trim_start_matches(':').split(' ').collect();
        let [old_mode, new_mode, old_id, new_id, ..] = words.as_slice() else {
            continue;
        };
        let entry = |mode: &str, id: &str| {
            (mode != "000000").then(|| Entry {
                mode: mode.to_owned(),
                id: id.to_owned(),
            })
        };
        let difference = Difference {
            path: path.to_vec(),
            old: entry(old_mode, old_id),
            new: entry(new_mode, new_id),
        };
        found.insert(path.to_vec(), difference);
    }
    Ok(found.into_values().collect())
}
