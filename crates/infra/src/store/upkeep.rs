//! What an operator does with a whole database beside its servers: copies it, takes a copy into use
//! and repairs it (docs/upkeep.md).

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use workforce_domain::port::StoreError;

use super::OpenError;
use super::inspection::{Inspection, has_installation};
use super::url::{DatabaseUrl, Target};

/// Why a SQLite database was not copied.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The copy cannot be written.
    #[error("failed to write {}", .path.display())]
    Copy {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: io::Error,
    },
    /// The database cannot be read, or there is no room for its copy.
    #[error("failed to copy the database")]
    Store(#[source] StoreError),
    /// The copy does not hold together, so the database does not either.
    #[error("the copy of the database is damaged: {0}")]
    Damaged(String),
}

/// Why a restored database cannot be taken into use.
#[derive(Debug, thiserror::Error)]
pub enum TakeOverError {
    /// A newer program wrote it.
    #[error("the database was written by a newer version: it has migration {0}")]
    TooNew(String),
    /// It cannot be read or written.
    #[error("failed to read or write the restored database")]
    Store(#[from] StoreError),
}

/// What can be made anew from other rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// What agents and companies spent in each month.
    SpendTotals,
    /// The leases on issues: those of runs that do not run are taken back.
    Leases,
}

/// Copies the SQLite database at `from` to a new file at `to`, as it is at one instant, while a
/// server writes to it. The copy is for its owner alone, durable, and was checked.
///
/// # Errors
/// [`SnapshotError`]; whatever was written is removed.
#[cfg_attr(
    not(feature = "sqlite"),
    expect(unused_variables, reason = "there is no SQLite in this program")
)]
pub fn snapshot(from: &Path, to: &Path) -> Result<(), SnapshotError> {
    #[cfg(feature = "sqlite")]
    return super::sqlite::snapshot(from, to);
    #[cfg(not(feature = "sqlite"))]
    Err(SnapshotError::Store(not_built_in()))
}

/// Makes a restored database ready for its first server: forgets the processes of the runs that
/// were live when it was copied. Those are none of the copy's: on the host of the original its
/// server would end them. With `attachments_moved` it forgets where the original keeps attachments.
///
/// # Errors
/// [`TakeOverError::TooNew`] when this program could not open it.
pub fn take_over(url: &DatabaseUrl, attachments_moved: bool) -> Result<(), TakeOverError> {
    let state = Inspection::open(url)?.state()?;
    if let Some(unknown) = state.schema.unknown.first() {
        return Err(TakeOverError::TooNew(unknown.clone()));
    }
    // An older database notes nothing of the kind.
    let forgets = attachments_moved && has_installation(&state);
    match url.target() {
        #[cfg(feature = "sqlite")]
        Target::Sqlite(path) => Ok(super::sqlite::take_over(path, forgets)?),
        #[cfg(feature = "postgres")]
        Target::Postgres(url) => Ok(super::postgres::take_over(url, forgets)?),
        #[cfg(not(all(feature = "sqlite", feature = "postgres")))]
        _ => Err(not_built_in().into()),
    }
}

/// Whether this program knows the migration `version` of the kind of database at `url`: if not,
/// a newer one applied it.
#[must_use]
pub fn knows_migration(url: &DatabaseUrl, version: &str) -> bool {
    let known = match url.target() {
        #[cfg(feature = "sqlite")]
        Target::Sqlite(_) => super::sqlite::known_migrations(),
        #[cfg(feature = "postgres")]
        Target::Postgres(_) => super::postgres::known_migrations(),
        #[cfg(not(all(feature = "sqlite", feature = "postgres")))]
        _ => Vec::new(),
    };
    known.iter().any(|known| known == version)
}

/// Whether a server of this host uses the data folder `folder`, or the SQLite database at `url`.
///
/// # Errors
/// When the lock that it would hold cannot be tried.
pub fn is_served(folder: &Path, url: &DatabaseUrl) -> io::Result<bool> {
    let mut locks = vec![folder.join(crate::instance_file::LOCK_NAME)];
    if let Some(path) = url.sqlite_path() {
        let mut lock = path.as_os_str().to_owned();
        lock.push(".lock");
        locks.push(lock.into());
    }
    for lock in locks {
        match File::open(&lock).map(|file| file.try_lock_shared()) {
            Ok(Ok(())) => {}
            Ok(Err(TryLockError::WouldBlock)) => return Ok(true),
            Ok(Err(TryLockError::Error(error))) => return Err(error),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

/// Makes something anew from other rows; how many rows it is about. No server may use a SQLite
/// database meanwhile.
///
/// # Errors
/// [`OpenError::InUse`] when one does; else what stands in the way. Nothing is changed then.
pub fn repair(url: &DatabaseUrl, repair: Repair) -> Result<usize, OpenError> {
    match url.target() {
        #[cfg(feature = "sqlite")]
        Target::Sqlite(path) => super::sqlite::repair(path, repair),
        #[cfg(feature = "postgres")]
        Target::Postgres(url) => super::postgres::repair(url, repair),
        #[cfg(not(all(feature = "sqlite", feature = "postgres")))]
        _ => Err(OpenError::Connect(not_built_in().into())),
    }
}

/// Runs `fill` while no server changes the tables of the PostgreSQL database at `url`, if nothing
/// is in it; `None` when there is something.
///
/// # Errors
/// When the database does not answer, or is not one of PostgreSQL.
#[cfg_attr(
    not(feature = "postgres"),
    expect(unused_variables, reason = "there is no PostgreSQL in this program")
)]
pub fn fill_if_empty<T>(
    url: &DatabaseUrl,
    fill: impl FnOnce() -> T,
) -> Result<Option<T>, StoreError> {
    match url.target() {
        #[cfg(feature = "postgres")]
        Target::Postgres(url) => super::postgres::fill_if_empty(url, fill),
        _ => Err(not_built_in()),
    }
}

pub(super) fn not_built_in() -> StoreError {
    StoreError::Unavailable("this program was built without support for the database".into())
}
