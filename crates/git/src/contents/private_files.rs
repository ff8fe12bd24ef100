//! Files that git reads and writes for a worktree lie in a folder of the server's own.
//!
//! Git opens files by their path. Where somebody else may exchange a file, or a folder
//! above it, for a link between a look and its use, it would read or write what the
//! link leads to. So git works in a folder where nobody else writes, and files are
//! carried between the two through open folders.

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::GitError;
use crate::contents::judge::by_content;
use crate::contents::refusal::{MAX_CHANGED, MAX_FILE};
use crate::error::Tried as _;
use crate::folder::{Folder, Kind, path_of};
use crate::process::run_blocking;
use crate::view::View;

/// A folder of files for a moment.
pub(crate) struct PrivateFiles(TempDir);

/// What became of files that were to be copied.
pub(crate) struct Copied {
    /// The copies.
    pub(crate) files: PrivateFiles,
    /// The paths that are among them.
    pub(crate) paths: Vec<Vec<u8>>,
    /// The first that must not be committed, as the copy shows. Nothing is copied after it.
    pub(crate) refused: Option<Vec<u8>>,
}

impl PrivateFiles {
    /// An empty folder.
    pub(crate) fn new(view: &View) -> Result<Self, GitError> {
        let made = tempfile::Builder::new()
            .prefix("view-files-")
            .tempdir_in(view.folder_of_views());
        made.map(Self).tried(|| "make a scratch folder".to_owned())
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Copies files and links of a worktree. What is neither any more is left out.
    pub(crate) async fn copy(
        view: &View,
        from: &Path,
        paths: Vec<Vec<u8>>,
    ) -> Result<Copied, GitError> {
        let files = Self::new(view)?;
        let from = from.to_owned();
        run_blocking(move || {
            let (worktree, own) = (Folder::open(&from)?, Folder::open(files.path())?);
            let mut copied = Copied {
                files,
                paths: Vec::new(),
                refused: None,
            };
            let mut rest = MAX_CHANGED;
            for path in paths {
                let file = path_of(&path);
                // A file may grow while it is copied.
                let limit = rest.min(MAX_FILE) + 1;
                let Some(size) = copy_one(&worktree, &file, &own, limit)? else {
                    continue;
                };
                rest = rest.saturating_sub(size);
                let is_refused = size == limit || by_content(&own, &file).is_some();
                if is_refused {
                    copied.refused = Some(path);
                    break;
                }
                copied.paths.push(path);
            }
            io::Result::Ok(copied)
        })
        .await
        .tried(|| "copy the changed files".to_owned())
    }

    /// Moves files into a worktree, over those that stand there.
    pub(crate) async fn hand_over(self, to: &Path, paths: Vec<Vec<u8>>) -> Result<(), GitError> {
        let to = to.to_owned();
        run_blocking(move || {
            let (own, worktree) = (Folder::open(self.path())?, Folder::open(&to)?);
            for path in paths {
                let file: PathBuf = path_of(&path);
                let (above, name) = split(&file);
                let from = own.below(above)?;
                match from.kind(name)? {
                    None => {}
                    // A submodule, whatever is in it.
                    Some(Kind::Folder) => drop(worktree.below_or_new(&file, 0o777)?),
                    Some(_) => from.hand_over(name, &worktree.below_or_new(above, 0o777)?)?,
                }
            }
            io::Result::Ok(())
        })
        .await
        .tried(|| "write the files of the worktree".to_owned())
    }
}

fn copy_one(worktree: &Folder, file: &Path, own: &Folder, limit: u64) -> io::Result<Option<u64>> {
    let (above, name) = split(file);
    let Some(from) = worktree.find(above)? else {
        return Ok(None);
    };
    from.copy(name, &own.below_or_new(above, 0o700)?, name, limit)
}

fn split(file: &Path) -> (&Path, &std::ffi::OsStr) {
    let above = file.parent().unwrap_or(Path::new(""));
    (above, file.file_name().unwrap_or_default())
}
