//! Makes the worktree of a ticket.

use std::path::Path;

use crate::error::Tried as _;
use crate::folder::Folder;
use crate::view::View;
use crate::worktree::{Admin, Place, branch_of, entries};
use crate::{Branch, CommitId, GitError, Repository, Worktree};

impl Repository {
    /// Makes a worktree below the managed root on a branch, or finds the one that
    /// is there. A branch that is missing begins at `start`; one that exists stays
    /// where it is. Anything else in the folder is moved beside it, to
    /// `<name>.quarantine-<n>`. No filter or hook runs. Call it again if it was
    /// interrupted.
    ///
    /// # Errors
    /// [`GitError::BranchInUse`], [`GitError::NoCommit`], [`GitError::Borrowing`],
    /// [`GitError::OutsideRoot`], [`GitError::NameInTheWay`], [`GitError::NotWritable`], [`GitError::RefConflict`]; [`GitError::Tampered`] for a link on the way.
    pub async fn add_worktree(
        &self,
        path: &Path,
        branch: &Branch,
        start: &CommitId,
    ) -> Result<Worktree, GitError> {
        let place = Place::new(self.git(), path)?;
        let view = View::new(self, None).await?;
        view.need_commit(start).await?;
        let parent = place.make_parent()?;
        let worktree = Worktree {
            repository: self.clone(),
            place,
            branch: branch.clone(),
        };
        if worktree.is_usable()? {
            self.make_branch(branch, start).await?;
            worktree.finish_pending().await?;
            return Ok(worktree);
        }
        worktree.put_aside(&parent)?;
        worktree.forget_vanished()?;
        if let Some(path) = self.folder_of_branch(branch)? {
            return Err(GitError::BranchInUse { path });
        }
        self.need_writable()?;
        self.need_room_for(branch)?;
        view.need_whole(start).await?;
        let head = self.make_branch(branch, start).await?;
        if head != *start {
            view.need_whole(&head).await?;
        }
        worktree.note_pending(None, &head)?;
        let folder = worktree.place.make(&parent)?;
        let settings = self.settings_of_worktree(worktree.path()).await?;
        let admin = Admin::make(self, worktree.path(), branch, settings.as_deref())?;
        folder
            .replace(".git", &admin.link(self))
            .tried(|| format!("make {}", worktree.path().display()))?;
        worktree.finish_pending().await?;
        Ok(worktree)
    }

    /// Makes a branch, and says where it is. Somebody else may make it meanwhile.
    async fn make_branch(&self, branch: &Branch, start: &CommitId) -> Result<CommitId, GitError> {
        if let Some(head) = self.branch_head(branch)? {
            return Ok(head);
        }
        let made = self.refs().update(&branch.reference(), start, None).await;
        match made {
            Ok(()) => Ok(start.clone()),
            Err(GitError::Moved { branch: name }) => self
                .branch_head(branch)?
                .ok_or(GitError::Moved { branch: name }),
            Err(error) => Err(error),
        }
    }
}

impl Worktree {
    /// True if the folder is a worktree of this repository on this branch.
    fn is_usable(&self) -> Result<bool, GitError> {
        let found = match self.admin() {
            Ok(found) => found,
            // A file or a link stands there.
            Err(GitError::Tampered { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let Some(admin) = found else {
            return Ok(false);
        };
        Ok(branch_of(admin.folder())?.as_deref() == Some(self.branch.as_str()))
    }

    /// Moves away what stands in its place. A worktree of this repository stays
    /// one where it is then.
    fn put_aside(&self, parent: &Folder) -> Result<(), GitError> {
        let looking = || format!("look at {}", self.path().display());
        let name = self.place.name();
        if parent.kind(name).tried(looking)?.is_none() {
            return Ok(());
        }
        let admin = self.admin().ok().flatten();
        let aside = self.place.quarantine(parent)?;
        tracing::warn!(from = %self.path().display(), to = %aside.display(), "a folder in the place of a worktree was put aside");
        match admin {
            Some(admin) => admin.point_to(&aside),
            None => Ok(()),
        }
    }

    /// Forgets what the repository keeps about this folder, which is gone, and of
    /// other folders below the managed root that are gone and had this branch.
    fn forget_vanished(&self) -> Result<(), GitError> {
        let root = &self.repository.git().settings().managed_root;
        for entry in entries(&self.repository)? {
            let has_branch = entry.branches()?.iter().any(|b| b == self.branch.as_str());
            let is_ours =
                entry.files() == self.path() || (has_branch && entry.files().starts_with(root));
            let is_gone = entry.files().symlink_metadata().is_err();
            if is_ours && is_gone {
                entry.remove(&self.repository)?;
            }
        }
        Ok(())
    }
}
