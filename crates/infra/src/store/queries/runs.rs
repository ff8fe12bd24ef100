use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use workforce_domain::actor::{CompanyOwned, CompanyScope, InstanceScope, Scope};
use workforce_domain::id::{AgentId, IssueId, RunId, WakeId};
use workforce_domain::issue::Issue;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{
    Lock, Locked, RunCursor, RunFilter, RunReads, RunWrites, StartConditionInputs, StopScope,
    StoreError, WakeableAgent,
};
use workforce_domain::run::{
    Completion, CompletionReport, Run, RunErrorCode, RunStatus, StartCondition,
};
use workforce_domain::time::Timestamp;
use workforce_domain::wake::Wake;

use super::super::transaction::Transaction;
use super::super::{Connection, LoadingMode, for_update};
use super::page::{KWayMerge, MAX_WHOLE, SortedRun, fetch_limit};
use super::predicates::{queued_run, running_run};
use super::row::{all, exactly_one, in_scope, one};
use super::run_row::RunRow;
use super::{run_completions, start_conditions, wakeability, wakes};
use crate::store::columns::{IdColumn, InstantColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{heartbeat_runs, run_spends};
use crate::store::stable::{Fixed, fixed};

/// True for running runs.
pub(super) fn running() -> Fixed<Bool> {
    fixed(running_run("heartbeat_runs"))
}

/// True for queued runs.
pub(super) fn queued() -> Fixed<Bool> {
    fixed(queued_run("heartbeat_runs"))
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
    page: &PageRequest<RunCursor>,
) -> Result<SortedRun<Run>, StoreError> {
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
        query = query.filter(heartbeat_runs::status.eq(StringEnumColumn(status)));
    } else if !filter.statuses.is_empty() {
        let statuses: Vec<_> = filter
            .statuses
            .iter()
            .copied()
            .map(StringEnumColumn)
            .collect();
        query = query.filter(heartbeat_runs::status.eq_any(statuses));
    }
    if let Some(after) = page.after {
        let at = InstantColumn(Timestamp::from_micros(after.at));
        query = query.filter(heartbeat_runs::created_at.le(at)).filter(
            heartbeat_runs::created_at
                .lt(at)
                .or(heartbeat_runs::id.lt(IdColumn(after.id))),
        );
    }
    let rows = query
        .order((heartbeat_runs::created_at.desc(), heartbeat_runs::id.desc()))
        .limit(fetch_limit(page))
        .load_iter::<RunRow, LoadingMode>(conn)
        .map_err(failed)?;
    SortedRun::read(rows, page.limit.max(1), page.max_bytes)
}

