//! A bare repository of the server's own, for work without a folder of its own.

use std::path::Path;

use crate::error::Tried as _;
use crate::folder::Folder;
use crate::program::{Command, make_private};
use crate::view::View;
use crate::worktree::Place;
use crate::{CommitId, Git, GitError, Remote, Repository};

impl Git {
    /// Makes a bare repository below the managed root with all branches of a
    /// remote, or brings the one that is there up to date. They are kept as
    /// `refs/remotes/origin/*`, so that no branch of a ticket is overwritten. A
    /// folder that is no repository is moved to `<name>.quarantine-<n>`. Call it
    /// again if it was interrupted.
    ///
    /// # Errors
    /// [`GitError::Unauthorized`], [`GitError::Unreachable`], [`GitError::RemoteTimeout`],
    /// [`GitError::OutsideRoot`].
    pub async fn mirror(&self, dir: &Path, remote: &Remote) -> Result<Repository, GitError> {
        let place = Place::new(self, dir)?;
        let repository = match self.open_mirror(&place).await? {
            Some(repository) => repository,
            None => self.make_mirror(&place, remote).await?,
        };
        let view = View::new(&repository, None).await?;
        view.fetch(remote, "+refs/heads/*:refs/remotes/origin/*")
            .await?;
        let printed = view
            .command("for-each-ref")
            .args(["--format=%(objectname) %(refname)", "refs/remotes/origin/"])
            .stdout_limit(64 * 1024 * 1024)
            .text()
            .await?;
        view.publish().await?;
        let refs = repository.refs();
        let known = refs.list("refs/remotes/origin")?;
        for line in printed.lines() {
            let Some((commit, name)) = line.split_once(' ') else {
                continue;
            };
            let Ok(commit) = CommitId::new(commit) else {
                continue;
            };
            let old = known.get(name);
            if old == Some(&commit) {
                continue;
            }
            match refs.update(name, &commit, old).await {
                // A branch that is gone may be in its way. What it holds is there.
                Err(GitError::RefConflict { branch, reason }) => {
                    tracing::debug!(branch, reason, "a branch of a mirror has no ref");
                }
                updated => updated?,
            }
        }
        Ok(repository)
    }

    /// The mirror that is there, if it is whole.
    async fn open_mirror(&self, place: &Place) -> Result<Option<Repository>, GitError> {
        match place.open() {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(None),
            Err(GitError::Tampered { .. }) => {
                put_aside(place)?;
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
        match self.open(place.path()).await {
            Ok(repository) if repository.common_dir() == place.path() => Ok(Some(repository)),
            Ok(_) | Err(GitError::NotARepository { .. } | GitError::Unsupported { .. }) => {
                put_aside(place)?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    async fn make_mirror(&self, place: &Place, remote: &Remote) -> Result<Repository, GitError> {
        let format = self.remote_format(remote).await?;
        let making = || format!("make {}", place.path().display());
        // Made elsewhere and moved: what is interrupted leaves nothing half.
        let new = self.settings().managed_root.join(".new");
        make_private(&new).tried(making)?;
        let made = tempfile::tempdir_in(&new).tried(making)?;
        Command::new(self, "init", made.path())
            .args(["--quiet", "--bare", "--template=", "--initial-branch=none"])
            .arg(format!("--object-format={}", format.as_str()))
            .arg("--")
            .arg(made.path())
            .output()
            .await?;
        let parent = place.make_parent()?;
        let from = Folder::open(&new).tried(making)?;
        let name = made.path().file_name().unwrap_or_default();
        from.rename_new(name, &parent, place.name()).tried(making)?;
        self.open(place.path()).await
    }
}

fn put_aside(place: &Place) -> Result<(), GitError> {
    if let Some(parent) = place.parent()? {
        let aside = place.quarantine(&parent)?;
        tracing::warn!(to = %aside.display(), "a folder that is no repository was put aside");
    }
    Ok(())
}
