//! One at a time for each repository.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use tokio::sync::OwnedMutexGuard;

use crate::error::Tried as _;
use crate::program::make_private;
use crate::{GitError, Repository};

/// How often the lock of another server is looked at.
const PAUSE: Duration = Duration::from_millis(50);

/// Holds a repository until it is dropped, against all tasks of this server and
/// all servers with the same scratch folder.
#[derive(Debug)]
pub struct RepositoryLock {
    _between_servers: Flock<std::fs::File>,
    _within_server: OwnedMutexGuard<()>,
}

impl Repository {
    /// Takes the lock of the repository, however it was opened.
    ///
    /// # Errors
    /// [`GitError::Busy`] if somebody else holds it for longer than `wait`.
    pub async fn lock(&self, wait: Duration) -> Result<RepositoryLock, GitError> {
        tokio::time::timeout(wait, self.take_lock())
            .await
            .map_err(|_elapsed| GitError::Busy)?
    }

    async fn take_lock(&self) -> Result<RepositoryLock, GitError> {
        let locking = || "lock the repository".to_owned();
        let stat = self.folder().stat().tried(locking)?;
        let key = (stat.st_dev, stat.st_ino);
        let mutex = {
            let mut locks = self
                .git()
                .locks()
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            Arc::clone(locks.entry(key).or_default())
        };
        let within_server = mutex.lock_owned().await;
        let folder: PathBuf = self.git().settings().scratch.join("locks");
        make_private(&folder).tried(locking)?;
        let path = folder.join(format!("{}-{}", key.0, key.1));
        loop {
            let file = OpenOptions::new()
                .create(true)
                .truncate(false)
                .write(true)
                .open(&path)
                .tried(locking)?;
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(between_servers) => {
                    return Ok(RepositoryLock {
                        _between_servers: between_servers,
                        _within_server: within_server,
                    });
                }
                Err((_, Errno::EWOULDBLOCK)) => tokio::time::sleep(PAUSE).await,
                Err((_, error)) => return Err(error).tried(locking),
            }
        }
    }
}
