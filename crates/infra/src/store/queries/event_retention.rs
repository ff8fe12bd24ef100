//! Events are kept for a while, not for ever (docs/events.md#retention).

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::BigInt;
use workforce_domain::id::CompanyId;
use workforce_domain::port::StoreError;
use workforce_domain::time::Timestamp;

use super::super::Connection;
use super::page::row_limit;
use crate::store::columns::{IdColumn, Instant, InstantColumn, Key};
use crate::store::errors::failed;
use crate::store::schema::events;

/// A company whose oldest event is to be forgotten.
#[derive(QueryableByName)]
struct Overdue {
    #[diesel(sql_type = Key)]
    company: IdColumn<CompanyId>,
    #[diesel(sql_type = BigInt)]
    latest: i64,
}

/// Deletes at most `limit` events, the oldest first, so that no gap is left in
/// the rest. Returns how many it deleted.
pub(super) fn delete_surplus(
    conn: &mut Connection,
    before: Timestamp,
    keep: i64,
    limit: usize,
) -> Result<usize, StoreError> {
    // Of each company only the oldest event is looked at.
    let overdue: Vec<Overdue> = sql_query(
        "SELECT n.company_id AS company, n.event_sequence AS latest
         FROM company_counters n
         JOIN events e ON e.company_id = n.company_id AND e.seq = (
             SELECT MIN(o.seq) FROM events o WHERE o.company_id = n.company_id)
         WHERE e.created_at < $1 OR e.seq <= n.event_sequence - $2
         ORDER BY n.company_id
         LIMIT $3",
    )
    .bind::<Instant, _>(InstantColumn(before))
    .bind::<BigInt, _>(keep)
    .bind::<BigInt, _>(row_limit(limit))
    .load(conn)
    .map_err(failed)?;
    let mut deleted = 0;
    for Overdue { company, latest } in overdue {
        let oldest: Vec<(i64, InstantColumn)> = events::table
            .filter(events::company_id.eq(company))
            .order(events::seq)
            .limit(row_limit(limit - deleted))
            .select((events::seq, events::created_at))
            .load(conn)
            .map_err(failed)?;
        let last = oldest
            .into_iter()
            .take_while(|(number, at)| at.0 < before || *number <= latest - keep)
            .last();
        if let Some((last, _)) = last {
            deleted += diesel::delete(events::table)
                .filter(events::company_id.eq(company))
                .filter(events::seq.le(last))
                .execute(conn)
                .map_err(failed)?;
        }
        if deleted >= limit {
            break;
        }
    }
    Ok(deleted)
}
