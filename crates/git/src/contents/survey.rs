//! Looks at the files that a commit has without git, which would wait for a pipe, and
//! would read a file of any size.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::GitError;
use crate::contents::refusal::{MAX_FILE, Reason, by_git_reading};
use crate::error::Tried as _;
use crate::folder::{Folder, Kind, path_of};
use crate::process::run_blocking;
use crate::program::{LIST_LIMIT, records};
use crate::view::View;

/// The mode of a submodule.
const SUBMODULE: &[u8] = b"160000";

/// Where attributes stand in a folder.
pub(crate) const ATTRIBUTES: &str = ".gitattributes";

/// An entry of the index of a commit.
pub(crate) struct Tracked {
    pub(crate) is_submodule: bool,
    is_file: bool,
    entry: Vec<u8>,
}

/// The entries of the view's index, by path.
pub(crate) async fn tracked(view: &View) -> Result<BTreeMap<Vec<u8>, Tracked>, GitError> {
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
pub(crate) struct Found {
    pub(crate) gone: BTreeSet<Vec<u8>>,
    pub(crate) refused: BTreeMap<Vec<u8>, Reason>,
    /// Files that are larger than one may be, and may have been so before; with
    /// the id of what they were.
    pub(crate) large: Vec<(Vec<u8>, String, u64)>,
    pub(crate) submodules: Vec<u8>,
    /// What the index of the commit says of all other paths.
    pub(crate) entries: BTreeMap<Vec<u8>, Vec<u8>>,
}

/// Looks at the files that the commit has, without opening any.
pub(crate) async fn look_at(
    files: &Path,
    tracked: BTreeMap<Vec<u8>, Tracked>,
) -> Result<Found, GitError> {
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
        io::Result::Ok(found)
    })
    .await
    .tried(|| "look at the files of the worktree".to_owned())
}

/// Fails if git, once it looks at the files of the view's index, would wait for their
/// attributes or read them whole.
pub(crate) async fn need_plain_attributes(view: &View, files: &Path) -> Result<(), GitError> {
    let (files, tracked) = (files.to_owned(), tracked(view).await?);
    let refused = run_blocking(move || {
        let root = Folder::open(&files)?;
        let mut seen = BTreeSet::new();
        for path in tracked.keys().map(|path| path_of(path)) {
            for above in path.ancestors().skip(1) {
                if !seen.insert(above.to_owned()) {
                    break;
                }
                let name = OsStr::new(ATTRIBUTES);
                if let Ok(folder) = root.below(above)
                    && let Some(kind) = folder.kind(name)?
                    && let Some(reason) = by_git_reading(&folder, name, kind)?
                {
                    return Ok(Some((above.join(name), reason)));
                }
            }
        }
        io::Result::Ok(None)
    });
    let refused = refused.await.tried(|| "look for attributes".to_owned())?;
    match refused {
        None => Ok(()),
        Some((path, reason)) => Err(GitError::tampered(format!("{} ({reason})", path.display()))),
    }
}
