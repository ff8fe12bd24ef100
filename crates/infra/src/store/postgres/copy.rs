//! A database as a whole: looked at without changing it, and filled from a copy.

use diesel::RunQueryDsl;
use diesel::connection::SimpleConnection;
use diesel::sql_query;
use diesel::sql_types::BigInt;
use workforce_domain::port::{Reads, StoreError};
use workforce_domain::time::Timestamp;

use super::open::{MIGRATION_LOCK, MIGRATIONS, ONE_PICTURE, connect};
use super::queries::inspection::{applied_migrations, forget_processes as forget, lines};
use super::{Connection, Transaction};
use crate::store::errors::failed;
use crate::store::migrations::known_versions;
use crate::store::upkeep::{DatabaseState, Inspect, SchemaState};

/// What others than PostgreSQL itself and its extensions put into a database.
const CONTENTS: &str = "SELECT CAST(c.relname AS text) AS line
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
    AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
    LIMIT 1";

/// A connection whose transactions only read.
struct ReadOnly(Connection);

/// Looks at the database at `url`.
pub(crate) fn inspect(url: &str) -> Result<Box<dyn Inspect>, StoreError> {
    let mut conn = connect(url).map_err(StoreError::Unavailable)?;
    conn.batch_execute(ONE_PICTURE).map_err(failed)?;
    Ok(Box::new(ReadOnly(conn)))
}

impl Inspect for ReadOnly {
    fn state(&mut self) -> Result<DatabaseState, StoreError> {
        let conn = &mut self.0;
        let version = lines(conn, "SELECT current_setting('server_version') AS line")?;
        let clock = lines(
            conn,
            "SELECT CAST(CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) AS text) \
             AS line",
        )?;
        let micros = clock.concat().parse().ok();
        Ok(DatabaseState {
            version: format!("PostgreSQL {}", version.concat()),
            schema: SchemaState::of(applied_migrations(conn)?, &known_migrations()),
            clock: micros.map(Timestamp::from_micros),
        })
    }

    fn damages(&mut self, _limit: usize) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    fn reading(
        &mut self,
        body: &mut dyn FnMut(&mut dyn Reads) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let conn = &mut self.0;
        conn.batch_execute("BEGIN").map_err(failed)?;
        let outcome = body(&mut Transaction::on(conn));
        conn.batch_execute("ROLLBACK").map_err(failed)?;
        outcome
    }
}

/// The versions of the migrations of this program.
pub(crate) fn known_migrations() -> Vec<String> {
    // They were read when this program was built.
    known_versions::<diesel::pg::Pg>(&MIGRATIONS).unwrap_or_default()
}

/// Forgets the processes of all runs in the database at `url`.
pub(crate) fn forget_processes(url: &str) -> Result<(), StoreError> {
    forget(&mut connect(url).map_err(StoreError::Unavailable)?)
}

/// Runs `fill` under the lock of those who change tables, if the database at `url` is empty.
pub(crate) fn fill_if_empty<T>(
    url: &str,
    fill: impl FnOnce() -> T,
) -> Result<Option<T>, StoreError> {
    let mut conn = connect(url).map_err(StoreError::Unavailable)?;
    sql_query("SELECT pg_advisory_lock($1)")
        .bind::<BigInt, _>(MIGRATION_LOCK)
        .execute(&mut conn)
        .map_err(failed)?;
    let is_empty = lines(&mut conn, CONTENTS)?.is_empty();
    // The lock is given back with the connection.
    Ok(is_empty.then(fill))
}
