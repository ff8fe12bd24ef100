//! Wakes that nobody will ever answer.

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Nullable};
use workforce_domain::id::{IssueId, RunId, WakeId};
use workforce_domain::port::StoreError;
use workforce_domain::run::WakeStatus;
use workforce_domain::time::Timestamp;

use super::super::{Connection, held};
use super::page::row_limit;
use super::wakes::{cancel_queued, pending};
use crate::store::columns::{IdColumn, InstantColumn, Key, WordColumn};
use crate::store::errors::failed;
use crate::store::schema::{issues, wakes};

/// A wake that nobody will ever answer.
#[derive(QueryableByName)]
pub(super) struct Purposeless {
    #[diesel(sql_type = Key)]
    pub(super) wake: IdColumn<WakeId>,
    #[diesel(sql_type = Nullable<Key>)]
    issue: Option<IdColumn<IssueId>>,
}

/// The wakes whose agent is terminated or whose issue has ended, oldest first.
pub(super) fn purposeless(
    conn: &mut Connection,
    limit: usize,
) -> Result<Vec<Purposeless>, StoreError> {
    sql_query(
        "SELECT w.id AS wake, w.issue_id AS issue
         FROM wakes w
         JOIN agents a ON a.company_id = w.company_id AND a.id = w.agent_id
         LEFT JOIN issues i ON i.company_id = w.company_id AND i.id = w.issue_id
         WHERE w.status = 'pending'
             AND (a.lifecycle = 'terminated'
                 OR (w.kind = 'execution' AND i.status IN ('done', 'cancelled')))
         ORDER BY w.id
         LIMIT $1",
    )
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
    let met = purposeless(conn, limit)?;
    // An issue may be reopened at this very moment: hold it, then look again. A terminated agent
    // stays one.
    let of_issues: Vec<_> = met.iter().filter_map(|wake| wake.issue).collect();
    held!(
        issues::table
            .filter(issues::id.eq_any(of_issues))
            .order(issues::id.desc())
            .select(issues::id)
    )
    .load::<IdColumn<IssueId>>(conn)
    .map_err(failed)?;
    let known: Vec<_> = met.iter().map(|wake| wake.wake).collect();
    let wakes: Vec<_> = purposeless(conn, limit)?
        .into_iter()
        .map(|wake| wake.wake)
        .filter(|wake| known.contains(wake))
        .collect();
    let runs: Vec<IdColumn<RunId>> = diesel::update(wakes::table)
        .filter(wakes::id.eq_any(wakes))
        .filter(pending())
        .set((
            wakes::status.eq(WordColumn(WakeStatus::Cancelled)),
            wakes::updated_at.eq(InstantColumn(now)),
        ))
        .returning(wakes::run_id)
        .get_results(conn)
        .map_err(failed)?;
    Ok(cancel_queued(conn, runs, now)?.len())
}
