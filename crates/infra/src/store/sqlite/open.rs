use std::io;
use std::path::Path;
use std::sync::Arc;

use diesel::connection::SimpleConnection;
use diesel::{Connection as _, SqliteConnection};
use diesel_migrations::{EmbeddedMigrations, embed_migrations};
use workforce_domain::port::StoreError;

use super::lock::ExclusiveLock;
use super::log::checkpoints::Checkpoints;
use super::log::extent::log_pages;
use super::log::file::open_log;
use super::log::flush::Flusher;
use super::log::gathering;
use super::log::mender::Mender;
use super::queries::installation::{name_installation, note_attachments};
use super::queries::invariants;
use super::queries::issue_texts::index_pending;
use super::store::{SqliteStore, takes_nothing};
use super::writer::Writer;
use crate::ids::new_installation;
use crate::store::errors::{failed, may_be_full};
use crate::store::invariants::BrokenInvariant;
use crate::store::migrations::{migrate, revert};
use crate::store::pool::{ConnectError, pool};
use crate::store::{Durability, OpenError, OpenOptions};

pub(super) const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");

/// What every connection sets. The busy timeout comes first, since each of the others may meet a
/// lock.
pub(super) const EACH: &str = "PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON;";
/// Settings that the file keeps. One connection sets them before any other is opened, since two
/// that set them at once would race.
const WAL: &str = "PRAGMA journal_mode = WAL; PRAGMA journal_size_limit = 67108864;";
/// Each commit syncs the log: then what was gathered for it is written ([`gathering`]).
const SYNCS_COMMITS: &str = "PRAGMA synchronous = FULL;";
const NEVER_SYNCS: &str = "PRAGMA synchronous = OFF;";
/// Readers are many, so each caches little: half a MiB of pages. The file is not mapped into
/// memory: the operating system caches its pages once for all, and each mapping would count them
/// again.
const READER: &str = "PRAGMA query_only = ON; PRAGMA cache_size = -512; PRAGMA mmap_size = 0;";
/// The copier tries again later. The writer would wait for it meanwhile.
const WAITS_FOR_NOBODY: &str = "PRAGMA busy_timeout = 0;";
/// The writer keeps the pages that a batch changes, some twenty for each write of it, beside those
/// through which it finds them: 16 MiB. Pages that do not fit are written to the log before the
/// commit and read again, and with a million issues that halves what 64 clients can write. When
/// nobody writes just then, they are given back ([`Writer::drop_cache`]). It copies no more of the
/// log than its end ([`Checkpoints`]).
const WRITER: &str = "PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 0;";

/// Opens the database file at `path`, alone.
///
/// # Errors
/// [`OpenError::InUse`] when another process has it open; else what stands in the way.
pub(crate) fn open(path: &Path, options: &OpenOptions) -> Result<SqliteStore, OpenError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    open_in(folder, path, options).map_err(|error| match error {
        OpenError::Connect(cause) if may_be_full(&*cause) && takes_nothing(folder) => {
            OpenError::DataFolder {
                path: folder.to_owned(),
                source: io::ErrorKind::StorageFull.into(),
            }
        }
        other => other,
    })
}

