//! What there is to do, and when: one statement, each part of which is served by an index.

use std::sync::LazyLock;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Nullable};
use workforce_domain::port::{Agenda, AgendaTerms, StoreError};

use super::super::Connection;
use super::obsolete_wakes::PURPOSELESS;
use super::predicates::{ended_issue, ready_worktree, running_run};
use super::start_instants::next_start;
use super::timers::{SET_TO_BEAT, TO_RISE, TO_SET};
use crate::store::cached::cached;
use crate::store::columns::{Instant, InstantColumn};
use crate::store::errors::failed;

/// `$1` is the present, and `$2` what tickets have ended by whose worktrees may be removed.
static AGENDA: LazyLock<String> = LazyLock::new(|| {
    let (start, running) = (next_start(), running_run("r"));
    let flag = |rows: &str| format!("CASE WHEN EXISTS ({rows}) THEN 1 ELSE 0 END");
    let obsolete = flag(&format!("SELECT 1 FROM {}", *PURPOSELESS));
    let to_set = flag(&format!("SELECT 1 FROM agents WHERE {TO_SET}"));
    let to_rise = flag(&format!("SELECT 1 FROM agents WHERE {}", *TO_RISE));
    let (ready, over) = (ready_worktree("e"), ended_issue("i"));
    let worktrees = format!(
        "FROM execution_workspaces e CROSS JOIN issues i \
        WHERE {ready} AND i.company_id = e.company_id AND i.id = e.owner_issue_id AND {over}"
    );
    format!(
        "SELECT ({start}) AS start, \
        (SELECT MIN(r.lease_expires_at) FROM heartbeat_runs r WHERE {running}) AS lease, \
        (SELECT MIN(agents.next_heartbeat_at) FROM agents WHERE {SET_TO_BEAT}) AS beat, \
        CAST({to_set} + {to_rise} AS BIGINT) AS to_set, \
        CAST({obsolete} AS BIGINT) AS obsolete, \
        (SELECT MIN(x.lease_expires_at) FROM approval_executions x \
            WHERE x.lease_expires_at IS NOT NULL) AS attempt, \
        (SELECT MIN(t.not_before) FROM ticket_advances t) AS advance, \
        (SELECT MIN(p.due_at) FROM pull_request_watches p) AS question, \
        (SELECT MIN(p.drift_due_at) FROM pull_request_watches p) AS drift, \
        (SELECT MIN(e.clean_up_after) {worktrees} \
            AND (i.completed_at <= $2 OR i.cancelled_at <= $2)) AS clean_up, \
        (SELECT MIN(COALESCE(i.completed_at, i.cancelled_at)) {worktrees} \
            AND COALESCE(i.completed_at, i.cancelled_at) > $2) AS ticket_ended"
    )
});

#[derive(QueryableByName)]
struct AgendaRow {
    #[diesel(sql_type = Nullable<Instant>)]
    start: Option<InstantColumn>,
    #[diesel(sql_type = Nullable<Instant>)]
    lease: Option<InstantColumn>,
    #[diesel(sql_type = Nullable<Instant>)]
    beat: Option<InstantColumn>,
    #[diesel(sql_type = BigInt)]
    to_set: i64,
    #[diesel(sql_type = BigInt)]
    obsolete: i64,
    #[diesel(sql_type = Nullable<Instant>)]
    attempt: Option<InstantColumn>,
    #[diesel(sql_type = Nullable<Instant>)]
    advance: Option<InstantColumn>,
    #[diesel(sql_type = Nullable<Instant>)]
    question: Option<InstantColumn>,
    #[diesel(sql_type = Nullable<Instant>)]
    drift: Option<InstantColumn>,
    #[diesel(sql_type = Nullable<Instant>)]
    clean_up: Option<InstantColumn>,
    #[diesel(sql_type = Nullable<Instant>)]
    ticket_ended: Option<InstantColumn>,
}

/// What there is to do, and when.
pub(super) fn agenda(conn: &mut Connection, terms: &AgendaTerms) -> Result<Agenda, StoreError> {
    let row: AgendaRow = cached(
        sql_query(AGENDA.as_str())
            .bind::<Instant, _>(InstantColumn(terms.now))
            .bind::<Instant, _>(InstantColumn(terms.ended_by)),
    )
    .get_result(conn)
    .map_err(failed)?;
    let instant = |column: Option<InstantColumn>| column.map(|at| at.0);
    Ok(Agenda {
        start: instant(row.start),
        lease: instant(row.lease),
        beat: instant(row.beat),
        has_timers_to_set: row.to_set > 0,
        has_obsolete_wakes: row.obsolete > 0,
        attempt: instant(row.attempt),
        advance: instant(row.advance),
        question: instant(row.question),
        drift: instant(row.drift),
        clean_up: instant(row.clean_up),
        ticket_ended: instant(row.ticket_ended),
    })
}
