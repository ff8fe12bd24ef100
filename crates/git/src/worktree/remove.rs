//! Removes worktrees that are needed no more.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::error::Tried as _;
use crate::folder::Folder;
use crate::process::run_blocking;
use crate::view::View;
use crate::{CommitId, Git, GitError, Worktree};

/// The folder below the managed root in which removed worktrees are taken apart.
const REMOVED: &str = ".removed";

impl Worktree {
    /// Removes the folder and what the repository keeps about it. The branch
    /// stays.
    ///
    /// # Errors
    /// [`GitError::Uncommitted`] if a file is changed or untracked, and not
    /// ignored; [`GitError::Unpushed`] if the head is not part of `pushed`; those
    /// of a worktree that the agent left on another branch.
    pub async fn remove(self, pushed: &CommitId) -> Result<(), GitError> {
        self.finish_pending().await?;
        let admin = self.admin_on_branch()?;
        self.need_no_changes().await?;
        let head = self.head()?;
        let view = View::new(&self.repository, None).await?;
        if !view.is_ancestor(&head, pushed).await? {
            return Err(GitError::Unpushed);
        }
        let removing = || format!("remove {}", self.path().display());
        let root = Folder::open(&self.repository.git().settings().managed_root).tried(removing)?;
        let removed = root
            .child_or_new(OsStr::new(REMOVED), 0o700)
            .tried(removing)?;
        if let Some(parent) = self.place.parent()? {
            move_to(&removed, &parent, self.place.name()).tried(removing)?;
        }
        admin.remove(&self.repository)?;
        self.repository.git().sweep_removed().await;
        Ok(())
    }
}

fn move_to(removed: &Folder, parent: &Folder, name: &OsStr) -> std::io::Result<()> {
    for n in 0_u32.. {
        let target = OsString::from(format!("{n}"));
        match parent.rename_new(name, removed, &target) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            done => return done,
        }
    }
    Ok(())
}

impl Git {
    /// Takes apart what was removed, also what was interrupted at it.
    pub(crate) async fn sweep_removed(&self) {
        let root = self.settings().managed_root.clone();
        let swept = run_blocking(move || {
            let root = Folder::open(&root)?;
            let Ok(removed) = root.below(Path::new(REMOVED)) else {
                return Ok(());
            };
            for name in removed.names()? {
                removed.remove_tree(&name)?;
            }
            std::io::Result::Ok(())
        });
        if let Err(error) = swept.await {
            tracing::warn!(%error, "removed worktrees could not be taken apart");
        }
    }
}
