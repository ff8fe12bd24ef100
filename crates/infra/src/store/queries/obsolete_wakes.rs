//! Wakes that nobody will ever answer.

use std::sync::LazyLock;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Nullable};
use workforce_domain::id::{IssueId, WakeId};
use workforce_domain::port::StoreError;
use workforce_domain::time::Timestamp;

use super::super::{Connection, for_update};
use super::page::row_limit;
use super::predicates::{ended_issue, execution_wake, pending_wake, terminated_agent};
use super::wakes;
use crate::store::columns::{IdColumn, Key};
use crate::store::errors::failed;
use crate::store::schema::issues;

/// A wake that nobody will ever answer.
#[derive(QueryableByName)]
pub(super) struct ObsoleteWake {
    #[diesel(sql_type = Key)]
    wake: IdColumn<WakeId>,
    #[diesel(sql_type = Nullable<Key>)]
    issue: Option<IdColumn<IssueId>>,
}

/// The wakes whose agent is terminated or whose issue has ended.
pub(super) static PURPOSELESS: LazyLock<String> = LazyLock::new(|| {
    let (pending, execution) = (pending_wake("w"), execution_wake("w"));
    let (terminated, ended) = (terminated_agent("a"), ended_issue("i"));
    format!(
        "wakes w
         JOIN agents a ON a.company_id = w.company_id AND a.id = w.agent_id
         LEFT JOIN issues i ON i.company_id = w.company_id AND i.id = w.issue_id
         WHERE {pending} AND ({terminated} OR ({execution} AND {ended}))"
    )
});

static OLDEST: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT w.id AS wake, w.issue_id AS issue
         FROM {}
         ORDER BY w.id
         LIMIT $1",
        *PURPOSELESS
    )
});

/// The wakes whose agent is terminated or whose issue has ended, oldest first.
pub(super) fn find(conn: &mut Connection, limit: usize) -> Result<Vec<ObsoleteWake>, StoreError> {
    sql_query(OLDEST.as_str())
        .bind::<BigInt, _>(row_limit(limit))
        .load(conn)
        .map_err(failed)
}

/// Cancels at most `limit` such wakes with their queued runs; how many it was.
pub(super) fn cancel(
    conn: &mut Connection,
    now: Timestamp,
    limit: usize,
) -> Result<usize, StoreError> {
    let met = find(conn, limit)?;
    // An issue may be reopened at this very moment: lock it, then check again. A terminated agent
    // stays terminated.
    let of_issues: Vec<_> = met.iter().filter_map(|wake| wake.issue).collect();
    for_update!(
        issues::table
            .filter(issues::id.eq_any(of_issues))
            .order(issues::id.desc())
            .select(issues::id)
    )
    .load::<IdColumn<IssueId>>(conn)
    .map_err(failed)?;
    let known: Vec<_> = met.iter().map(|wake| wake.wake).collect();
    let still: Vec<_> = find(conn, limit)?
        .into_iter()
        .map(|wake| wake.wake)
        .filter(|wake| known.contains(wake))
        .collect();
    Ok(wakes::cancel(conn, wakes::Stopped::These(still), now)?.len())
}