impl RunReads for Transaction<'_> {
    fn find(&mut self, scope: Scope, id: RunId) -> Result<Option<Run>, StoreError> {
        let query = heartbeat_runs::table.filter(heartbeat_runs::id.eq(IdColumn(id)));
        let row = in_scope!(scope, heartbeat_runs, query, |scoped| scoped
            .select(RunRow::as_select())
            .first(self.conn)
            .optional());
        one(row.map_err(failed)?)
    }

    /// Runs of a whole company are read status by status, so that a page of a
    /// rare status need not read all runs there ever were.
    fn list(
        &mut self,
        company: CompanyScope,
        filter: &RunFilter,
        page: &PageRequest<RunCursor>,
    ) -> Result<Page<Run, RunCursor>, StoreError> {
        let lanes =
            if filter.agent.is_some() || filter.issue.is_some() || filter.statuses.is_empty() {
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
        let mut merged = KWayMerge::new(page);
        merged.take(streams, before);
        Ok(merged.finish(|run| CreationKey {
            at: run.created_at.micros(),
            id: run.id,
        }))
    }

    fn live_of(&mut self, company: CompanyScope, agent: AgentId) -> Result<Vec<Run>, StoreError> {
        let rows: Vec<RunRow> = heartbeat_runs::table
            .filter(heartbeat_runs::company_id.eq(IdColumn(company.company())))
            .filter(heartbeat_runs::agent_id.eq(IdColumn(agent)))
            .filter(running())
            .order((heartbeat_runs::created_at, heartbeat_runs::id))
            .limit(MAX_WHOLE)
            .select(RunRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn pending_of(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        limit: usize,
    ) -> Result<Vec<Wake>, StoreError> {
        wakes::pending_of(self.conn, company, agent, limit)
    }

    fn wake_of(&mut self, company: CompanyScope, run: RunId) -> Result<Option<Wake>, StoreError> {
        wakes::of_run(self.conn, company.company(), run)
    }

    fn blocking_conditions(
        &mut self,
        company: CompanyScope,
        wake: WakeId,
        terms: &StartConditionInputs,
    ) -> Result<Option<Vec<StartCondition>>, StoreError> {
        start_conditions::blocking(self.conn, company, wake, terms)
    }

    fn completion(
        &mut self,
        company: CompanyScope,
        run: RunId,
    ) -> Result<Option<Completion>, StoreError> {
        run_completions::find(self.conn, company, run)
    }

    fn completed(
        &mut self,
        _scope: InstanceScope,
        runs: &[RunId],
    ) -> Result<Vec<RunId>, StoreError> {
        run_completions::completed(self.conn, runs)
    }
}

impl RunWrites for Transaction<'_> {
    fn share_wakeability(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
    ) -> Result<Option<WakeableAgent>, StoreError> {
        self.locks(Lock::Wake, agent);
        wakeability::share(self.conn, company, agent)
    }

    fn lock_pending_wake(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        issue: Option<IssueId>,
    ) -> Result<Option<Locked<Wake>>, StoreError> {
        let Some(wake) = wakes::lock_pending(self.conn, company, agent, issue)? else {
            return Ok(None);
        };
        self.locks(Lock::Wake, wake.id);
        Ok(Some(Locked::assume_locked(wake)))
    }

    fn queue<'a>(
        &mut self,
        agent: WakeableAgent,
        wake: &'a Wake,
        run: &'a Run,
    ) -> Result<(), StoreError> {
        let held = (agent.company().company(), agent.agent());
        if (wake.company, wake.agent) != held || (run.company, run.agent) != held {
            return Err(StoreError::Constraint {
                constraint: "a wake is of the agent that may be woken".into(),
            });
        }
        diesel::insert_into(heartbeat_runs::table)
            .values(RunRow::from(run))
            .execute(self.conn)
            .map_err(failed)?;
        wakes::insert(self.conn, wake)
    }

    fn save_wake(&mut self, wake: &Locked<Wake>) -> Result<(), StoreError> {
        wakes::save(self.conn, wake.to_store()?)
    }

    fn follow_priority(&mut self, issue: &Locked<Issue>) -> Result<(), StoreError> {
        wakes::follow_priority(self.conn, issue.to_store()?)
    }

    fn cancel_wake(&mut self, wake: Locked<Wake>, now: Timestamp) -> Result<(), StoreError> {
        let stopped = wakes::Stopped::These(vec![IdColumn(wake.to_store()?.id)]);
        exactly_one(wakes::cancel(self.conn, stopped, now)?.len())
    }

    fn lock(&mut self, scope: Scope, id: RunId) -> Result<Option<Locked<Run>>, StoreError> {
        let query = heartbeat_runs::table.filter(heartbeat_runs::id.eq(IdColumn(id)));
        let row = in_scope!(scope, heartbeat_runs, query, |scoped| for_update!(
            scoped.select(RunRow::as_select())
        )
        .first(self.conn)
        .optional());
        let Some(run) = one(row.map_err(failed)?)? else {
            return Ok(None);
        };
        let lock = match run.status {
            RunStatus::Queued => Lock::Wake,
            _ => Lock::LiveRun,
        };
        self.locks(lock, run.id);
        Ok(Some(Locked::assume_locked(run)))
    }

    /// Refuses with [`StoreError::Constraint`] when the stored run carries
    /// another fencing number, has ended, or may not become what `run` says:
    /// the writer is late, and would be late again if it were run again.
    fn save(&mut self, run: &Locked<Run>) -> Result<(), StoreError> {
        let mut from: Vec<_> = run.status.predecessors().map(StringEnumColumn).collect();
        if !run.status.is_terminal() {
            from.push(StringEnumColumn(run.status));
        }
        let saved = diesel::update(heartbeat_runs::table)
            .filter(heartbeat_runs::company_id.eq(IdColumn(run.company)))
            .filter(heartbeat_runs::id.eq(IdColumn(run.id)))
            .filter(heartbeat_runs::fence.eq(run.fence))
            .filter(heartbeat_runs::status.eq_any(from))
            .set(RunRow::from(run.to_store()?))
            .execute(self.conn)
            .map_err(failed)?;
        if saved == 1 {
            Ok(())
        } else {
            Err(StoreError::Constraint {
                constraint: "heartbeat_runs.fence".into(),
            })
        }
    }

    fn await_completion(&mut self, company: CompanyScope, run: RunId) -> Result<(), StoreError> {
        run_completions::insert(self.conn, company, run)
    }

    fn save_completion(
        &mut self,
        run: &Locked<Run>,
        report: &CompletionReport,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        run_completions::save(self.conn, run.scope(), run.id, report, at)
    }

    fn cancel_pending(
        &mut self,
        company: CompanyScope,
        stop: StopScope,
        now: Timestamp,
    ) -> Result<Vec<RunId>, StoreError> {
        match stop {
            StopScope::Agent(agent) => {
                self.locks(Lock::Wake, agent);
                wakeability::take_from_agent(self.conn, agent)?;
            }
            StopScope::Company => {
                self.locks(Lock::Wake, company.company());
                wakeability::take_from_company(self.conn, company)?;
            }
            StopScope::Issue(_) | StopScope::Project(_) | StopScope::Run(_) => {}
        }
        let stopped = wakes::Stopped::Of(company.company(), stop);
        wakes::cancel(self.conn, stopped, now)
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
                heartbeat_runs::stop_reason.eq(StringEnumColumn(reason)),
                heartbeat_runs::updated_at.eq(at),
            ))
            .into_boxed();
        if let Some(spare) = spare {
            update = update.filter(heartbeat_runs::id.ne(IdColumn(spare)));
        }
        update = match stop {
            StopScope::Agent(agent) => update.filter(heartbeat_runs::agent_id.eq(IdColumn(agent))),
            StopScope::Issue(issue) => update.filter(heartbeat_runs::issue_id.eq(IdColumn(issue))),
            StopScope::Project(project) => update.filter(exists(
                run_spends::table
                    .filter(run_spends::run_id.eq(heartbeat_runs::id))
                    .filter(run_spends::project_id.eq(IdColumn(project))),
            )),
            StopScope::Run(run) => update.filter(heartbeat_runs::id.eq(IdColumn(run))),
            StopScope::Company => update,
        };
        let asked: Vec<IdColumn<RunId>> = update
            .returning(heartbeat_runs::id)
            .get_results(self.conn)
            .map_err(failed)?;
        Ok(asked.into_iter().map(|run| run.0).collect())
    }
}