fn open_in(folder: &Path, path: &Path, options: &OpenOptions) -> Result<SqliteStore, OpenError> {
    let lock = Arc::new(ExclusiveLock::take(path)?);
    let mut writer = match options.durability {
        Durability::PowerLoss => connect_writer(path),
        Durability::ProcessEnd => connect(path, &format!("{NEVER_SYNCS} {WAL}")),
    }
    .map_err(OpenError::Connect)?;
    migrate(&mut writer, MIGRATIONS)?;
    name_installation(&mut writer, new_installation())
        .and_then(|()| note_attachments(&mut writer, options.attachments.as_ref(), true))
        .and_then(|()| index_pending(&mut writer).map(drop))
        .map_err(|error| OpenError::Connect(error.into()))?;
    let supervisor = &options.vitals.supervisor;
    let refused = |error: io::Error| OpenError::Connect(error.into());
    let (of_copier, log) = match options.durability {
        Durability::PowerLoss => {
            let log = open_log(path).map_err(refused)?;
            // What is copied from the log is still flushed by SQLite.
            ("PRAGMA synchronous = NORMAL;", Some(log))
        }
        Durability::ProcessEnd => (NEVER_SYNCS, None),
    };
    writer
        .batch_execute(WRITER)
        .map_err(|error| OpenError::Connect(error.into()))?;
    let flusher = Flusher::start(log, supervisor.clone()).map_err(refused)?;
    let flushes = Arc::clone(flusher.flushes());
    let readable = log_pages(&mut writer).map_err(|error| OpenError::Connect(error.into()))?;
    flushes
        .mend(readable)
        .map_err(|error| OpenError::Connect(error.into()))?;
    let copier = format!("{READER} {WAITS_FOR_NOBODY} {of_copier}");
    let copier = connect(path, &copier).map_err(OpenError::Connect)?;
    let checkpoints = Checkpoints::start(
        copier,
        Arc::clone(&flushes),
        Arc::clone(&lock),
        options.durability,
        supervisor.clone(),
    )
    .map_err(refused)?;
    let path = path.to_owned();
    let readers = pool(options.pool_size, move || connect(&path, READER));
    let writer = Arc::new(Writer::new(writer, Some(checkpoints), Some(flusher)));
    let mender = Mender::start(
        Arc::downgrade(&writer),
        Arc::clone(&flushes),
        supervisor.clone(),
    )
    .map_err(refused)?;
    Ok(SqliteStore::new(
        readers,
        (writer, flushes, mender),
        (folder.to_owned(), options.vitals.disk_space.clone()),
        lock,
    ))
}

/// Undoes every migration of the database file at `path`.
///
/// # Errors
/// As [`open`].
pub(crate) fn migrate_down(path: &Path) -> Result<(), OpenError> {
    let _lock = ExclusiveLock::take(path)?;
    revert(
        &mut connect(path, WAL).map_err(OpenError::Connect)?,
        MIGRATIONS,
    )
}

/// The invariants that do not hold in the database file at `path`.
///
/// # Errors
/// When there is no such file, or it cannot be read.
pub(crate) fn broken_invariants(
    path: &Path,
    limit: usize,
) -> Result<Vec<BrokenInvariant>, StoreError> {
    let unavailable = StoreError::Unavailable;
    // Connecting would make one.
    std::fs::metadata(path).map_err(|error| unavailable(error.into()))?;
    let mut conn = connect(path, READER).map_err(unavailable)?;
    invariants::broken(&mut conn, limit).map_err(failed)
}

/// A connection to the database at `path`.
pub(super) fn connect(path: &Path, settings: &str) -> Result<SqliteConnection, ConnectError> {
    establish(utf8(path)?, settings)
}

/// One that gathers what it writes to the log. Its commits are not durable before the log is
/// flushed.
pub(super) fn connect_writer(path: &Path) -> Result<SqliteConnection, ConnectError> {
    let layer = gathering::register()?;
    let path = utf8(path)?;
    // A path that begins with `//` would name a host.
    let authority = if path.starts_with('/') { "//" } else { "" };
    let path = path.replace('%', "%25").replace('?', "%3f");
    let path = path.replace('#', "%23");
    let url = format!("file:{authority}{path}?vfs={layer}");
    establish(&url, &format!("{SYNCS_COMMITS} {WAL}"))
}

fn utf8(path: &Path) -> Result<&str, ConnectError> {
    let path = path.to_str();
    path.ok_or_else(|| "the path of the database is not valid UTF-8".into())
}

fn establish(name: &str, settings: &str) -> Result<SqliteConnection, ConnectError> {
    let mut conn = SqliteConnection::establish(name)?;
    conn.batch_execute(EACH)?;
    conn.batch_execute(settings)?;
    Ok(conn)
}
