//! A database as a whole: looked at without changing it, and filled from a copy.

use diesel::RunQueryDsl;
use diesel::connection::SimpleConnection;
use diesel::sql_query;
use diesel::sql_types::BigInt;
use workforce_domain::port::{Reads, StoreError};
use workforce_domain::time::Timestamp;

use super::open::{MIGRATION_LOCK, MIGRATIONS, ONE_PICTURE, connect};
use super::queries::inspection::{applied_migrations, forget_processes, lines};
use super::queries::installation::forget_attachments;
use super::queries::repairs::{sum_up_costs, take_back_leases};
use super::{Connection, Transaction};
use crate::store::OpenError;
use crate::store::errors::failed;
use crate::store::inspection::{DatabaseState, Inspect, SchemaState};
use crate::store::migrations::known_versions;
use crate::store::upkeep::Repair;

/// What others than PostgreSQL itself and its extensions put into a database: they have the
/// numbers from 16384 on.
const CONTENTS: &str = "SELECT CAST(c.relname AS text) AS line FROM pg_class c
    WHERE c.oid >= 16384 AND NOT EXISTS (SELECT 1 FROM pg_depend d
        JOIN pg_extension x ON x.oid = d.refobjid WHERE d.objid = c.oid)
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
        let version = lines(conn, "SELECT split_part(version(), ' ', 2) AS line")?;
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

    fn lines(&mut self, query: &str) -> Result<Vec<String>, StoreError> {
        lines(&mut self.0, query)
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

/// Forgets the processes of all runs, and where attachments are, in the database at `url`.
pub(crate) fn take_over(url: &str, forgets_attachments: bool) -> Result<(), StoreError> {
    let mut conn = connect(url).map_err(StoreError::Unavailable)?;
    forget_processes(&mut conn)?;
    match forgets_attachments {
        true => forget_attachments(&mut conn).map_err(failed),
        false => Ok(()),
    }
}

/// Makes something anew from other rows, in the database at `url`. Servers may be at work.
pub(crate) fn repair(url: &str, repair: Repair) -> Result<usize, OpenError> {
    let stopped = |error: StoreError| OpenError::Connect(error.into());
    let mut conn = connect(url).map_err(OpenError::Connect)?;
    let run = |conn: &mut Connection, word| {
        let outcome = conn.batch_execute(word).map_err(failed);
        outcome.map_err(stopped)
    };
    run(&mut conn, "BEGIN")?;
    let repaired = match repair {
        Repair::SpendTotals => sum_up_costs(&mut conn),
        Repair::Leases => take_back_leases(&mut conn),
    };
    // Unless this is reached, the transaction ends with the connection.
    let repaired = repaired.map_err(stopped)?;
    run(&mut conn, "COMMIT")?;
    Ok(repaired)
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
