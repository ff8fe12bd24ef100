//! What a repository keeps about each of its worktrees: the folders in
//! `worktrees/`.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::error::Tried as _;
use crate::folder::{Folder, Kind, path_of};
use crate::program::lossy;
use crate::worktree::settings;
use crate::{Branch, GitError, Repository};

const WORKTREES: &str = "worktrees";
/// The files there are one line each.
const MAX_LINE: usize = 8192;

/// The folder about one worktree.
#[derive(Debug)]
pub(crate) struct Admin {
    folder: Folder,
    name: OsString,
    /// The folder of the files, as it says.
    files: PathBuf,
}

impl Admin {
    /// The folder about the worktree at a path. Both must point to each other.
    pub(crate) fn of(
        repository: &Repository,
        path: &Path,
        files: &Folder,
    ) -> Result<Option<Self>, GitError> {
        let Ok(Some(text)) = files.read(".git", MAX_LINE) else {
            return Ok(None);
        };
        let Some(target) = text.strip_prefix(b"gitdir: ") else {
            return Ok(None);
        };
        let target = path.join(path_of(target.trim_ascii_end()));
        let all = repository.common_dir().join(WORKTREES);
        let name = target.file_name().filter(|_| target.parent() == Some(&all));
        let Some(name) = name else { return Ok(None) };
        let admin = Self::named(repository, name)?;
        Ok(admin.filter(|admin| admin.files == path))
    }

    /// Where it lies.
    pub(crate) fn path(&self, repository: &Repository) -> PathBuf {
        repository.common_dir().join(WORKTREES).join(&self.name)
    }

    fn named(repository: &Repository, name: &OsStr) -> Result<Option<Self>, GitError> {
        let opened = repository
            .folder()
            .child(OsStr::new(WORKTREES))
            .and_then(|all| all.child(name));
        let Ok(folder) = opened else { return Ok(None) };
        let Ok(Some(text)) = folder.read("gitdir", MAX_LINE) else {
            return Ok(None);
        };
        let entry = repository
            .common_dir()
            .join(WORKTREES)
            .join(name)
            .join(path_of(text.trim_ascii_end()));
        let files = entry.parent().unwrap_or(&entry).to_owned();
        Ok(Some(Self {
            folder,
            name: name.to_owned(),
            files,
        }))
    }

    /// Makes the folder about a worktree, as `git worktree add` would. Git itself
    /// would follow a link in its place. `settings` are its own.
    pub(crate) fn make(
        repository: &Repository,
        path: &Path,
        branch: &Branch,
        settings: Option<&[u8]>,
    ) -> Result<Self, GitError> {
        let making = || format!("make a worktree at {}", path.display());
        let all = repository
            .folder()
            .child_or_new(OsStr::new(WORKTREES), 0o777)
            .map_err(|error| GitError::writing(WORKTREES, error))?;
        let base = path.file_name().unwrap_or_default();
        let mut name = OsString::from(id_of(&base.to_string_lossy()));
        let mut n = 0;
        let folder = loop {
            match all.new_child(&name, 0o777) {
                Ok(folder) => break folder,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    n += 1;
                    name = format!("{}{n}", id_of(&base.to_string_lossy())).into();
                }
                Err(error) => return Err(error).tried(making),
            }
        };
        let head = format!("ref: {}\n", branch.reference());
        folder.replace("commondir", b"../..\n").tried(making)?;
        folder.replace("HEAD", head.as_bytes()).tried(making)?;
        if let Some(settings) = settings {
            folder.replace(settings::FILE, settings).tried(making)?;
        }
        let admin = Self {
            folder,
            name,
            files: path.to_owned(),
        };
        admin.point_to(path)?;
        Ok(admin)
    }

    /// Writes down where its files are.
    pub(crate) fn point_to(&self, path: &Path) -> Result<(), GitError> {
        let mut line = path.join(".git").into_os_string().as_bytes().to_vec();
        line.push(b'\n');
        self.folder
            .replace("gitdir", &line)
            .tried(|| format!("write about {}", path.display()))
    }

    /// Removes the folder.
    pub(crate) fn remove(self, repository: &Repository) -> Result<(), GitError> {
        let removed = repository
            .folder()
            .child(OsStr::new(WORKTREES))
            .and_then(|all| {
                all.remove_tree(&self.name)?;
                // Git removes the folder with the last of them, too.
                let _ = repository.folder().remove_empty(OsStr::new(WORKTREES));
                Ok(())
            });
        removed.tried(|| format!("forget the worktree at {}", self.files.display()))
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The content of the file `.git` of the worktree.
    pub(crate) fn link(&self, repository: &Repository) -> Vec<u8> {
        let path = repository.common_dir().join(WORKTREES).join(&self.name);
        let mut line = b"gitdir: ".to_vec();
        line.extend_from_slice(path.as_os_str().as_bytes());
        line.push(b'\n');
        line
    }

    /// The folder of the files, as it says.
    pub(crate) fn files(&self) -> &Path {
        &self.files
    }

    /// The branches that nobody else may check out meanwhile: that of its head,
    /// and the one that is rebased.
    pub(crate) fn branches(&self) -> Result<Vec<String>, GitError> {
        let mut found: Vec<_> = branch_of(&self.folder)?.into_iter().collect();
        for folder in ["rebase-merge", "rebase-apply"] {
            let name = self
                .folder
                .child(OsStr::new(folder))
                .and_then(|folder| folder.read("head-name", MAX_LINE));
            if let Ok(Some(name)) = name
                && let Some(branch) = name.trim_ascii_end().strip_prefix(b"refs/heads/")
            {
                found.push(lossy(branch));
            }
        }
        Ok(found)
    }
}

/// A name that git allows for such a folder.
fn id_of(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(
            |c| match c.is_ascii_alphanumeric() || c == '-' || c == '_' {
                true => c,
                false => '-',
            },
        )
        .collect();
    plain
}

/// All worktrees that a repository keeps something about.
pub(crate) fn entries(repository: &Repository) -> Result<Vec<Admin>, GitError> {
    let Ok(all) = repository.folder().child(OsStr::new(WORKTREES)) else {
        return Ok(Vec::new());
    };
    let names = all.names().tried(|| "list the worktrees".to_owned())?;
    let mut found = Vec::new();
    for name in names {
        let kind = all.kind(&name).tried(|| "list the worktrees".to_owned())?;
        if kind == Some(Kind::Folder) {
            found.extend(Admin::named(repository, &name)?);
        }
    }
    Ok(found)
}

/// The branch that the head in a folder names; none if it is detached.
pub(crate) fn branch_of(folder: &Folder) -> Result<Option<String>, GitError> {
    let text = folder
        .read("HEAD", MAX_LINE)
        .map_err(|error| GitError::tampered(format!("HEAD ({error})")))?;
    let branch = text
        .as_deref()
        .and_then(|text| text.strip_prefix(b"ref: refs/heads/"));
    Ok(branch.map(|branch| lossy(branch.trim_ascii_end())))
}
