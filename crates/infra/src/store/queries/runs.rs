use diesel::dsl::sql;
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use workforce_domain::actor::{CompanyScope, Scope};
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{AgentId, CompanyId, InstanceId, IssueId, RunId, WakeId};
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{
    Held, RunFilter, RunKey, RunReads, RunWrites, StopScope, StoreError,
};
use workforce_domain::run::{Run, RunErrorCode, RunKind, RunStatus};
use workforce_domain::time::Timestamp;
use workforce_domain::wake::{Wake, WakeReason, WakeSource};

use super::super::transaction::Transaction;
use super::super::{Connection, LoadingMode, held};
use super::page::{Merged, Stream, fetch_limit};
use super::row::{Row, in_scope, length, one};
use super::wakes;
use crate::store::columns::{DigestColumn, IdColumn, InstantColumn, WordColumn};
use crate::store::errors::failed;
use crate::store::schema::heartbeat_runs;

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(
    table_name = heartbeat_runs,
    treat_none_as_null = true,
    treat_none_as_default_value = false
)]
pub(super) struct RunRow {
    id: IdColumn<RunId>,
    company_id: IdColumn<CompanyId>,
    agent_id: IdColumn<AgentId>,
    issue_id: Option<IdColumn<IssueId>>,
    kind: WordColumn<RunKind>,
    status: WordColumn<RunStatus>,
    source: WordColumn<WakeSource>,
    reason: WordColumn<WakeReason>,
    wake_id: IdColumn<WakeId>,
    fence: i64,
    token_hash: Option<DigestColumn>,
    instance_id: Option<IdColumn<InstanceId>>,
    lease_expires_at: Option<InstantColumn>,
    stop_requested_at: Option<InstantColumn>,
    stop_reason: Option<WordColumn<RunErrorCode>>,
    exit_code: Option<i32>,
    signal: Option<i32>,
    error_code: Option<WordColumn<RunErrorCode>>,
    error: Option<String>,
    log_bytes: i64,
    log_tail: Option<String>,
    started_at: Option<InstantColumn>,
    finished_at: Option<InstantColumn>,
    created_at: InstantColumn,
    updated_at: InstantColumn,
}

impl Row for RunRow {
    type Record = Run;

    fn weight(&self) -> usize {
        length(self.error.as_ref()) + length(self.log_tail.as_ref())
    }

