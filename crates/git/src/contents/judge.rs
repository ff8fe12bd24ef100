//! Decides by name, size and content which files of a worktree must not be committed.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::Path;

use crate::GitError;
use crate::contents::private_key::find_private_key;
use crate::contents::refusal::{MAX_CHANGED, MAX_FILE, Reason, by_name};
use crate::error::Tried as _;
use crate::folder::{Folder, Kind, path_of};
use crate::process::run_blocking;

/// What became of the files that were looked at.
#[derive(Default)]
pub(crate) struct Judged {
    pub(crate) refused: BTreeMap<Vec<u8>, Reason>,
    /// How large the others are.
    pub(crate) sizes: BTreeMap<Vec<u8>, u64>,
    /// No file and no link stands there.
    pub(crate) missing: Vec<Vec<u8>>,
}

/// Looks at the files of a worktree.
pub(crate) async fn judge(files: &Path, candidates: Vec<Vec<u8>>) -> Result<Judged, GitError> {
    let files = files.to_owned();
    run_blocking(move || {
        let folder = Folder::open(&files)?;
        let mut judged = Judged::default();
        let mut sizes = Vec::new();
        for candidate in candidates {
            let path = path_of(&candidate);
            let reason = match size(&folder, &path) {
                Err(_) => Some(Reason::Unreadable),
                Ok(Size::Missing) => {
                    judged.missing.push(candidate);
                    continue;
                }
                Ok(Size::Refused(reason)) => by_name(&path).or(Some(reason)),
                Ok(Size::Bytes(size)) => match by_name(&path) {
                    None => {
                        sizes.push((size, candidate));
                        continue;
                    }
                    named => named,
                },
            };
            judged
                .refused
                .extend(reason.map(|reason| (candidate, reason)));
        }
        sizes.sort_unstable();
        let mut total = 0_u64;
        for (size, candidate) in sizes {
            total = total.saturating_add(size);
            let reason = match total > MAX_CHANGED {
                true => Some(Reason::TooMuch),
                false => by_content(&folder, &path_of(&candidate)),
            };
            match reason {
                Some(reason) => drop(judged.refused.insert(candidate, reason)),
                None => drop(judged.sizes.insert(candidate, size)),
            }
        }
        io::Result::Ok(judged)
    })
    .await
    .tried(|| "look at the changed files".to_owned())
}

enum Size {
    Missing,
    Refused(Reason),
    Bytes(u64),
}

fn size(folder: &Folder, path: &Path) -> io::Result<Size> {
    let Some(parent) = folder.find(path.parent().unwrap_or(Path::new("")))? else {
        return Ok(Size::Missing);
    };
    let Some(stat) = parent.stat_of(path.file_name().unwrap_or_default())? else {
        return Ok(Size::Missing);
    };
    Ok(match (Kind::of(&stat), stat.st_size.unsigned_abs()) {
        (Kind::Folder, _) => Size::Missing,
        (Kind::Special, _) => Size::Refused(Reason::SpecialFile),
        (Kind::Link, _) => Size::Bytes(0),
        (Kind::File, size) if size > MAX_FILE => Size::Refused(Reason::TooLarge),
        (Kind::File, size) => Size::Bytes(size),
    })
}

/// Why a file is refused by what it holds.
pub(crate) fn by_content(folder: &Folder, path: &Path) -> Option<Reason> {
    look(folder, path).unwrap_or(Some(Reason::Unreadable))
}

fn look(folder: &Folder, path: &Path) -> io::Result<Option<Reason>> {
    let parent = folder.below(path.parent().unwrap_or(Path::new("")))?;
    let name = path.file_name().unwrap_or_default();
    if parent.kind(name)? == Some(Kind::Link) {
        return Ok(None);
    }
    let Some(file) = parent.open_file(name)? else {
        return Ok(Some(Reason::Unreadable));
    };
    // It may grow while it is read.
    let (size, is_found) = find_private_key(file.take(MAX_FILE + 1))?;
    Ok(match (is_found, size > MAX_FILE) {
        (true, _) => Some(Reason::PrivateKey),
        (false, true) => Some(Reason::TooLarge),
        (false, false) => None,
    })
}
