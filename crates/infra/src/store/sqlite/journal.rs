//! The end of a transaction that wrote: its events and activity.

use diesel::dsl::case_when;
use diesel::insert_into;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use workforce_domain::Document;
use workforce_domain::activity::{Action, Activity, Entity, Event, EventKind};
use workforce_domain::actor::ActorKind;
use workforce_domain::id::{ActivityId, AgentId, CompanyId, RunId};
use workforce_domain::port::StoreError;
use workforce_domain::time::Timestamp;

use super::transaction::CompanyJournal;
use super::{Connection, TransactionNumber, change_one};
use crate::store::cached::cached_here;
use crate::store::columns::{IdColumn, InstantColumn, JsonColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{activity, company_counters, events};

/// Rows in one statement; stays below every limit on bound values.
const BATCH: usize = 500;

/// So few rows are inserted one by one: that statement stays prepared, while one for several
/// rows is prepared each time, which costs as much as a second row.
const FEW: usize = 2;

/// Inserts rows of one table.
macro_rules! insert_rows {
    ($table:expr, $rows:expr, $conn:expr) => {
        if $rows.len() <= FEW {
            for row in &$rows {
                cached_here!(insert_into($table).values(row))
                    .execute($conn)
                    .map_err(failed)?;
            }
        } else {
            for batch in $rows.chunks(BATCH) {
                insert_into($table)
                    .values(batch)
                    .execute($conn)
                    .map_err(failed)?;
            }
        }
    };
}

/// Numbers the events of one company, gives its activity an instant after all that was committed
/// before, and inserts both.
pub(super) fn write(
    conn: &mut Connection,
    journal: &CompanyJournal<'_>,
) -> Result<TransactionNumber, StoreError> {
    let count = journal.events.len() as i64;
    let latest = journal.latest();
    let clock = company_counters::activity_clock;
    // A transaction that waited for another one may have begun first, at an earlier instant.
    // Its activity still comes after the other's.
    let counters = company_counters::table.find(IdColumn(journal.company));
    let sequence = company_counters::event_sequence;
    let number = sequence.eq(sequence + count);
    let after = case_when(clock.lt(latest), latest.into_sql::<BigInt>()).otherwise(clock + 1);
    let columns = (sequence, clock);
    let changed = match journal.dispatched {
        None => change_one!(counters, (number, clock.eq(after)), columns, conn),
        Some(at) => {
            let dispatched = company_counters::last_dispatched_at.eq(InstantColumn(at));
            let changes = (number, clock.eq(after), dispatched);
            change_one!(counters, changes, columns, conn)
        }
    };
    // Every company has counters, so this one was deleted meanwhile.
    let (last_number, micros): (i64, i64) =
        changed.map_err(failed)?.ok_or(StoreError::Contended)?;
    let at = Timestamp::from_micros(micros);
    let rows = journal.activity.iter();
    let rows: Vec<_> = rows.map(|row| NewActivityRow::of(row, at)).collect();
    insert_rows!(activity::table, rows, conn);
    let rows: Vec<_> = (last_number - count + 1..)
        .zip(&journal.events)
        .map(|(number, event)| NewEventRow::of(event, number))
        .collect();
    insert_rows!(events::table, rows, conn);
    Ok(())
}

#[derive(Insertable)]
#[diesel(table_name = activity, treat_none_as_default_value = false)]
struct NewActivityRow<'a> {
    id: IdColumn<ActivityId>,
    company_id: IdColumn<CompanyId>,
    actor_type: StringEnumColumn<ActorKind>,
    actor_id: &'a str,
    agent_id: Option<IdColumn<AgentId>>,
    run_id: Option<IdColumn<RunId>>,
    action: StringEnumColumn<Action>,
    entity_type: StringEnumColumn<Entity>,
    entity_id: &'a str,
    details: JsonColumn<&'a Document>,
    created_at: InstantColumn,
}

impl<'a> NewActivityRow<'a> {
    fn of(activity: &'a Activity, at: Timestamp) -> Self {
        Self {
            id: IdColumn(activity.id),
            company_id: IdColumn(activity.company),
            actor_type: StringEnumColumn(activity.actor_kind),
            actor_id: &activity.actor_id,
            agent_id: activity.agent.map(IdColumn),
            run_id: activity.run.map(IdColumn),
            action: StringEnumColumn(activity.action),
            entity_type: StringEnumColumn(activity.entity),
            entity_id: &activity.entity_id,
            details: JsonColumn(&activity.details),
            created_at: InstantColumn(at),
        }
    }
}

#[derive(Insertable)]
#[diesel(table_name = events, treat_none_as_default_value = false)]
struct NewEventRow<'a> {
    company_id: IdColumn<CompanyId>,
    seq: i64,
    type_: StringEnumColumn<EventKind>,
    payload: JsonColumn<&'a Document>,
    created_at: InstantColumn,
}

impl<'a> NewEventRow<'a> {
    fn of(event: &'a Event, number: i64) -> Self {
        Self {
            company_id: IdColumn(event.company),
            seq: number,
            type_: StringEnumColumn(event.kind),
            payload: JsonColumn(&event.payload),
            created_at: InstantColumn(event.created_at),
        }
    }
}
