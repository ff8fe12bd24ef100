//! A store to throw away after a test, on either database.

mod exemptions;
mod side;

use core::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io, thread};

use diesel::sql_types::Text;
use diesel::{Connection, PgConnection, QueryResult, QueryableByName, RunQueryDsl, sql_query};
use tempfile::TempDir;
use workforce_domain::port::Store;
use workforce_domain::time::Timestamp;
use workforce_infra::store::{
    BrokenInvariant, DatabaseUrl, Durability, OpenOptions, broken_invariants, open,
};

pub use exemptions::Exemptions;
pub use side::SideConnection;

use crate::postgres::{TestDatabase, migrated_database, shared_cluster_url};

/// So many of the rows that break an invariant are told of.
const ROWS_TOLD: usize = 500;

/// An open store with empty tables, removed with everything in it when this value is dropped.
///
/// Every invariant of the store must hold then, or the test fails, unless it said that it
/// [breaks it on purpose](Self::breaks_on_purpose).
pub struct TestStore {
    // Dropped in this order: connections first.
    store: Arc<dyn Store>,
    url: DatabaseUrl,
    connection: String,
    data: Data,
    exemptions: Arc<Exemptions>,
}

/// Where the data lies; kept for its end.
enum Data {
    Sqlite(TempDir),
    #[expect(dead_code, reason = "dropping the value removes the data")]
    Postgres(TestDatabase),
}

