//! One at a time for each repository.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
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

/// What file systems answer that know no such lock.
const NOT_KNOWN: [Errno; 6] = [
    Errno::EBADF,
    Errno::EINVAL,
    Errno::EISDIR,
    Errno::ENOLCK,
    Errno::ENOSYS,
    Errno::EOPNOTSUPP,
];

/// Holds a repository until it is dropped, against all tasks of this server and all
/// servers on this machine.
#[derive(Debug)]
pub struct RepositoryLock {
    _between_servers: Vec<Flock<File>>,
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
        let scratch: PathBuf = self.git().settings().scratch.join("locks");
        make_private(&scratch).tried(locking)?;
        let path = scratch.join(format!("{}-{}", key.0, key.1));
        let own = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .tried(locking)?;
        let mut between_servers = vec![taken(own).await.tried(locking)?];
        // Nothing is written for it, so that it serves in a folder of anybody's.
        let common = self.folder().child(OsStr::new(".")).tried(locking)?;
        match taken(common.into()).await {
            Ok(lock) => between_servers.push(lock),
            // A network may not know locks, or none of what is opened for reading alone:
            // servers with the same scratch folder are kept apart all the same.
            Err(errno) if NOT_KNOWN.contains(&errno) => {
                tracing::debug!(path = %self.common_dir().display(), %errno, "a repository cannot be locked for servers with other folders");
            }
            Err(errno) => return Err(errno).tried(locking),
        }
        Ok(RepositoryLock {
            _between_servers: between_servers,
            _within_server: within_server,
        })
    }
}

/// Locks an open file or folder, once nobody else has it.
async fn taken(mut file: File) -> Result<Flock<File>, Errno> {
    loop {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok(lock),
            Err((back, Errno::EWOULDBLOCK)) => file = back,
            Err((_, errno)) => return Err(errno),
        }
        tokio::time::sleep(PAUSE).await;
    }
}
