use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Integer, Text};
use workforce_domain::actor::CompanyScope;
use workforce_domain::budget::{BudgetBasis, Replay, RunSpend, Spend, Threshold};
use workforce_domain::cost::{CostEvent, CostTotal, Window};
use workforce_domain::id::{AgentId, CostEventId, RunId};
use workforce_domain::money::Cents;
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{
    CostEventCursor, LedgerReads, LedgerWrites, MeteredModel, ModelCost, ProjectCost, Spender,
    StoreError,
};
use workforce_domain::time::{Day, Month, Timestamp};

use super::super::transaction::Transaction;
use super::super::{Connection, LoadingMode};
use super::cost_events::CostEventRow;
use super::cost_sums;
use super::page::{fetch_limit, page_of};
use super::row::one;
use super::spends::SpenderId;
use super::{forecasts, run_spends, spends};
use crate::store::cached::cached_here;
use crate::store::columns::{IdColumn, InstantColumn, Key, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{budget_alerts, cost_events};

impl LedgerReads for Transaction<'_> {
    fn spent(
        &mut self,
        company: CompanyScope,
        spender: Spender,
        month: Month,
    ) -> Result<Spend, StoreError> {
        let id = SpenderId::of(company.company(), spender);
        spends::of(self.conn, company, spender.budget_scope(), id, Some(month))
    }

    fn spent_ever(&mut self, company: CompanyScope, spender: Spender) -> Result<Spend, StoreError> {
        let id = SpenderId::of(company.company(), spender);
        spends::of(self.conn, company, spender.budget_scope(), id, None)
    }

    fn spent_by(
        &mut self,
        company: CompanyScope,
        agents: &[AgentId],
        month: Month,
    ) -> Result<Vec<(AgentId, Spend)>, StoreError> {
        spends::by_agents(self.conn, company, agents, month)
    }

    fn spent_by_companies(
        &mut self,
        companies: &[CompanyScope],
        month: Month,
    ) -> Result<Vec<(CompanyScope, Spend)>, StoreError> {
        spends::by_companies(self.conn, companies, month)
    }

    fn run_spend(
        &mut self,
        company: CompanyScope,
        run: RunId,
    ) -> Result<Option<RunSpend>, StoreError> {
        run_spends::find(self.conn, company, run)
    }

    fn metered(
        &mut self,
        company: CompanyScope,
        run: RunId,
    ) -> Result<Vec<MeteredModel>, StoreError> {
        cost_sums::metered(self.conn, company, run)
    }

    fn total(&mut self, company: CompanyScope, window: Window) -> Result<CostTotal, StoreError> {
        cost_sums::total(self.conn, company, window)
    }

    /// The most expensive first.
    fn by_agent(
        &mut self,
        company: CompanyScope,
        window: Window,
    ) -> Result<Vec<(AgentId, CostTotal)>, StoreError> {
        cost_sums::by_agent(self.conn, company, window)
    }

    /// The most expensive first.
    fn by_project(
        &mut self,
        company: CompanyScope,
        window: Window,
    ) -> Result<Vec<ProjectCost>, StoreError> {
        cost_sums::by_project(self.conn, company, window)
    }

    /// The most expensive first.
    fn by_model(
        &mut self,
        company: CompanyScope,
        window: Window,
    ) -> Result<Vec<ModelCost>, StoreError> {
        cost_sums::by_model(self.conn, company, window)
    }

    fn first_cost(
        &mut self,
        company: CompanyScope,
        spender: Spender,
    ) -> Result<Option<Timestamp>, StoreError> {
        forecasts::first_cost(self.conn, company, spender)
    }

    fn by_day(
        &mut self,
        company: CompanyScope,
        spender: Spender,
        window: Window,
    ) -> Result<Vec<(Day, CostTotal)>, StoreError> {
        forecasts::by_day(self.conn, company, spender, window)
    }

    fn replay(
        &mut self,
        company: CompanyScope,
        spender: Spender,
        window: Window,
        basis: BudgetBasis,
        limit: Cents,
    ) -> Result<Replay, StoreError> {
        forecasts::replay(self.conn, company, spender, window, basis, limit)
    }

    fn find_by_key(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        key: &str,
    ) -> Result<Option<CostEvent>, StoreError> {
        let row = cost_events::table
            .filter(cost_events::company_id.eq(IdColumn(company.company())))
            .filter(cost_events::agent_id.eq(IdColumn(agent)))
            .filter(cost_events::idempotency_key.eq(key))
            .select(CostEventRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
    }

    fn list(
        &mut self,
        company: CompanyScope,
        page: &PageRequest<CostEventCursor>,
    ) -> Result<Page<CostEvent, CostEventCursor>, StoreError> {
        let mut query = cost_events::table
            .filter(cost_events::company_id.eq(IdColumn(company.company())))
            .select(CostEventRow::as_select())
            .into_boxed();
        if let Some(after) = page.after {
            let at = InstantColumn(Timestamp::from_micros(after.at));
            query = query.filter(cost_events::created_at.le(at)).filter(
                cost_events::created_at
                    .lt(at)
                    .or(cost_events::id.lt(IdColumn(after.id))),
            );
        }
        let rows = query
            .order((cost_events::created_at.desc(), cost_events::id.desc()))
            .limit(fetch_limit(page))
            .load_iter::<CostEventRow, LoadingMode>(self.conn)
            .map_err(failed)?;
        page_of(rows, page, |event: &CostEvent| CreationKey::<CostEventId> {
            at: event.created_at.micros(),
            id: event.id,
        })
    }

    fn alerts(
        &mut self,
        company: CompanyScope,
        spender: Spender,
        month: Month,
    ) -> Result<Vec<Threshold>, StoreError> {
        let raised: Vec<StringEnumColumn<Threshold>> = budget_alerts::table
            .filter(budget_alerts::company_id.eq(IdColumn(company.company())))
            .filter(budget_alerts::scope_type.eq(StringEnumColumn(spender.budget_scope())))
            .filter(budget_alerts::scope_id.eq(SpenderId::of(company.company(), spender)))
            .filter(budget_alerts::month.eq(month.number()))
            .select(budget_alerts::threshold)
            .load(self.conn)
            .map_err(failed)?;
        Ok(raised.into_iter().map(|threshold| threshold.0).collect())
    }
}

/// Adds to a running total. A total that cannot be counted exactly any more is
/// left as it is and refused.
fn add_to_total(
    conn: &mut Connection,
    event: &CostEvent,
    spender: Spender,
    month: Month,
) -> Result<(), StoreError> {
    let estimated = event.estimated.unwrap_or_default();
    let sum = sql_query(
        "INSERT INTO spend_totals
            (company_id, scope_type, scope_id, month, spent_micros, estimated_micros)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (company_id, scope_type, scope_id, month)
         DO UPDATE SET spent_micros = spend_totals.spent_micros + excluded.spent_micros,
            estimated_micros = spend_totals.estimated_micros + excluded.estimated_micros
         WHERE spend_totals.spent_micros <= 9223372036854775807 - excluded.spent_micros
         AND spend_totals.estimated_micros <= 9223372036854775807 - excluded.estimated_micros",
    )
    .bind::<Key, _>(IdColumn(event.company))
    .bind::<Text, _>(StringEnumColumn(spender.budget_scope()))
    .bind::<Key, _>(SpenderId::of(event.company, spender))
    .bind::<Integer, _>(month.number())
    .bind::<BigInt, _>(event.cost.micros())
    .bind::<BigInt, _>(estimated.micros());
    let counted = cached_here!(sum).execute(conn).map_err(failed)?;
    if counted == 1 {
        Ok(())
    } else {
        Err(StoreError::Constraint {
            constraint: "spend_totals.spent_micros".into(),
        })
    }
}

impl LedgerWrites for Transaction<'_> {
    fn record(&mut self, event: &CostEvent) -> Result<(), StoreError> {
        diesel::insert_into(cost_events::table)
            .values(CostEventRow::from(event))
            .execute(self.conn)
            .map_err(failed)?;
        if !event.counted {
            return Ok(());
        }
        let month = Month::of(event.occurred_at);
        let of_all = [Spender::Company, Spender::Agent(event.agent)];
        for spender in of_all
            .into_iter()
            .chain(event.project.map(Spender::Project))
        {
            add_to_total(self.conn, event, spender, month)?;
        }
        Ok(())
    }

    fn save_run_spend(
        &mut self,
        company: CompanyScope,
        run: RunId,
        spend: &RunSpend,
        held: Cents,
    ) -> Result<(), StoreError> {
        run_spends::save(self.conn, company, run, spend, held)
    }

    fn release(
        &mut self,
        company: CompanyScope,
        run: RunId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        run_spends::release(self.conn, company, run, now)
    }

    fn raise_alert(
        &mut self,
        company: CompanyScope,
        spender: Spender,
        month: Month,
        threshold: Threshold,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let raised = diesel::insert_into(budget_alerts::table)
            .values((
                budget_alerts::company_id.eq(IdColumn(company.company())),
                budget_alerts::scope_type.eq(StringEnumColumn(spender.budget_scope())),
                budget_alerts::scope_id.eq(SpenderId::of(company.company(), spender)),
                budget_alerts::month.eq(month.number()),
                budget_alerts::threshold.eq(StringEnumColumn(threshold)),
                budget_alerts::created_at.eq(InstantColumn(now)),
            ))
            .on_conflict_do_nothing()
            .execute(self.conn)
            .map_err(failed)?;
        Ok(raised == 1)
    }
}
