//! Wakes as rows, and what stops them.

use std::sync::LazyLock;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Bool};
use workforce_domain::Document;
use workforce_domain::actor::CompanyScope;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{AgentId, CommentId, CompanyId, IssueId, RunId, WakeId};
use workforce_domain::issue::{Issue, Priority};
use workforce_domain::port::{StopScope, StoreError};
use workforce_domain::run::{RunKind, RunStatus, WakeStatus};
use workforce_domain::time::Timestamp;
use workforce_domain::wake::{Wake, WakeReason, WakeSource};

use super::super::{Connection, for_share, for_update};
use super::page::row_limit;
use super::predicates::{ended_wake, pending_wake};
use super::row::{Row, all, exactly_one, one};
use super::runs::queued;
use crate::store::cached::{cached, cached_here};
use crate::store::columns::{IdColumn, Instant, InstantColumn, JsonColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{heartbeat_runs, issues, wakes};
use crate::store::stable::{Fixed, fixed};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = wakes, treat_none_as_null = true, treat_none_as_default_value = false)]
pub(super) struct WakeRow {
    id: IdColumn<WakeId>,
    /// Found by it, never changed: to set it has SQLite write each index of the row anew and
    /// look through all that refers to it.
    #[diesel(skip_update)]
    company_id: IdColumn<CompanyId>,
    agent_id: IdColumn<AgentId>,
    issue_id: Option<IdColumn<IssueId>>,
    coalesce_key: String,
    kind: StringEnumColumn<RunKind>,
    status: StringEnumColumn<WakeStatus>,
    source: StringEnumColumn<WakeSource>,
    reasons: JsonColumn<Vec<WakeReason>>,
    comment_ids: JsonColumn<Vec<CommentId>>,
    payload: JsonColumn<Document>,
    count: i32,
    not_before: InstantColumn,
    run_id: IdColumn<RunId>,
    requested_by: Option<String>,
    by_board: bool,
    work_reason: Option<StringEnumColumn<WakeReason>>,
    created_at: InstantColumn,
    updated_at: InstantColumn,
}

impl Row for WakeRow {
    type Record = Wake;

    fn weight(&self) -> usize {
        0
    }

