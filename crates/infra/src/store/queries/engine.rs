use diesel::prelude::*;
use workforce_domain::actor::{CompanyScope, InstanceScope};
use workforce_domain::agent::Agent;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{AgentId, CompanyId, InstanceId, IssueId, RunId};
use workforce_domain::port::{
    Agenda, AgendaTerms, BudgetStop, ClaimRequest, ClaimedRun, EngineReads, EngineWrites, Locked,
    RenewedRun, StartConditionInputs, StoreError, StuckChanges,
};
use workforce_domain::run::{ProcessRecord, Run, RunErrorCode, RunStart};
use workforce_domain::time::{Month, Timestamp};
use workforce_domain::timer::TimerSetting;
use workforce_domain::wake::WakeReason;

use super::super::transaction::Transaction;
use super::page::row_limit;
use super::row::{Row, all};
use super::run_row::RunRow;
use super::runs::running;
use super::{
    agenda, budget_stops, claim, event_retention, obsolete_wakes, stuck_issues, timers, wakes,
};
use crate::store::columns::{IdColumn, InstantColumn, JsonColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{heartbeat_runs, run_processes};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(
    table_name = run_processes,
    primary_key(run_id),
    treat_none_as_default_value = false
)]
struct ProcessRow {
    run_id: IdColumn<RunId>,
    company_id: IdColumn<CompanyId>,
    instance_id: IdColumn<InstanceId>,
    pid: i32,
    process_group: i32,
    start_ticks: i64,
}

impl Row for ProcessRow {
    type Record = ProcessRecord;

    fn weight(&self) -> usize {
        0
    }

    fn restore(self) -> Result<ProcessRecord, Corrupt> {
        Ok(ProcessRecord {
            run: self.run_id.0,
            company: self.company_id.0,
            instance: self.instance_id.0,
            pid: self.pid,
            process_group: self.process_group,
            start_ticks: self.start_ticks,
        })
    }
}

