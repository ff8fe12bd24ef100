//! Opening a store.

use std::path::PathBuf;
use std::sync::Arc;

use workforce_domain::port::Store;
use workforce_vitals::Vitals;

use super::url::{DatabaseUrl, Target};

type Cause = Box<dyn core::error::Error + Send + Sync>;

/// What a commit survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Loss of power.
    #[default]
    PowerLoss,
    /// The end of the process, but not loss of power: for tests, which throw their data away.
    ProcessEnd,
}

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// At most so many connections: for reads on SQLite, which has one more for writes; in all
    /// on PostgreSQL.
    pub pool_size: u32,
    /// What a commit survives on SQLite. On PostgreSQL the server decides.
    pub durability: Durability,
    /// Where the server that opens the store keeps attachments. It is noted in a database that
    /// has none elsewhere.
    pub attachments: Option<AttachmentsNote>,
    /// The vitals of the server that opens the store. They keep the store's own thread running, and
    /// are told when there is no room.
    pub vitals: Vitals,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            pool_size: 8,
            durability: Durability::PowerLoss,
            attachments: None,
            vitals: Vitals::default(),
        }
    }
}

/// Where attachments are, as a database notes it.
#[derive(Clone, Debug)]
pub struct AttachmentsNote {
    /// The note of the place ([`Place::note`](crate::objects::Place::note)).
    pub place: String,
    /// Whether it takes the place of another one although there are attachments.
    pub moves: bool,
}

/// Why a store was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has opened the same SQLite file.
    #[error("{} is in use by another process", .0.display())]
    InUse(PathBuf),
    /// This program was built without that database.
    #[error("this program was built without support for {0}")]
    NotBuiltIn(&'static str),
    /// A newer program has changed the tables.
    #[error("the database was written by a newer version: it has migration {0}")]
    TooNew(String),
    /// The data folder cannot be written.
    #[error("failed to prepare {}", .path.display())]
    DataFolder {
        /// The file or folder.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: std::io::Error,
    },
    /// The database does not answer.
    #[error("failed to connect to the database")]
    Connect(#[source] Cause),
    /// The tables could not be brought up to date.
    #[error("failed to migrate the database")]
    Migrate(#[source] Cause),
}

/// Opens the store at `url` and brings its tables up to date.
///
/// # Errors
/// Says what stands in the way; see [`OpenError`].
pub fn open(url: &DatabaseUrl, options: &OpenOptions) -> Result<Arc<dyn Store>, OpenError> {
    match url.target() {
        #[cfg(feature = "sqlite")]
        Target::Sqlite(path) => Ok(Arc::new(super::sqlite::open(path, options)?)),
        #[cfg(not(feature = "sqlite"))]
        Target::Sqlite(_) => Err(OpenError::NotBuiltIn("SQLite")),
        #[cfg(feature = "postgres")]
        Target::Postgres(url) => Ok(Arc::new(super::postgres::open(url, options)?)),
        #[cfg(not(feature = "postgres"))]
        Target::Postgres(_) => Err(OpenError::NotBuiltIn("PostgreSQL")),
    }
}

/// Undoes every migration, which removes all data. No store may be open there.
///
/// # Errors
/// Says what stands in the way; see [`OpenError`].
pub fn migrate_down(url: &DatabaseUrl) -> Result<(), OpenError> {
    match url.target() {
        #[cfg(feature = "sqlite")]
        Target::Sqlite(path) => super::sqlite::migrate_down(path),
        #[cfg(not(feature = "sqlite"))]
        Target::Sqlite(_) => Err(OpenError::NotBuiltIn("SQLite")),
        #[cfg(feature = "postgres")]
        Target::Postgres(url) => super::postgres::migrate_down(url),
        #[cfg(not(feature = "postgres"))]
        Target::Postgres(_) => Err(OpenError::NotBuiltIn("PostgreSQL")),
    }
}
