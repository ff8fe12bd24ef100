use std::sync::Arc;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;
use diesel::{SqliteConnection, sql_query};
use workforce_domain::port::{EventFeed, Reads, Store, StoreError, Tx, Verdict};
use workforce_vitals::DiskSpace;

use super::Transaction;
use super::open::{EACH, MIGRATIONS};
use super::queries::invariants;
use super::statement::{Begin, Rollback, Statement};
use super::writer::Writer;
use crate::store::OpenError;
use crate::store::errors::failed;
use crate::store::feed::Listeners;
use crate::store::invariants::BrokenInvariant;
use crate::store::migrations::migrate;
use crate::store::retry::until_settled;

/// The tables that hold rows of the service. Those of the full text index are filled and emptied
/// by triggers, and the list of migrations stays.
const TABLES: &str = "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE TABLE %' \
    AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_\\_%' ESCAPE '\\' \
    AND name NOT LIKE 'issue\\_text\\_index%' ESCAPE '\\' ORDER BY rowid DESC";

#[derive(QueryableByName)]
struct Table {
    #[diesel(sql_type = Text)]
    name: String,
}

/// A store in memory, for programs that embed the use cases, for tests and for simulations. One
/// connection reads and writes, and everything is gone with it.
///
/// The statements, the writer and the tables are those of every store on SQLite.
pub struct MemoryStore {
    writer: Writer,
    listeners: Listeners,
    disk_space: DiskSpace,
    /// Empties every table.
    emptying: String,
}

impl MemoryStore {
    /// Makes an empty store.
    ///
    /// # Errors
    /// Says what stands in the way.
    pub fn open() -> Result<Arc<Self>, OpenError> {
        let refused = |error: diesel::result::Error| OpenError::Connect(error.into());
        let mut conn = SqliteConnection::establish(":memory:")
            .map_err(|error| OpenError::Connect(error.into()))?;
        conn.batch_execute(EACH).map_err(refused)?;
        conn.batch_execute("PRAGMA journal_mode = MEMORY; PRAGMA temp_store = MEMORY;")
            .map_err(refused)?;
        migrate(&mut conn, MIGRATIONS)?;
        let tables: Vec<Table> = sql_query(TABLES).load(&mut conn).map_err(refused)?;
        // With a company goes all that is its own. Settings would have every statement prepared
        // again, so none is changed for this.
        let deletions: String = tables
            .iter()
            .map(|Table { name }| format!("DELETE FROM \"{name}\";"))
            .collect();
        Ok(Arc::new(Self {
            writer: Writer::new(conn, None, None),
            listeners: Listeners::default(),
            disk_space: DiskSpace::default(),
            emptying: format!("BEGIN; DELETE FROM companies; {deletions} COMMIT;"),
        }))
    }

    /// Removes every row, which is faster than to open another store.
    ///
    /// # Errors
    /// When the store fails.
    pub fn clear(&self) -> Result<(), StoreError> {
        self.writer
            .alone(|conn| conn.batch_execute(&self.emptying).map_err(failed))
    }

    /// The invariants that do not hold now, each with up to `limit` of the rows that break it.
    ///
    /// # Errors
    /// When the store fails.
    pub fn broken_invariants(&self, limit: usize) -> Result<Vec<BrokenInvariant>, StoreError> {
        self.writer
            .alone(|conn| invariants::broken(conn, limit).map_err(failed))
    }
}

impl Store for MemoryStore {
    fn run_read(
        &self,
        body: &mut (dyn FnMut(&mut dyn Reads) -> Result<(), StoreError> + '_),
    ) -> Result<(), StoreError> {
        self.writer.alone(|conn| {
            Begin.run(conn)?;
            let outcome = body(&mut Transaction::on(conn));
            Rollback.run(conn).and(outcome)
        })
    }

    fn run_write(
        &self,
        body: &mut (dyn FnMut(&mut dyn Tx) -> Result<Verdict, StoreError> + '_),
    ) -> Result<(), StoreError> {
        until_settled(&self.disk_space, || {
            let companies = self.writer.run(&mut |tx| body(tx))?;
            self.listeners.notify(&companies);
            Ok(())
        })
    }

    fn feed(&self) -> &dyn EventFeed {
        &self.listeners
    }
}
