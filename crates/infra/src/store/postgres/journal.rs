//! The end of a transaction that wrote: its events and activity.
//!
//! It is one statement. Whoever writes for the same company waits from here until the commit, and
//! each round trip before that would keep them waiting for as long as the network and both
//! processes take.

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{Array, BigInt, Nullable, Text};
use workforce_domain::port::StoreError;

use super::transaction::CompanyJournal;
use super::{Connection, TransactionNumber};
use crate::store::cached::cached_here;
use crate::store::columns::{
    IdColumn, Instant, InstantColumn, Json, JsonColumn, Key, StringEnumColumn,
};
use crate::store::errors::failed;

/// Numbers the events, gives the activity its instant, and inserts both. A transaction that waited
/// for another one may have begun first, at an earlier instant. Its activity still comes after the
/// other's.
const WRITE: &str = "WITH counters AS ( \
         UPDATE company_counters SET \
             event_sequence = event_sequence + cardinality(CAST($2 AS text[])), \
             activity_clock = CASE WHEN activity_clock < $3 THEN $3 ELSE activity_clock + 1 END, \
             last_dispatched_at = COALESCE($4, last_dispatched_at) \
         WHERE company_id = $1 \
         RETURNING event_sequence - cardinality(CAST($2 AS text[])) AS sequence, \
             to_timestamp(0) + activity_clock * make_interval(secs => 0.000001) AS instant \
     ), told AS ( \
         INSERT INTO events (company_id, seq, type, payload, created_at) \
         SELECT $1, sequence + place, type, payload, created_at \
         FROM counters, unnest(CAST($2 AS text[]), CAST($5 AS jsonb[]), CAST($6 AS timestamptz[])) \
             WITH ORDINALITY AS event (type, payload, created_at, place) \
     ), logged AS ( \
         INSERT INTO activity (id, company_id, actor_type, actor_id, agent_id, run_id, action, \
             entity_type, entity_id, details, created_at) \
         SELECT id, $1, actor_type, actor_id, agent_id, run_id, action, entity_type, entity_id, \
             details, instant \
         FROM counters, unnest(CAST($7 AS uuid[]), CAST($8 AS text[]), CAST($9 AS text[]), \
             CAST($10 AS uuid[]), CAST($11 AS uuid[]), CAST($12 AS text[]), CAST($13 AS text[]), \
             CAST($14 AS text[]), CAST($15 AS jsonb[])) AS deed (id, actor_type, actor_id, agent_id, \
             run_id, action, entity_type, entity_id, details) \
     ) \
     SELECT pg_current_xact_id() AS number FROM counters";

#[derive(QueryableByName)]
struct Written {
    #[diesel(sql_type = BigInt)]
    number: TransactionNumber,
}

/// Writes what happened in one company, and returns the number of the transaction. It locks the
/// counters of the company.
pub(super) fn write(
    conn: &mut Connection,
    journal: &CompanyJournal<'_>,
) -> Result<TransactionNumber, StoreError> {
    /// One value of each row.
    macro_rules! of_each {
        ($rows:ident, $value:expr) => {
            journal.$rows.iter().map($value).collect::<Vec<_>>()
        };
    }
    let write = sql_query(WRITE)
        .bind::<Key, _>(IdColumn(journal.company))
        .bind::<Array<Text>, _>(of_each!(events, |it| StringEnumColumn(it.kind)))
        .bind::<BigInt, _>(journal.latest())
        .bind::<Nullable<Instant>, _>(journal.dispatched.map(InstantColumn))
        .bind::<Array<Json>, _>(of_each!(events, |it| JsonColumn(&it.payload)))
        .bind::<Array<Instant>, _>(of_each!(events, |it| InstantColumn(it.created_at)))
        .bind::<Array<Key>, _>(of_each!(activity, |it| IdColumn(it.id)))
        .bind::<Array<Text>, _>(of_each!(activity, |it| StringEnumColumn(it.actor_kind)))
        .bind::<Array<Text>, _>(of_each!(activity, |it| it.actor_id.as_str()))
        .bind::<Array<Nullable<Key>>, _>(of_each!(activity, |it| it.agent.map(IdColumn)))
        .bind::<Array<Nullable<Key>>, _>(of_each!(activity, |it| it.run.map(IdColumn)))
        .bind::<Array<Text>, _>(of_each!(activity, |it| StringEnumColumn(it.action)))
        .bind::<Array<Text>, _>(of_each!(activity, |it| StringEnumColumn(it.entity)))
        .bind::<Array<Text>, _>(of_each!(activity, |it| it.entity_id.as_str()))
        .bind::<Array<Json>, _>(of_each!(activity, |it| JsonColumn(&it.details)));
    let written: Option<Written> = cached_here!(write)
        .get_result(conn)
        .optional()
        .map_err(failed)?;
    // Every company has counters, so this one was deleted meanwhile.
    written.map(|it| it.number).ok_or(StoreError::Contended)
}
