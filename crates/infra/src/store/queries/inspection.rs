//! What a database is asked for as a whole.

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::Text;
use workforce_domain::port::StoreError;

use super::super::Connection;
use crate::store::errors::failed;

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text)]
    line: String,
}

/// The texts that a query selects as `line`.
pub(in crate::store) fn lines(
    conn: &mut Connection,
    query: &str,
) -> Result<Vec<String>, StoreError> {
    let lines: Vec<Line> = sql_query(query).load(conn).map_err(failed)?;
    Ok(lines.into_iter().map(|it| it.line).collect())
}

/// The migrations that were applied, oldest first.
pub(in crate::store) fn applied_migrations(
    conn: &mut Connection,
) -> Result<Vec<String>, StoreError> {
    lines(
        conn,
        "SELECT CAST(version AS text) AS line FROM __diesel_schema_migrations ORDER BY 1",
    )
}

/// Forgets the processes of all runs.
pub(in crate::store) fn forget_processes(conn: &mut Connection) -> Result<(), StoreError> {
    sql_query("DELETE FROM run_processes")
        .execute(conn)
        .map(drop)
        .map_err(failed)
}