    fn restore(self) -> Result<Run, Corrupt> {
        if self.status.0.is_live() != self.instance_id.is_some()
            || self.status.0.is_live() != self.token_hash.is_some()
            || self.status.0.is_live() != self.lease_expires_at.is_some()
        {
            return Err(Corrupt::new(
                "heartbeat run",
                "a token, a server and a lease belong to running runs and to no others",
            ));
        }
        Ok(Run {
            id: self.id.0,
            company: self.company_id.0,
            agent: self.agent_id.0,
            issue: self.issue_id.map(|id| id.0),
            kind: self.kind.0,
            status: self.status.0,
            source: self.source.0,
            reason: self.reason.0,
            wake: self.wake_id.0,
            fence: self.fence,
            token_digest: self.token_hash.map(|digest| digest.0),
            instance: self.instance_id.map(|id| id.0),
            lease_expires_at: self.lease_expires_at.map(|at| at.0),
            stop_requested_at: self.stop_requested_at.map(|at| at.0),
            stop_reason: self.stop_reason.map(|reason| reason.0),
            exit_code: self.exit_code,
            signal: self.signal,
            error_code: self.error_code.map(|code| code.0),
            error: self.error,
            log_bytes: self.log_bytes,
            log_tail: self.log_tail,
            started_at: self.started_at.map(|at| at.0),
            finished_at: self.finished_at.map(|at| at.0),
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

impl From<&Run> for RunRow {
    fn from(run: &Run) -> Self {
        Self {
            id: IdColumn(run.id),
            company_id: IdColumn(run.company),
            agent_id: IdColumn(run.agent),
            issue_id: run.issue.map(IdColumn),
            kind: WordColumn(run.kind),
            status: WordColumn(run.status),
            source: WordColumn(run.source),
            reason: WordColumn(run.reason),
            wake_id: IdColumn(run.wake),
            fence: run.fence,
            token_hash: run.token_digest.map(DigestColumn),
            instance_id: run.instance.map(IdColumn),
            lease_expires_at: run.lease_expires_at.map(InstantColumn),
            stop_requested_at: run.stop_requested_at.map(InstantColumn),
            stop_reason: run.stop_reason.map(WordColumn),
            exit_code: run.exit_code,
            signal: run.signal,
            error_code: run.error_code.map(WordColumn),
            error: run.error.clone(),
            log_bytes: run.log_bytes,
            log_tail: run.log_tail.clone(),
            started_at: run.started_at.map(InstantColumn),
            finished_at: run.finished_at.map(InstantColumn),
            created_at: InstantColumn(run.created_at),
            updated_at: InstantColumn(run.updated_at),
        }
    }
}

/// True for running runs. Spelled out, since a partial index is used only by a
/// condition that is known before values are bound.
pub(super) fn running() -> SqlLiteral<Bool> {
    sql("heartbeat_runs.status = 'running'")
}

fn before(one: &Run, other: &Run) -> bool {
    (one.created_at, one.id) > (other.created_at, other.id)
}

/// The beginning of the list of runs, newest first; of one status when `lane`
/// names one.
fn read(
    conn: &mut Connection,
    company: CompanyScope,
    filter: &RunFilter,
    lane: Option<RunStatus>,
    page: &PageRequest<RunKey>,
) -> Result<Stream<Run>, StoreError> {
    let mut query = heartbeat_runs::table
        .filter(heartbeat_runs::company_id.eq(IdColumn(company.company())))
        .select(RunRow::as_select())
        .into_boxed();
    if let Some(agent) = filter.agent {
        query = query.filter(heartbeat_runs::agent_id.eq(IdColumn(agent)));
    }
    if let Some(issue) = filter.issue {
        query = query.filter(heartbeat_runs::issue_id.eq(IdColumn(issue)));
    }
    if let Some(status) = lane {
        query = query.filter(heartbeat_runs::status.eq(WordColumn(status)));
    } else if !filter.statuses.is_empty() {
        let statuses: Vec<_> = filter.statuses.iter().copied().map(WordColumn).collect();
        query = query.filter(heartbeat_runs::status.eq_any(statuses));
    }
    if let Some(after) = page.after {
        let at = InstantColumn(Timestamp::from_micros(after.at));
        query = query
            .filter(heartbeat_runs::created_at.le(at))
            .filter(heartbeat_runs::created_at.lt(at).or(heartbeat_runs::id.lt(IdColumn(after.id))));
    }
    let rows = query
        .order((heartbeat_runs::created_at.desc(), heartbeat_runs::id.desc()))
        .limit(fetch_limit(page))
        .load_iter::<RunRow, LoadingMode>(conn)
        .map_err(failed)?;
    Stream::read(rows, page.limit.max(1), page.max_bytes)
}

impl RunReads for Transaction<'_> {
    fn find(&mut self, scope: Scope, id: RunId) -> Result<Option<Run>, StoreError> {
        let query = heartbeat_runs::table.filter(heartbeat_runs::id.eq(IdColumn(id)));
        let row = in_scope!(scope, heartbeat_runs, query, |query| query
            .select(RunRow::as_select())
            .first(self.conn)
            .optional());
        one(row.map_err(failed)?)
    }

    /// A whole company's runs of some statuses are read per status, so that a
    /// rare status does not lead through all runs there ever were.
    fn list(
        &mut self,
        company: CompanyScope,
        filter: &RunFilter,
        page: &PageRequest<RunKey>,
    ) -> Result<Page<Run, RunKey>, StoreError> {
        let lanes = if filter.agent.is_some() || filter.issue.is_some() || filter.statuses.is_empty()
        {
            vec![None]
        } else {
            let mut statuses = filter.statuses.clone();
            statuses.sort_unstable();
            statuses.dedup();
            statuses.into_iter().map(Some).collect()
        };
        let mut streams = Vec::with_capacity(lanes.len());
        for lane in lanes {
            streams.push(read(self.conn, company, filter, lane, page)?);
        }
        let mut merged = Merged::new(page);
        merged.take(streams, before);
        Ok(merged.finish(|run| CreationKey { at: run.created_at.micros(), id: run.id }))
    }

    fn wake_of(&mut self, company: CompanyScope, run: RunId) -> Result<Option<Wake>, StoreError> {
        wakes::of_run(self.conn, company.company(), run)
    }
}

impl RunWrites for Transaction<'_> {
    fn lock_pending_wake(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        issue: Option<IssueId>,
    ) -> Result<Option<Held<Wake>>, StoreError> {
        Ok(wakes::lock_pending(self.conn, company, agent, issue)?.map(Held::locked))
    }

    fn queue(&mut self, wake: &Wake, run: &Run) -> Result<(), StoreError> {
        diesel::insert_into(heartbeat_runs::table)
            .values(RunRow::from(run))
            .execute(self.conn)
            .map_err(failed)?;
        wakes::insert(self.conn, wake)
    }

    fn save_wake(&mut self, wake: &Held<Wake>) -> Result<(), StoreError> {
        wakes::save(self.conn, wake)
    }

    fn lock(&mut self, scope: Scope, id: RunId) -> Result<Option<Held<Run>>, StoreError> {
        let query = heartbeat_runs::table.filter(heartbeat_runs::id.eq(IdColumn(id)));
        let row = in_scope!(scope, heartbeat_runs, query, |query| held!(
            query.select(RunRow::as_select())
        )
        .first(self.conn)
        .optional());
        Ok(one(row.map_err(failed)?)?.map(Held::locked))
    }

    /// Refuses with [`StoreError::Constraint`] when the stored run carries
    /// another fencing number, has ended, or may not become what `run` says:
    /// the writer is late, and would be late again if it were run again.
    fn save(&mut self, run: &Held<Run>) -> Result<(), StoreError> {
        let mut from: Vec<_> = run.status.predecessors().map(WordColumn).collect();
        if !run.status.is_terminal() {
            from.push(WordColumn(run.status));
        }
        let saved = diesel::update(heartbeat_runs::table)
            .filter(heartbeat_runs::company_id.eq(IdColumn(run.company)))
            .filter(heartbeat_runs::id.eq(IdColumn(run.id)))
            .filter(heartbeat_runs::fence.eq(run.fence))
            .filter(heartbeat_runs::status.eq_any(from))
            .set(RunRow::from(&**run))
            .execute(self.conn)
            .map_err(failed)?;
        if saved == 1 {
            Ok(())
        } else {
            Err(StoreError::Constraint { constraint: "heartbeat_runs.fence".into() })
        }
    }

    fn cancel_pending(
        &mut self,
        company: CompanyScope,
        stop: StopScope,
        now: Timestamp,
    ) -> Result<Vec<RunId>, StoreError> {
        wakes::cancel_pending(self.conn, company, stop, now)
    }

    fn request_stop(
        &mut self,
        company: CompanyScope,
        stop: StopScope,
        spare: Option<RunId>,
        reason: RunErrorCode,
        now: Timestamp,
    ) -> Result<Vec<RunId>, StoreError> {
        let at = InstantColumn(now);
        let mut update = diesel::update(heartbeat_runs::table)
            .filter(heartbeat_runs::company_id.eq(IdColumn(company.company())))
            .filter(running())
            .filter(heartbeat_runs::stop_requested_at.is_null())
            .set((
                heartbeat_runs::stop_requested_at.eq(at),
                heartbeat_runs::stop_reason.eq(WordColumn(reason)),
                heartbeat_runs::updated_at.eq(at),
            ))
            .into_boxed();
        if let Some(spare) = spare {
            update = update.filter(heartbeat_runs::id.ne(IdColumn(spare)));
        }
        update = match stop {
            StopScope::Agent(agent) => update.filter(heartbeat_runs::agent_id.eq(IdColumn(agent))),
            StopScope::Issue(issue) => update.filter(heartbeat_runs::issue_id.eq(IdColumn(issue))),
            StopScope::Company => update,
        };
        let asked: Vec<IdColumn<RunId>> =
            update.returning(heartbeat_runs::id).get_results(self.conn).map_err(failed)?;
        Ok(asked.into_iter().map(|run| run.0).collect())
    }
}
