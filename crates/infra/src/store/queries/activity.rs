use diesel::prelude::*;
use workforce_domain::Document;
use workforce_domain::activity::{Action, Activity, Entity, Event, EventKind};
use workforce_domain::actor::{ActorKind, CompanyScope};
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{ActivityId, AgentId, CompanyId, RunId};
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{
    ActivityCursor, ActivityFilter, ActivityReads, EventSpan, NumberedEvent, StoreError,
};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::time::Timestamp;

use super::super::transaction::Transaction;
use super::super::{Connection, LoadingMode};
use super::page::{KWayMerge, SortedRun, fetch_limit, row_limit};
use super::row::{Row, all, document_length};
use super::run_events;
use crate::store::columns::{IdColumn, InstantColumn, JsonColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{activity, company_counters, events};

#[derive(Queryable, Selectable)]
#[diesel(table_name = activity)]
pub(super) struct ActivityRow {
    id: IdColumn<ActivityId>,
    company_id: IdColumn<CompanyId>,
    actor_type: StringEnumColumn<ActorKind>,
    actor_id: String,
    agent_id: Option<IdColumn<AgentId>>,
    run_id: Option<IdColumn<RunId>>,
    action: StringEnumColumn<Action>,
    entity_type: StringEnumColumn<Entity>,
    entity_id: String,
    details: JsonColumn<Document>,
    created_at: InstantColumn,
}

impl Row for ActivityRow {
    type Record = Activity;

    fn weight(&self) -> usize {
        document_length(&self.details.0)
    }

    fn restore(self) -> Result<Activity, Corrupt> {
        Ok(Activity {
            id: self.id.0,
            company: self.company_id.0,
            actor_kind: self.actor_type.0,
            actor_id: self.actor_id,
            agent: self.agent_id.map(|id| id.0),
            run: self.run_id.map(|id| id.0),
            action: self.action.0,
            entity: self.entity_type.0,
            entity_id: self.entity_id,
            details: self.details.0,
            created_at: self.created_at.0,
        })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = events)]
struct EventRow {
    company_id: IdColumn<CompanyId>,
    seq: i64,
    type_: StringEnumColumn<EventKind>,
    payload: JsonColumn<Document>,
    created_at: InstantColumn,
}

impl Row for EventRow {
    type Record = NumberedEvent;

    fn weight(&self) -> usize {
        document_length(&self.payload.0)
    }

    fn restore(self) -> Result<NumberedEvent, Corrupt> {
        Ok(NumberedEvent {
            sequence: self.seq,
            event: Event {
                company: self.company_id.0,
                kind: self.type_.0,
                payload: self.payload.0,
                created_at: self.created_at.0,
            },
        })
    }
}

fn before(one: &Activity, other: &Activity) -> bool {
    (one.created_at, one.id) > (other.created_at, other.id)
}

/// The beginning of the list, newest first; of one kind of thing when `entity`
/// names one.
fn read(
    conn: &mut Connection,
    company: CompanyScope,
    filter: &ActivityFilter,
    entity: Option<Entity>,
    page: &PageRequest<ActivityCursor>,
) -> Result<SortedRun<Activity>, StoreError> {
    let mut query = activity::table
        .filter(activity::company_id.eq(IdColumn(company.company())))
        .select(ActivityRow::as_select())
        .into_boxed();
    if let Some(agent) = filter.agent {
        query = query.filter(activity::agent_id.eq(IdColumn(agent)));
    }
    if let Some(entity) = entity {
        query = query.filter(activity::entity_type.eq(StringEnumColumn(entity)));
    }
    if let Some(id) = filter.entity_id.as_deref() {
        query = query.filter(activity::entity_id.eq(id));
    }
    if let Some(after) = page.after {
        let at = InstantColumn(Timestamp::from_micros(after.at));
        query = query.filter(activity::created_at.le(at)).filter(
            activity::created_at
                .lt(at)
                .or(activity::id.lt(IdColumn(after.id))),
        );
    }
    let rows = query
        .order((activity::created_at.desc(), activity::id.desc()))
        .limit(fetch_limit(page))
        .load_iter::<ActivityRow, LoadingMode>(conn)
        .map_err(failed)?;
    SortedRun::read(rows, page.limit.max(1), page.max_bytes)
}

impl ActivityReads for Transaction<'_> {
    /// Without a kind, each kind is searched for the id, since the index has
    /// the kind before the id.
    fn list(
        &mut self,
        company: CompanyScope,
        filter: &ActivityFilter,
        page: &PageRequest<ActivityCursor>,
    ) -> Result<Page<Activity, ActivityCursor>, StoreError> {
        let lanes = match (filter.entity, &filter.entity_id, filter.agent) {
            (None, Some(_), None) => Entity::ALL.iter().copied().map(Some).collect(),
            (entity, _, _) => vec![entity],
        };
        let mut streams = Vec::with_capacity(lanes.len());
        for lane in lanes {
            streams.push(read(self.conn, company, filter, lane, page)?);
        }
        let mut merged = KWayMerge::new(page);
        merged.take(streams, before);
        Ok(merged.finish(|row| CreationKey {
            at: row.created_at.micros(),
            id: row.id,
        }))
    }

    fn of_run(
        &mut self,
        company: CompanyScope,
        run: RunId,
        page: &PageRequest<ActivityCursor>,
    ) -> Result<Page<Activity, ActivityCursor>, StoreError> {
        run_events::list(self.conn, company, run, page)
    }

    fn events(
        &mut self,
        company: CompanyScope,
        after: i64,
        limit: usize,
    ) -> Result<Vec<NumberedEvent>, StoreError> {
        let rows: Vec<EventRow> = events::table
            .filter(events::company_id.eq(IdColumn(company.company())))
            .filter(events::seq.gt(after))
            .order(events::seq)
            .limit(row_limit(limit))
            .select(EventRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn event_span(&mut self, company: CompanyScope) -> Result<EventSpan, StoreError> {
        let company = IdColumn(company.company());
        let latest: Option<i64> = company_counters::table
            .find(company)
            .select(company_counters::event_sequence)
            .first(self.conn)
            .optional()
            .map_err(failed)?;
        let oldest: Option<i64> = events::table
            .filter(events::company_id.eq(company))
            .order(events::seq)
            .select(events::seq)
            .first(self.conn)
            .optional()
            .map_err(failed)?;
        let latest = latest.unwrap_or(0);
        Ok(EventSpan {
            oldest: oldest.unwrap_or(latest + 1),
            latest,
        })
    }
}
