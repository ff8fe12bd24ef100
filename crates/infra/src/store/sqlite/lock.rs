//! One process at a time.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::store::OpenError;

/// The right to use a database file, until dropped. The operating system gives it back however
/// the process ends.
#[derive(Debug)]
pub(super) struct ExclusiveLock {
    _file: File,
    database: File,
}

impl ExclusiveLock {
    /// Takes the lock beside `database`, making its folder first.
    pub(super) fn take(database: &Path) -> Result<Self, OpenError> {
        let failed = |path: &Path, source| OpenError::DataFolder {
            path: path.into(),
            source,
        };
        if let Some(folder) = database.parent().filter(|it| !it.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|source| failed(folder, source))?;
        }
        let path = lock_path(database);
        let file = private_file(&path).map_err(|source| failed(&path, source))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OpenError::InUse(database.into())),
            Err(TryLockError::Error(source)) => return Err(failed(&path, source)),
        }
        // SQLite gives its side files the permissions of the database itself.
        let database_file = private_file(database).map_err(|source| failed(database, source))?;
        Ok(Self {
            _file: file,
            database: database_file,
        })
    }

    /// The database file. It stays open for as long as a connection of the store may hold a lock of
    /// SQLite on it: by closing any file of it, a process gives those up.
    pub(super) const fn database(&self) -> &File {
        &self.database
    }
}

fn lock_path(database: &Path) -> PathBuf {
    let mut name = OsString::from(database);
    name.push(".lock");
    name.into()
}

/// Opens a file, which only its owner may read when it is new.
fn private_file(path: &Path) -> std::io::Result<File> {
    File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .mode(0o600)
        .open(path)
}
