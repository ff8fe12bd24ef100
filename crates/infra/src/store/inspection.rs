//! A look at a whole database beside its servers.

use std::path::Path;

use workforce_domain::id::InstallationId;
use workforce_domain::port::{Reads, StoreError};
use workforce_domain::time::Timestamp;

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

/// A file of an attachment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssetFile {
    /// Its name in the folder of attachments: `<company>/<asset>`.
    pub name: String,
    /// How long it is.
    pub bytes: u64,
}

impl AssetFile {
    fn parse(line: &str) -> Result<Self, StoreError> {
        let (name, bytes) = line.split_once(' ').unwrap_or((line, ""));
        let bytes = bytes.parse();
        Ok(Self {
            name: name.to_owned(),
            bytes: bytes.map_err(|error| StoreError::Failed(Box::new(error)))?,
        })
    }

    /// Whether all of it is in `folder`.
    #[must_use]
    pub fn is_in(&self, folder: &Path) -> bool {
        let file = folder.join(&self.name).metadata();
        file.is_ok_and(|file| file.is_file() && file.len() == self.bytes)
    }
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
            _ => Err(super::upkeep::not_built_in()),
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

    /// Every file of an attachment that there must be.
    pub fn assets(&mut self) -> Result<Vec<AssetFile>, StoreError> {
        let lines = self.0.lines(
            "SELECT CAST(company_id AS text) || '/' || CAST(id AS text) || ' ' || \
             CAST(byte_size AS text) AS line FROM assets",
        )?;
        let parsed = lines.iter().map(|line| AssetFile::parse(line));
        parsed.collect()
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

pub(super) fn has_installation(state: &DatabaseState) -> bool {
    let applied = &state.schema.applied;
    applied.iter().any(|it| it == INSTALLATION_MIGRATION)
}

/// Whether nothing of workforce is in the database at `url`, or there is no such file.
///
/// # Errors
/// When the database does not answer, or is none.
pub fn is_empty(url: &DatabaseUrl) -> Result<bool, StoreError> {
    let tables = tables(
        url,
        "SELECT name AS line FROM sqlite_master WHERE name = '__diesel_schema_migrations'",
        "SELECT tablename::text AS line FROM pg_tables \
         WHERE schemaname = current_schema() AND tablename = '__diesel_schema_migrations'",
    )?;
    Ok(tables.is_empty())
}

/// A table that another program has in the database at `url`, which has none of workforce; `None`
/// in a new one.
///
/// # Errors
/// When the database does not answer, or is none.
pub fn foreign_table(url: &DatabaseUrl) -> Result<Option<String>, StoreError> {
    let mut tables = tables(
        url,
        "SELECT tbl_name AS line FROM sqlite_master LIMIT 1",
        // Extensions have tables as well.
        "SELECT relname::text AS line FROM pg_class \
         WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') \
         AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e') \
         LIMIT 1",
    )?;
    Ok(tables.pop())
}

/// The tables that a query of either kind of database finds; none where there is no file, or an
/// empty one.
fn tables(
    url: &DatabaseUrl,
    of_sqlite: &str,
    of_postgres: &str,
) -> Result<Vec<String>, StoreError> {
    let query = match url.sqlite_path() {
        Some(path) if path.metadata().map_or(0, |it| it.len()) == 0 => return Ok(Vec::new()),
        Some(_) => of_sqlite,
        None => of_postgres,
    };
    Inspection::open(url)?.0.lines(query)
}
