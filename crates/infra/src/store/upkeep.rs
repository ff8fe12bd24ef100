//! What an operator does with a whole database beside its servers: looks at it, copies it, and
//! takes a copy into use (docs/upkeep.md).

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use workforce_domain::id::InstallationId;
use workforce_domain::port::{Reads, StoreError};
use workforce_domain::time::Timestamp;

use super::OpenError;
use super::url::{DatabaseUrl, Target};

/// The migration that gave databases an installation.
const INSTALLATION_MIGRATION: &str = "20261129000051";

/// The migrations of a database beside those of this program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaState {
    /// Those that were applied, oldest first.
    pub applied: Vec<String>,
    /// Those among them that this program does not know: a newer one applied them.
    pub unknown: Vec<String>,
    /// Those that the next start of a server applies.
    pub pending: Vec<String>,
}

impl SchemaState {
    pub(super) fn of(applied: Vec<String>, known: &[String]) -> Self {
        let is_new = |version: &&String| !known.contains(version);
        Self {
            unknown: applied.iter().filter(is_new).cloned().collect(),
            pending: known
                .iter()
                .filter(|version| !applied.contains(version))
                .cloned()
                .collect(),
            applied,
        }
    }

    /// The latest migration that was applied; `None` in a database without any.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.applied.last().map(String::as_str)
    }
}

/// What is known of a database as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseState {
    /// The version of the database's program: of SQLite in here, or of the PostgreSQL server.
    pub version: String,
    /// Its tables.
    pub schema: SchemaState,
    /// The instant by the clock of the PostgreSQL server; `None` for SQLite, which has none.
    pub clock: Option<Timestamp>,
}

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

/// What a database is asked for, without opening its store.
pub(super) trait Inspect {
    fn state(&mut self) -> Result<DatabaseState, StoreError>;
    fn damages(&mut self, limit: usize) -> Result<Vec<String>, StoreError>;
    fn lines(&mut self, query: &str) -> Result<Vec<String>, StoreError>;
    fn reading(
        &mut self,
        body: &mut dyn FnMut(&mut dyn Reads) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;
}

/// A look at a database on a connection of its own, which only reads. A server may be at work
/// meanwhile.
pub struct Inspection(Box<dyn Inspect>);

impl Inspection {
    /// Connects to the database at `url`.
    ///
    /// # Errors
    /// When there is no such database, or it does not answer. None is made.
    pub fn open(url: &DatabaseUrl) -> Result<Self, StoreError> {
        match url.target() {
            #[cfg(feature = "sqlite")]
            Target::Sqlite(path) => Ok(Self(super::sqlite::inspect(path)?)),
            #[cfg(feature = "postgres")]
            Target::Postgres(url) => Ok(Self(super::postgres::inspect(url)?)),
            #[cfg(not(all(feature = "sqlite", feature = "postgres")))]
            _ => Err(not_built_in()),
        }
    }

    /// What is known of the database as a whole.
    ///
    /// # Errors
    /// Also when it has no tables of workforce.
    pub fn state(&mut self) -> Result<DatabaseState, StoreError> {
        self.0.state()
    }

    /// What is wrong with the file of a SQLite database, in its own words: pages that do not
    /// hold together, and rows that refer to none. At most `limit` of each. PostgreSQL is not
    /// asked, since it checks what it reads by itself.
    ///
    /// # Errors
    /// When the file cannot be read at all.
    pub fn damages(&mut self, limit: usize) -> Result<Vec<String>, StoreError> {
        self.0.damages(limit)
    }

    /// Which installation the database is of; `None` where its tables are from before databases
    /// had one.
    pub fn installation(&mut self) -> Result<Option<InstallationId>, StoreError> {
        if !has_installation(&self.0.state()?) {
            return Ok(None);
        }
        let query = "SELECT CAST(installation_id AS text) AS line FROM installation";
        let id = self.0.lines(query)?.pop().map(|line| line.parse());
        id.transpose()
            .map_err(|error| StoreError::Failed(Box::new(error)))
    }

    /// The note of where the attachments are, if there is one.
    pub fn attachments_note(&mut self) -> Result<Option<String>, StoreError> {
        if !has_installation(&self.0.state()?) {
            return Ok(None);
        }
        let query = "SELECT attachments AS line FROM installation WHERE attachments IS NOT NULL";
        Ok(self.0.lines(query)?.pop())
    }

    /// The kinds of agents that there are.
    pub fn adapter_types(&mut self) -> Result<Vec<String>, StoreError> {
        self.0
            .lines("SELECT DISTINCT adapter_type AS line FROM agents ORDER BY 1")
    }

    /// The id of every agent.
    pub fn agents(&mut self) -> Result<Vec<String>, StoreError> {
        self.0.lines("SELECT CAST(id AS text) AS line FROM agents")
    }

    /// Every worktree of a ticket, as its status, a space, and its place below the folder
    /// of worktrees.
    pub fn worktrees(&mut self) -> Result<Vec<String>, StoreError> {
        self.0
            .lines("SELECT status || ' ' || path AS line FROM execution_workspaces ORDER BY 1")
    }

    /// Every file of an attachment that there must be, as `<company>/<asset>`.
    pub fn assets(&mut self) -> Result<Vec<String>, StoreError> {
        self.0
            .lines("SELECT CAST(company_id AS text) || '/' || CAST(id AS text) AS line FROM assets")
    }

    /// The id of every run that has not ended.
    pub fn unended_runs(&mut self) -> Result<Vec<String>, StoreError> {
        self.0
            .lines("SELECT CAST(id AS text) AS line FROM heartbeat_runs WHERE finished_at IS NULL")
    }

    /// Reads one state of the database.
    ///
    /// # Errors
    /// Those of `body`, and when no transaction can be begun.
    pub fn read<T>(
        &mut self,
        mut body: impl FnMut(&mut dyn Reads) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut found = None;
        self.0.reading(&mut |reads| {
            found = Some(body(reads)?);
            Ok(())
        })?;
        found.ok_or_else(|| StoreError::Failed("nothing was read".into()))
    }
}

fn has_installation(state: &DatabaseState) -> bool {
    let applied = &state.schema.applied;
    applied.iter().any(|it| it == INSTALLATION_MIGRATION)
}

/// Whether nothing of workforce is in the database at `url`, or there is no such file.
///
/// # Errors
/// When the database does not answer, or is none.
pub fn is_empty(url: &DatabaseUrl) -> Result<bool, StoreError> {
    let tables = match url.sqlite_path() {
        Some(path) => {
            if path.metadata().map_or(0, |it| it.len()) == 0 {
                return Ok(true);
            }
            "SELECT name AS line FROM sqlite_master WHERE name = '__diesel_schema_migrations'"
        }
        None => {
            "SELECT tablename::text AS line FROM pg_tables \
             WHERE schemaname = current_schema() AND tablename = '__diesel_schema_migrations'"
        }
    };
    Ok(Inspection::open(url)?.0.lines(tables)?.is_empty())
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

fn not_built_in() -> StoreError {
    StoreError::Unavailable("this program was built without support for the database".into())
}