impl TestStore {
    /// The store, to share with what is tested.
    #[must_use]
    pub fn shared(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// The store of another server on the same database, which only PostgreSQL lets two have.
    ///
    /// # Panics
    /// When it cannot be opened.
    #[must_use]
    #[track_caller]
    pub fn beside(&self) -> Arc<dyn Store> {
        open(&self.url, &OpenOptions::default())
            .unwrap_or_else(|error| panic!("failed to open {} again: {error:?}", self.url))
    }

    /// What of the invariants is not asked for in the end.
    #[must_use]
    pub const fn exemptions(&self) -> &Arc<Exemptions> {
        &self.exemptions
    }

    /// See [`Exemptions::breaks_on_purpose`].
    ///
    /// # Panics
    /// When there is no invariant of such a name.
    #[track_caller]
    pub fn breaks_on_purpose(&self, names: &[&'static str]) {
        self.exemptions.breaks_on_purpose(names);
    }

    /// See [`Exemptions::is_beneath_the_rules`].
    pub fn is_beneath_the_rules(&self) {
        self.exemptions.is_beneath_the_rules();
    }

    /// The invariants that do not hold now, each with up to 500 rows.
    ///
    /// # Panics
    /// When the database cannot be asked.
    #[must_use]
    #[track_caller]
    pub fn broken_invariants(&self) -> Vec<BrokenInvariant> {
        broken_invariants(&self.url, ROWS_TOLD)
            .unwrap_or_else(|error| panic!("failed to ask {}: {error:?}", self.url))
    }

    /// What the store was opened with.
    #[must_use]
    pub const fn url(&self) -> &DatabaseUrl {
        &self.url
    }

    /// What a connection of one's own is established with: a path, or a PostgreSQL URL.
    #[must_use]
    pub fn connection(&self) -> &str {
        &self.connection
    }

    /// Runs a statement past the store, on a connection of its own.
    ///
    /// # Panics
    /// When the statement fails.
    #[track_caller]
    pub fn execute(&self, statement: &str) {
        self.side_connection().execute(statement);
    }

    /// A connection beside the store, for statements past it.
    ///
    /// # Panics
    /// When there is none to be had.
    #[must_use]
    #[track_caller]
    pub fn side_connection(&self) -> SideConnection {
        match self.data {
            Data::Postgres(_) => SideConnection::postgres(&self.connection),
            Data::Sqlite(_) => SideConnection::sqlite(&self.connection),
        }
    }

    /// Whether this text lies anywhere in the database, in a column of text or of bytes.
    ///
    /// # Panics
    /// When the database cannot be searched.
    #[must_use]
    #[track_caller]
    pub fn holds(&self, text: &str) -> bool {
        match &self.data {
            Data::Postgres(_) => PgConnection::establish(&self.connection)
                .map_err(|error| error.to_string())
                .and_then(|mut connection| {
                    rows_holding(&mut connection, text).map_err(|error| error.to_string())
                })
                .unwrap_or_else(|error| panic!("{}: {error}", self.connection)),
            Data::Sqlite(folder) => files_hold(folder.path(), text.as_bytes())
                .unwrap_or_else(|error| panic!("{}: {error}", self.connection)),
        }
    }

    /// An instant as a statement for [`execute`](Self::execute) spells it.
    #[must_use]
    pub fn literal(&self, at: Timestamp) -> String {
        match self.data {
            Data::Postgres(_) => format!("'{at}'"),
            Data::Sqlite(_) => at.micros().to_string(),
        }
    }
}

impl Drop for TestStore {
    fn drop(&mut self) {
        // A test that has failed already says why itself.
        if self.exemptions.are_all() || thread::panicking() {
            return;
        }
        let mut broken = self.broken_invariants();
        broken.retain(|it| !self.exemptions.contain(it.name));
        let lines: Vec<_> = broken.iter().map(ToString::to_string).collect();
        assert!(
            broken.is_empty(),
            "broken at the end:\n{}",
            lines.join("\n")
        );
    }
}

impl Deref for TestStore {
    type Target = dyn Store;

    fn deref(&self) -> &(dyn Store + 'static) {
        &*self.store
    }
}

/// Whether one of these files has these bytes.
fn files_hold(folder: &Path, bytes: &[u8]) -> io::Result<bool> {
    for file in fs::read_dir(folder)? {
        let content = fs::read(file?.path())?;
        if content.windows(bytes.len()).any(|window| window == bytes) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The name of a table.
#[derive(QueryableByName)]
struct Table {
    #[diesel(sql_type = Text)]
    name: String,
}

/// Whether a row of any table has this text: as it stands, or as PostgreSQL spells its bytes.
fn rows_holding(connection: &mut PgConnection, text: &str) -> QueryResult<bool> {
    let tables: Vec<Table> =
        sql_query("SELECT tablename::text AS name FROM pg_tables WHERE schemaname = 'public'")
            .load(connection)?;
    for Table { name } in tables {
        let statement = format!(
            "SELECT 1 FROM \"{name}\" AS t WHERE strpos(t::text, $1) > 0 \
             OR strpos(t::text, encode(convert_to($1, 'UTF8'), 'hex')) > 0 LIMIT 1"
        );
        if sql_query(statement)
            .bind::<Text, _>(text)
            .execute(connection)?
            > 0
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A new store on SQLite.
///
/// # Panics
/// When it cannot be opened: there is no test to run then.
#[must_use]
#[track_caller]
pub fn sqlite_store() -> TestStore {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no folder: {error}"));
    let connection = format!("{}/workforce.db", folder.path().display());
    opened(
        DatabaseUrl::sqlite(&connection),
        connection,
        Data::Sqlite(folder),
    )
}

/// A new store on PostgreSQL; `None` where no server is installed.
///
/// # Panics
/// When it cannot be opened: there is no test to run then.
#[must_use]
#[track_caller]
pub fn postgres_store() -> Option<TestStore> {
    let database = migrated_database(&shared_cluster_url()?);
    let connection = database.url().to_owned();
    let url = connection
        .parse()
        .unwrap_or_else(|error| panic!("{connection}: {error}"));
    Some(opened(url, connection, Data::Postgres(database)))
}

#[track_caller]
fn opened(url: DatabaseUrl, connection: String, data: Data) -> TestStore {
    let options = OpenOptions {
        durability: Durability::ProcessEnd,
        ..OpenOptions::default()
    };
    match open(&url, &options) {
        Ok(store) => TestStore {
            store,
            url,
            connection,
            data,
            exemptions: Arc::default(),
        },
        Err(error) => panic!("failed to open {url}: {error:?}"),
    }
}

/// Turns functions that take a `&TestStore` into tests on both databases: each `name` becomes
/// `sqlite::name` and `postgres::name`. Once per module, since it declares those two.
///
/// Tests of ports, which write rows past the rules, begin with `#![beneath_the_rules]`: of their
/// stores no invariant is asked for.
///
/// ```
/// # #[expect(unused_imports)]
/// use workforce_testkit::store::TestStore;
///
/// workforce_testkit::on_both_databases! {
///     fn an_empty_store_answers(store: &TestStore) {
///         store.read::<_, std::convert::Infallible>(|_| Ok(())).unwrap();
///     }
/// }
/// ```
#[macro_export]
macro_rules! on_both_databases {
    (#![beneath_the_rules] $($(#[$meta:meta])* fn $name:ident($store:ident: &TestStore) $body:block)+) => {
        $crate::on_both_databases! {
            $($(#[$meta])* fn $name($store: &TestStore) {
                $store.is_beneath_the_rules();
                $body
            })+
        }
    };
    ($($(#[$meta:meta])* fn $name:ident($store:ident: &TestStore) $body:block)+) => {
        $($(#[$meta])* fn $name($store: &$crate::store::TestStore) $body)+

        mod sqlite {
            $(#[test]
            fn $name() {
                super::$name(&$crate::store::sqlite_store());
            })+
        }

        mod postgres {
            $(#[test]
            fn $name() {
                if let Some(store) = $crate::store::postgres_store() {
                    super::$name(&store);
                }
            })+
        }
    };
}