impl EngineReads for Transaction<'_> {
    fn expired(
        &mut self,
        _scope: InstanceScope,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Run>, StoreError> {
        let rows: Vec<RunRow> = heartbeat_runs::table
            .filter(running())
            .filter(heartbeat_runs::lease_expires_at.le(InstantColumn(now)))
            .order((heartbeat_runs::lease_expires_at, heartbeat_runs::id))
            .limit(row_limit(limit))
            .select(RunRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn running_elsewhere(
        &mut self,
        _scope: InstanceScope,
        instance: InstanceId,
    ) -> Result<Vec<Run>, StoreError> {
        let rows: Vec<RunRow> = heartbeat_runs::table
            .filter(running())
            .filter(heartbeat_runs::instance_id.ne(IdColumn(instance)))
            .order((heartbeat_runs::lease_expires_at, heartbeat_runs::id))
            .select(RunRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn processes_elsewhere(
        &mut self,
        _scope: InstanceScope,
        instance: InstanceId,
    ) -> Result<Vec<ProcessRecord>, StoreError> {
        let rows: Vec<ProcessRow> = run_processes::table
            .filter(run_processes::instance_id.ne(IdColumn(instance)))
            .order(run_processes::run_id)
            .select(ProcessRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    /// Counts the runs that were queued for such a retry in the first place; a
    /// retry that joined a wake for another reason did not cause a run.
    fn last_retry_of(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        issue: Option<IssueId>,
    ) -> Result<Option<Timestamp>, StoreError> {
        let query = heartbeat_runs::table
            .filter(heartbeat_runs::company_id.eq(IdColumn(company.company())))
            .filter(heartbeat_runs::agent_id.eq(IdColumn(agent)))
            .filter(heartbeat_runs::reason.eq(StringEnumColumn(WakeReason::ProcessLostRetry)))
            .order(heartbeat_runs::created_at.desc())
            .select(heartbeat_runs::created_at);
        let last: Option<InstantColumn> = match issue {
            Some(issue) => query
                .filter(heartbeat_runs::issue_id.eq(IdColumn(issue)))
                .first(self.conn)
                .optional(),
            None => query
                .filter(heartbeat_runs::issue_id.is_null())
                .first(self.conn)
                .optional(),
        }
        .map_err(failed)?;
        Ok(last.map(|at| at.0))
    }

    fn has_obsolete_wakes(&mut self, _scope: InstanceScope) -> Result<bool, StoreError> {
        Ok(!obsolete_wakes::find(self.conn, 1)?.is_empty())
    }

    fn agenda(&mut self, _scope: InstanceScope, terms: &AgendaTerms) -> Result<Agenda, StoreError> {
        agenda::agenda(self.conn, terms)
    }

    fn has_startable(
        &mut self,
        _scope: InstanceScope,
        terms: &StartConditionInputs,
    ) -> Result<bool, StoreError> {
        claim::is_due(self.conn, terms)
    }

    fn timers_to_check(
        &mut self,
        scope: InstanceScope,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<(CompanyScope, AgentId)>, StoreError> {
        timers::to_check(self.conn, scope, now, limit)
    }

    fn change_counts(
        &mut self,
        scope: InstanceScope,
        now: Timestamp,
    ) -> Result<Vec<(CompanyScope, i64)>, StoreError> {
        stuck_issues::change_counts(self.conn, scope, now)
    }

    fn to_note_stuck(
        &mut self,
        company: CompanyScope,
        now: Timestamp,
        after: Option<IssueId>,
        limit: usize,
    ) -> Result<StuckChanges, StoreError> {
        stuck_issues::changes(self.conn, company, now, after, limit)
    }

    fn wrongly_stuck(
        &mut self,
        company: CompanyScope,
        limit: usize,
    ) -> Result<Vec<IssueId>, StoreError> {
        stuck_issues::wrongly(self.conn, company, limit)
    }

    fn budget_stops_to_lift(
        &mut self,
        scope: InstanceScope,
        month: Month,
        limit: usize,
    ) -> Result<Vec<BudgetStop>, StoreError> {
        budget_stops::to_lift(self.conn, scope, month, limit)
    }
}

impl EngineWrites for Transaction<'_> {
    fn claim(
        &mut self,
        _scope: InstanceScope,
        request: &ClaimRequest,
    ) -> Result<Option<ClaimedRun>, StoreError> {
        claim::claim(self, request)
    }

    fn renew(
        &mut self,
        _scope: InstanceScope,
        instance: InstanceId,
        runs: &[RunId],
        lease_until: Timestamp,
    ) -> Result<Vec<RenewedRun>, StoreError> {
        type Renewed = (IdColumn<RunId>, i64, Option<StringEnumColumn<RunErrorCode>>);
        let runs: Vec<_> = runs.iter().copied().map(IdColumn).collect();
        let renewed: Vec<Renewed> = diesel::update(heartbeat_runs::table)
            .filter(heartbeat_runs::id.eq_any(runs))
            .filter(heartbeat_runs::instance_id.eq(IdColumn(instance)))
            .filter(running())
            .set(heartbeat_runs::lease_expires_at.eq(InstantColumn(lease_until)))
            .returning((
                heartbeat_runs::id,
                heartbeat_runs::fence,
                heartbeat_runs::stop_reason,
            ))
            .get_results(self.conn)
            .map_err(failed)?;
        Ok(renewed
            .into_iter()
            .map(|(run, fence, stop_reason)| RenewedRun {
                run: run.0,
                fence,
                stop_reason: stop_reason.map(|reason| reason.0),
            })
            .collect())
    }

    fn record_process(&mut self, process: &ProcessRecord) -> Result<(), StoreError> {
        let row = ProcessRow {
            run_id: IdColumn(process.run),
            company_id: IdColumn(process.company),
            instance_id: IdColumn(process.instance),
            pid: process.pid,
            process_group: process.process_group,
            start_ticks: process.start_ticks,
        };
        diesel::insert_into(run_processes::table)
            .values(&row)
            .on_conflict(run_processes::run_id)
            .do_update()
            .set(&row)
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn note_run_start(
        &mut self,
        company: CompanyScope,
        run: RunId,
        fence: i64,
        start: &RunStart,
    ) -> Result<bool, StoreError> {
        let noted = diesel::update(heartbeat_runs::table.find(IdColumn(run)))
            .filter(heartbeat_runs::company_id.eq(IdColumn(company.company())))
            .filter(heartbeat_runs::fence.eq(fence))
            .filter(running())
            .set((
                heartbeat_runs::containment.eq(&start.containment),
                heartbeat_runs::session_id.eq(start.session.as_ref().map(|id| id.as_str())),
                heartbeat_runs::session_resumed.eq(start.session_resumed),
                heartbeat_runs::prompt.eq(start.prompt.clone().map(JsonColumn)),
            ))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(noted == 1)
    }

    fn take_up(
        &mut self,
        company: CompanyScope,
        process: &ProcessRecord,
        fence: i64,
        instance: InstanceId,
        lease_until: Timestamp,
    ) -> Result<bool, StoreError> {
        let taken = diesel::update(heartbeat_runs::table.find(IdColumn(process.run)))
            .filter(heartbeat_runs::company_id.eq(IdColumn(company.company())))
            .filter(heartbeat_runs::instance_id.eq(IdColumn(process.instance)))
            .filter(heartbeat_runs::fence.eq(fence))
            .filter(running())
            .set((
                heartbeat_runs::instance_id.eq(IdColumn(instance)),
                heartbeat_runs::lease_expires_at.eq(InstantColumn(lease_until)),
            ))
            .execute(self.conn)
            .map_err(failed)?;
        if taken == 0 {
            return Ok(false);
        }
        diesel::update(run_processes::table.find(IdColumn(process.run)))
            .filter(run_processes::company_id.eq(IdColumn(company.company())))
            .set(run_processes::instance_id.eq(IdColumn(instance)))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(true)
    }

    fn delete_process(&mut self, company: CompanyScope, run: RunId) -> Result<(), StoreError> {
        diesel::delete(run_processes::table.find(IdColumn(run)))
            .filter(run_processes::company_id.eq(IdColumn(company.company())))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn cancel_obsolete_wakes(
        &mut self,
        _scope: InstanceScope,
        now: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError> {
        obsolete_wakes::cancel(self.conn, now, limit)
    }

    fn set_timer(
        &mut self,
        agent: &Locked<Agent>,
        setting: &TimerSetting,
    ) -> Result<(), StoreError> {
        let agent = agent.to_store()?;
        timers::set(self.conn, agent, setting)
    }

    fn delete_events(
        &mut self,
        _scope: InstanceScope,
        before: Timestamp,
        keep: i64,
        limit: usize,
    ) -> Result<usize, StoreError> {
        event_retention::delete_surplus(self.conn, before, keep, limit)
    }

    fn delete_wakes(
        &mut self,
        _scope: InstanceScope,
        before: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError> {
        wakes::delete_before(self.conn, before, limit)
    }
}
