//! What happened to a run and within it.

use diesel::prelude::*;
use workforce_domain::activity::{Activity, Entity};
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::RunId;
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{ActivityCursor, StoreError};
use workforce_domain::time::Timestamp;

use super::super::{Connection, LoadingMode};
use super::activity::ActivityRow;
use super::page::{KWayMerge, SortedRun, fetch_limit};
use crate::store::columns::{IdColumn, InstantColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::activity;

/// The rows about a run and the rows of its own deeds, oldest first. Each of the
/// two has an index.
pub(super) fn list(
    conn: &mut Connection,
    company: CompanyScope,
    run: RunId,
    page: &PageRequest<ActivityCursor>,
) -> Result<Page<Activity, ActivityCursor>, StoreError> {
    let entity = activity::entity_type.eq(StringEnumColumn(Entity::HeartbeatRun));
    let streams = [true, false].map(|about| {
        let mut query = activity::table
            .filter(activity::company_id.eq(IdColumn(company.company())))
            .select(ActivityRow::as_select())
            .into_boxed();
        query = if about {
            query
                .filter(entity)
                .filter(activity::entity_id.eq(run.to_string()))
        } else {
            // The other list already has what a run did to itself.
            query
                .filter(activity::run_id.eq(IdColumn(run)))
                .filter(activity::entity_id.ne(run.to_string()))
        };
        if let Some(after) = page.after {
            let at = InstantColumn(Timestamp::from_micros(after.at));
            query = query.filter(activity::created_at.ge(at)).filter(
                activity::created_at
                    .gt(at)
                    .or(activity::id.gt(IdColumn(after.id))),
            );
        }
        let rows = query
            .order((activity::created_at, activity::id))
            .limit(fetch_limit(page))
            .load_iter::<ActivityRow, LoadingMode>(conn)
            .map_err(failed)?;
        SortedRun::read(rows, page.limit.max(1), page.max_bytes)
    });
    let [about, within] = streams;
    let mut merged = KWayMerge::new(page);
    merged.take(vec![about?, within?], |one: &Activity, other: &Activity| {
        (one.created_at, one.id) < (other.created_at, other.id)
    });
    Ok(merged.finish(|row| CreationKey {
        at: row.created_at.micros(),
        id: row.id,
    }))
}
