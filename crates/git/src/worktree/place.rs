//! A place below the managed root.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::error::Tried as _;
use crate::folder::{Folder, Kind};
use crate::{Git, GitError};

/// Folders above worktrees are for the server alone.
const PRIVATE: u32 = 0o700;

/// Where a worktree is or will be: a path below the managed root, on which no
/// symbolic link is followed.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    root: PathBuf,
    /// Below the root.
    parents: PathBuf,
    name: OsString,
    path: PathBuf,
}

impl Place {
    /// Takes a path below the root, absolute or from the root on.
    pub(crate) fn new(git: &Git, path: &Path) -> Result<Self, GitError> {
        let root = &git.settings().managed_root;
        let outside = || GitError::OutsideRoot {
            path: path.to_owned(),
        };
        let below = if path.is_absolute() {
            path.strip_prefix(root).map_err(|_prefix| outside())?
        } else {
            path
        };
        let is_plain = below
            .components()
            .all(|component| matches!(component, Component::Normal(_)));
        // A line ends the path in the files of git.
        let has_line = below.as_os_str().as_encoded_bytes().contains(&b'\n');
        let name = below.file_name().filter(|_| is_plain && !has_line);
        let name = name.ok_or_else(outside)?;
        if name.as_encoded_bytes().starts_with(b".") {
            return Err(outside());
        }
        let parents = below.parent().unwrap_or(Path::new(""));
        Ok(Self {
            root: root.clone(),
            parents: parents.to_owned(),
            name: name.to_owned(),
            path: root.join(below),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// The folder; none if nothing stands there.
    pub(crate) fn open(&self) -> Result<Option<Folder>, GitError> {
        let Some(parent) = self.parent()? else {
            return Ok(None);
        };
        match parent.kind(&self.name).tried(|| self.opening())? {
            None => Ok(None),
            Some(Kind::Folder) => parent.child(&self.name).map(Some).tried(|| self.opening()),
            Some(_) => Err(GitError::tampered(format!(
                "{} (it is no folder)",
                self.path.display()
            ))),
        }
    }

    fn opening(&self) -> String {
        format!("open {}", self.path.display())
    }

    /// The folder above; none if it is missing.
    pub(crate) fn parent(&self) -> Result<Option<Folder>, GitError> {
        let root = Folder::open(&self.root).tried(|| self.opening())?;
        match root.below(&self.parents) {
            Ok(parent) => Ok(Some(parent)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(GitError::tampered(format!(
                "the way to {} ({error})",
                self.path.display()
            ))),
        }
    }

    /// The folder above, made if it is missing.
    pub(crate) fn make_parent(&self) -> Result<Folder, GitError> {
        let root = Folder::open(&self.root).tried(|| self.opening())?;
        root.below_or_new(&self.parents, PRIVATE).map_err(|error| {
            GitError::tampered(format!("the way to {} ({error})", self.path.display()))
        })
    }

    /// Makes the folder itself.
    pub(crate) fn make(&self, parent: &Folder) -> Result<Folder, GitError> {
        parent
            .new_child(&self.name, PRIVATE)
            .tried(|| format!("make {}", self.path.display()))
    }

    /// Moves what stands there to `<name>.quarantine-<n>`, and says where it is.
    pub(crate) fn quarantine(&self, parent: &Folder) -> Result<PathBuf, GitError> {
        for n in 1..u32::MAX {
            let mut name = self.name.clone();
            name.push(format!(".quarantine-{n}"));
            match parent.rename_new(&self.name, parent, &name) {
                Ok(()) => return Ok(self.path.with_file_name(name)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                // A folder is not moved over a folder that is not empty.
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                Err(error) => {
                    return Err(error).tried(|| format!("put {} aside", self.path.display()));
                }
            }
        }
        Err(GitError::tampered(format!(
            "the folder of {}",
            self.path.display()
        )))
    }
}
