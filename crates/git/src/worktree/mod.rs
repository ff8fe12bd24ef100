//! The folder that a ticket is worked on in.

mod add;
mod admin;
mod checkout;
mod condition;
mod paths;
mod pending;
mod place;
mod remove;
mod settings;

use std::path::{Path, PathBuf};

use crate::error::Tried as _;
use crate::folder::Folder;
use crate::operation::Operation;
use crate::{Branch, CommitId, GitError, Repository};

pub(crate) use admin::{Admin, branch_of, entries};
pub use condition::{Disorder, Finding};
pub(crate) use paths::{is_free, kind_at};
pub(crate) use pending::Pending;
pub(crate) use place::Place;

/// A linked worktree of a repository, on the branch of one ticket. Whoever calls
/// anything that changes it holds the [`crate::RepositoryLock`].
#[derive(Debug)]
pub struct Worktree {
    repository: Repository,
    place: Place,
    branch: Branch,
}

impl Worktree {
    /// Its folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// Its branch.
    #[must_use]
    pub fn branch(&self) -> &Branch {
        &self.branch
    }

    /// Its repository.
    #[must_use]
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// The commit that its branch points to.
    ///
    /// # Errors
    /// [`GitError::NoBranch`], [`GitError::Tampered`].
    pub fn head(&self) -> Result<CommitId, GitError> {
        self.repository
            .branch_head(&self.branch)?
            .ok_or_else(|| GitError::NoBranch {
                branch: self.branch.to_string(),
            })
    }

    /// The folders of its repository that git writes to when somebody commits in the
    /// worktree: those of objects, of the branch and its log, and what is kept about
    /// the worktree. They exist.
    ///
    /// # Errors
    /// [`GitError::Tampered`] if the worktree is not whole.
    pub fn shared_folders(&self) -> Result<Vec<PathBuf>, GitError> {
        let admin = self.admin()?.ok_or_else(|| {
            GitError::tampered(format!("{} (no worktree)", self.path().display()))
        })?;
        let common = self.repository.common_dir();
        let reference = self.branch.reference();
        let of_branch = Path::new(&reference).parent().unwrap_or(Path::new("refs"));
        let of_log = Path::new("logs").join(of_branch);
        // Git makes it when it first needs it, as a fresh copy does; but whoever commits may write
        // nothing into the folders above.
        if let Err(error) = self.repository.folder().below_or_new(&of_log, 0o777) {
            tracing::debug!(%error, "the branch of a worktree gets no log");
        }
        let mut folders = vec![common.join("objects"), admin.path(&self.repository)];
        for folder in [common.join(of_branch), common.join(of_log)] {
            if folder.is_dir() {
                folders.push(folder);
            }
        }
        Ok(folders)
    }

    /// The folder that git keeps about it, once it is sure that the agent left
    /// the worktree on its branch and in no operation.
    pub(crate) fn admin_on_branch(&self) -> Result<Admin, GitError> {
        let admin = self.admin()?.ok_or_else(|| {
            GitError::tampered(format!("{} (no worktree)", self.path().display()))
        })?;
        let operation =
            Operation::found_in(admin.folder()).tried(|| "look for a merge".to_owned())?;
        if let Some(operation) = operation {
            return Err(GitError::OperationInProgress { operation });
        }
        let found = branch_of(admin.folder())?;
        if found.as_deref() == Some(self.branch.as_str()) {
            Ok(admin)
        } else {
            Err(GitError::OffBranch { found })
        }
    }

    pub(crate) fn admin(&self) -> Result<Option<Admin>, GitError> {
        let Some(folder) = self.place.open()? else {
            return Ok(None);
        };
        Admin::of(&self.repository, self.path(), &folder)
    }

    /// The folder, held open.
    pub(crate) fn folder(&self) -> Result<Folder, GitError> {
        self.place
            .open()?
            .ok_or_else(|| GitError::tampered(format!("{} (it is gone)", self.path().display())))
    }
}

impl Repository {
    /// Finds the worktree of a branch in a folder below the managed root. What was
    /// interrupted there is brought to its end. None if nothing stands there, or
    /// something else.
    ///
    /// # Errors
    /// [`GitError::OutsideRoot`]; [`GitError::Tampered`] for a link on the way.
    pub async fn open_worktree(
        &self,
        path: &Path,
        branch: &Branch,
    ) -> Result<Option<Worktree>, GitError> {
        let place = Place::new(self.git(), path)?;
        let worktree = Worktree {
            repository: self.clone(),
            place,
            branch: branch.clone(),
        };
        let Some(admin) = worktree.admin()? else {
            return Ok(None);
        };
        if self.branch_head(branch)?.is_none() {
            return Ok(None);
        }
        // An agent that went to another branch is told so by what is called next.
        if branch_of(admin.folder())?.as_deref() == Some(branch.as_str()) {
            worktree.finish_pending().await?;
        }
        Ok(Some(worktree))
    }

    /// The folder in which a branch is checked out: a worktree, or that of the
    /// repository itself.
    pub(crate) fn folder_of_branch(&self, branch: &Branch) -> Result<Option<PathBuf>, GitError> {
        let wanted = Some(branch.as_str());
        for entry in entries(self)? {
            if entry
                .branches()?
                .iter()
                .any(|found| Some(found.as_str()) == wanted)
            {
                return Ok(Some(entry.files().to_owned()));
            }
        }
        let is_bare = self.common_dir().file_name() != Some(".git".as_ref());
        let head = branch_of(self.folder())?;
        if !is_bare && head.as_deref() == wanted {
            let top = self.common_dir().parent().unwrap_or(self.common_dir());
            return Ok(Some(top.to_owned()));
        }
        Ok(None)
    }
}
