use diesel::prelude::*;
use workforce_domain::Document;
use workforce_domain::activity::{Action, Activity, Entity, Event, EventKind};
use workforce_domain::actor::ActorKind;
use workforce_domain::id::{ActivityId, AgentId, CompanyId, RunId};
use workforce_domain::time::Timestamp;

use crate::store::columns::{IdColumn, InstantColumn, JsonColumn, StringEnumColumn};
use crate::store::schema::{activity, events};

#[derive(Insertable)]
#[diesel(table_name = activity, treat_none_as_default_value = false)]
pub(super) struct NewActivityRow<'a> {
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
    pub(super) fn of(activity: &'a Activity, at: Timestamp) -> Self {
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
pub(super) struct NewEventRow<'a> {
    company_id: IdColumn<CompanyId>,
    seq: i64,
    type_: StringEnumColumn<EventKind>,
    payload: JsonColumn<&'a Document>,
    created_at: InstantColumn,
}

impl<'a> NewEventRow<'a> {
    pub(super) fn of(event: &'a Event, number: i64) -> Self {
        Self {
            company_id: IdColumn(event.company),
            seq: number,
            type_: StringEnumColumn(event.kind),
            payload: JsonColumn(&event.payload),
            created_at: InstantColumn(event.created_at),
        }
    }
}