    fn restore(self) -> Result<Wake, Corrupt> {
        Ok(Wake {
            id: self.id.0,
            company: self.company_id.0,
            agent: self.agent_id.0,
            issue: self.issue_id.map(|id| id.0),
            kind: self.kind.0,
            status: self.status.0,
            source: self.source.0,
            reasons: self.reasons.0,
            comments: self.comment_ids.0,
            payload: self.payload.0,
            count: self.count,
            not_before: self.not_before.0,
            run: self.run_id.0,
            requested_by: self.requested_by,
            by_board: self.by_board,
            work: self.work_reason.map(|reason| reason.0),
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

impl From<&Wake> for WakeRow {
    fn from(wake: &Wake) -> Self {
        Self {
            id: IdColumn(wake.id),
            company_id: IdColumn(wake.company),
            agent_id: IdColumn(wake.agent),
            issue_id: wake.issue.map(IdColumn),
            coalesce_key: Wake::key(wake.issue),
            kind: StringEnumColumn(wake.kind),
            status: StringEnumColumn(wake.status),
            source: StringEnumColumn(wake.source),
            reasons: JsonColumn(wake.reasons.clone()),
            comment_ids: JsonColumn(wake.comments.clone()),
            payload: JsonColumn(wake.payload.clone()),
            count: wake.count,
            not_before: InstantColumn(wake.not_before),
            run_id: IdColumn(wake.run),
            requested_by: wake.requested_by.clone(),
            by_board: wake.by_board,
            work_reason: wake.work.map(StringEnumColumn),
            created_at: InstantColumn(wake.created_at),
            updated_at: InstantColumn(wake.updated_at),
        }
    }
}

/// True for pending wakes.
pub(super) fn pending() -> Fixed<Bool> {
    fixed(pending_wake("wakes"))
}

/// The wake that a run answers.
pub(super) fn of_run(
    conn: &mut Connection,
    company: CompanyId,
    run: RunId,
) -> Result<Option<Wake>, StoreError> {
    let row = wakes::table
        .filter(wakes::company_id.eq(IdColumn(company)))
        .filter(wakes::run_id.eq(IdColumn(run)))
        .select(WakeRow::as_select())
        .first(conn)
        .optional();
    one(row.map_err(failed)?)
}

/// Locks the pending wake of an agent under a key.
pub(super) fn lock_pending(
    conn: &mut Connection,
    company: CompanyScope,
    agent: AgentId,
    issue: Option<IssueId>,
) -> Result<Option<Wake>, StoreError> {
    let query = wakes::table
        .filter(wakes::company_id.eq(IdColumn(company.company())))
        .filter(wakes::agent_id.eq(IdColumn(agent)))
        .filter(wakes::coalesce_key.eq(Wake::key(issue)))
        .filter(pending())
        .select(WakeRow::as_select())
        .limit(1);
    let row = cached_here!(for_update!(query)).get_result(conn).optional();
    one(row.map_err(failed)?)
}

/// The pending wakes of an agent, oldest first.
pub(super) fn pending_of(
    conn: &mut Connection,
    company: CompanyScope,
    agent: AgentId,
    limit: usize,
) -> Result<Vec<Wake>, StoreError> {
    let rows: Vec<WakeRow> = wakes::table
        .filter(wakes::company_id.eq(IdColumn(company.company())))
        .filter(wakes::agent_id.eq(IdColumn(agent)))
        .filter(pending())
        .order((wakes::created_at, wakes::id))
        .limit(row_limit(limit))
        .select(WakeRow::as_select())
        .load(conn)
        .map_err(failed)?;
    all(rows)
}

/// Stores a new wake.
pub(super) fn insert(conn: &mut Connection, wake: &Wake) -> Result<(), StoreError> {
    let of_issue: Option<i16> = match wake.issue {
        Some(issue) => {
            let priority = issues::table.find(IdColumn(issue)).select(issues::priority);
            let shared = cached(for_share!(priority)).get_result(conn).optional();
            shared.map_err(failed)?
        }
        None => None,
    };
    let priority = of_issue.unwrap_or(Priority::Medium.rank());
    diesel::insert_into(wakes::table)
        .values((WakeRow::from(wake), wakes::priority.eq(priority)))
        .execute(conn)
        .map_err(failed)?;
    Ok(())
}

/// Makes the pending wakes about an issue as urgent as it is.
pub(super) fn follow_priority(conn: &mut Connection, issue: &Issue) -> Result<(), StoreError> {
    diesel::update(wakes::table)
        .filter(wakes::company_id.eq(IdColumn(issue.company)))
        .filter(wakes::issue_id.eq(IdColumn(issue.id)))
        .filter(pending())
        .set(wakes::priority.eq(issue.priority.rank()))
        .execute(conn)
        .map_err(failed)?;
    Ok(())
}

/// Stores a locked wake.
pub(super) fn save(conn: &mut Connection, wake: &Wake) -> Result<(), StoreError> {
    let change = diesel::update(wakes::table)
        .filter(wakes::company_id.eq(IdColumn(wake.company)))
        .filter(wakes::id.eq(IdColumn(wake.id)))
        .set(WakeRow::from(wake));
    cached(change)
        .execute(conn)
        .map_err(failed)
        .and_then(exactly_one)
}

/// Which pending wakes are cancelled.
pub(super) enum Stopped {
    /// Those that a stop concerns.
    Of(CompanyId, StopScope),
    /// These.
    These(Vec<IdColumn<WakeId>>),
}

/// Cancels pending wakes and their queued runs: the one place where a wake is
/// withdrawn. Returns the cancelled runs.
pub(super) fn cancel(
    conn: &mut Connection,
    stopped: Stopped,
    now: Timestamp,
) -> Result<Vec<RunId>, StoreError> {
    let at = InstantColumn(now);
    let mut change = diesel::update(wakes::table)
        .filter(pending())
        .set((
            wakes::status.eq(StringEnumColumn(WakeStatus::Cancelled)),
            wakes::updated_at.eq(at),
        ))
        .into_boxed();
    change = match stopped {
        Stopped::These(wakes) => change.filter(wakes::id.eq_any(wakes)),
        Stopped::Of(company, stop) => {
            let change = change.filter(wakes::company_id.eq(IdColumn(company)));
            match stop {
                StopScope::Agent(agent) => change.filter(wakes::agent_id.eq(IdColumn(agent))),
                StopScope::Issue(issue) => change.filter(wakes::issue_id.eq(IdColumn(issue))),
                StopScope::Project(project) => change.filter(
                    wakes::issue_id.eq_any(
                        issues::table
                            .filter(issues::project_id.eq(IdColumn(project)))
                            .select(issues::id.nullable()),
                    ),
                ),
                StopScope::Run(run) => change.filter(wakes::run_id.eq(IdColumn(run))),
                StopScope::Company => change,
            }
        }
    };
    let runs: Vec<IdColumn<RunId>> = change
        .returning(wakes::run_id)
        .get_results(conn)
        .map_err(failed)?;
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    let cancelled: Vec<IdColumn<RunId>> = diesel::update(heartbeat_runs::table)
        .filter(heartbeat_runs::id.eq_any(runs))
        .filter(queued())
        .set((
            heartbeat_runs::status.eq(StringEnumColumn(RunStatus::Cancelled)),
            heartbeat_runs::finished_at.eq(at),
            heartbeat_runs::updated_at.eq(at),
        ))
        .returning(heartbeat_runs::id)
        .get_results(conn)
        .map_err(failed)?;
    Ok(cancelled.into_iter().map(|run| run.0).collect())
}

/// Forgets ended wakes whose run has ended too, oldest first; how many it was.
pub(super) fn delete_before(
    conn: &mut Connection,
    before: Timestamp,
    limit: usize,
) -> Result<usize, StoreError> {
    static DELETION: LazyLock<String> = LazyLock::new(|| {
        let ended = ended_wake("w");
        format!(
            "DELETE FROM wakes WHERE id IN (
                SELECT w.id FROM wakes w JOIN heartbeat_runs r ON r.id = w.run_id
                WHERE {ended} AND w.updated_at < $1 AND r.finished_at IS NOT NULL
                ORDER BY w.updated_at, w.id LIMIT $2
            )"
        )
    });
    let deletion = sql_query(DELETION.as_str())
        .bind::<Instant, _>(InstantColumn(before))
        .bind::<BigInt, _>(row_limit(limit));
    cached(deletion).execute(conn).map_err(failed)
}
