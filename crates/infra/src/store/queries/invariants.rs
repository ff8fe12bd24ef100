//! Asks whether the invariants hold.

use diesel::Connection as _;
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Text};
use workforce_domain::id::CompanyId;

use super::super::{Connection, MONTH_OF_COST};
use super::page::row_limit;
use crate::store::columns::{IdColumn, Key};
use crate::store::invariants::{BrokenInvariant, Invariant, MONTH, OffendingRow, all};

#[derive(QueryableByName)]
struct Found {
    #[diesel(sql_type = Key)]
    company: IdColumn<CompanyId>,
    #[diesel(sql_type = Text)]
    what: String,
}

/// The invariants that do not hold, each with up to `limit` rows, of one picture.
pub(in crate::store) fn broken(
    conn: &mut Connection,
    limit: usize,
) -> QueryResult<Vec<BrokenInvariant>> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the connection is one of its own, which only reads"
    )]
    conn.transaction(|conn| {
        let mut broken = Vec::new();
        for invariant in all() {
            let rows = offending(conn, invariant, limit)?;
            if !rows.is_empty() {
                broken.push(BrokenInvariant {
                    name: invariant.name,
                    sentence: invariant.sentence,
                    rows,
                });
            }
        }
        Ok(broken)
    })
}

fn offending(
    conn: &mut Connection,
    invariant: &Invariant,
    limit: usize,
) -> QueryResult<Vec<OffendingRow>> {
    let rows = invariant.rows.replace(MONTH, MONTH_OF_COST);
    let found: Vec<Found> = sql_query(format!(
        "SELECT company, what FROM ({rows}) AS offending ORDER BY company, what LIMIT $1"
    ))
    .bind::<BigInt, _>(row_limit(limit.max(1)))
    .load(conn)?;
    Ok(found
        .into_iter()
        .map(|found| OffendingRow {
            company: found.company.0,
            what: found.what,
        })
        .collect())
}
