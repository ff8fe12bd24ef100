use core::fmt;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Integer, Text};
use uuid::Uuid;
use workforce_domain::actor::CompanyScope;
use workforce_domain::budget::{BudgetScope, Threshold};
use workforce_domain::cost::{CostEvent, CostTotal, Window};
use workforce_domain::id::{AgentId, CompanyId, CostEventId, Id};
use workforce_domain::money::Cents;
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{
    CostEventCursor, LedgerReads, LedgerWrites, ProjectCost, Spender, StoreError,
};
use workforce_domain::time::{Month, Timestamp};

use super::super::transaction::Transaction;
use super::super::{Connection, LoadingMode};
use super::cost_events::CostEventRow;
use super::cost_sums;
use super::page::{fetch_limit, page_of};
use super::row::one;
use crate::store::cached::cached;
use crate::store::columns::{IdColumn, InstantColumn, Key, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{budget_alerts, cost_events, spend_totals};

/// The id of whoever spends: a company or an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SpenderId(Uuid);

impl Id for SpenderId {
    const KIND: &'static str = "spender";
}

impl From<Uuid> for SpenderId {
    fn from(uuid: Uuid) -> Self {
        Self(uuid)
    }
}

impl From<SpenderId> for Uuid {
    fn from(id: SpenderId) -> Self {
        id.0
    }
}

impl fmt::Display for SpenderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl SpenderId {
    fn of(company: CompanyId, spender: Spender) -> IdColumn<Self> {
        IdColumn(Self(match spender {
            Spender::Company => company.into(),
            Spender::Agent(agent) => agent.into(),
        }))
    }
}

impl LedgerReads for Transaction<'_> {
    fn spent(
        &mut self,
        company: CompanyScope,
        spender: Spender,
        month: Month,
    ) -> Result<Cents, StoreError> {
        let spent: Option<i64> = spend_totals::table
            .find((
                IdColumn(company.company()),
                StringEnumColumn(spender.budget_scope()),
                SpenderId::of(company.company(), spender),
                month.number(),
            ))
            .select(spend_totals::spent_micros)
            .first(self.conn)
            .optional()
            .map_err(failed)?;
        Ok(spent.map_or(Cents::ZERO, Cents::from_micros))
    }

    fn spent_by(
        &mut self,
        company: CompanyScope,
        agents: &[AgentId],
        month: Month,
    ) -> Result<Vec<(AgentId, Cents)>, StoreError> {
        let agents: Vec<_> = agents.iter().copied().map(IdColumn).collect();
        let rows: Vec<(IdColumn<AgentId>, i64)> = spend_totals::table
            .filter(spend_totals::company_id.eq(IdColumn(company.company())))
            .filter(spend_totals::scope_type.eq(StringEnumColumn(BudgetScope::Agent)))
            .filter(spend_totals::scope_id.eq_any(agents))
            .filter(spend_totals::month.eq(month.number()))
            .select((spend_totals::scope_id, spend_totals::spent_micros))
            .load(self.conn)
            .map_err(failed)?;
        Ok(rows
            .into_iter()
            .map(|(agent, spent)| (agent.0, Cents::from_micros(spent)))
            .collect())
    }

    fn spent_by_companies(
        &mut self,
        companies: &[CompanyScope],
        month: Month,
    ) -> Result<Vec<(CompanyScope, Cents)>, StoreError> {
        let ids: Vec<_> = companies
            .iter()
            .map(|scope| IdColumn(scope.company()))
            .collect();
        let rows: Vec<(IdColumn<CompanyId>, i64)> = spend_totals::table
            .filter(spend_totals::company_id.eq_any(ids))
            .filter(spend_totals::scope_type.eq(StringEnumColumn(BudgetScope::Company)))
            .filter(spend_totals::scope_id.eq(spend_totals::company_id))
            .filter(spend_totals::month.eq(month.number()))
            .select((spend_totals::company_id, spend_totals::spent_micros))
            .load(self.conn)
            .map_err(failed)?;
        Ok(rows
            .into_iter()
            .filter_map(|(company, spent)| {
                let scope = companies
                    .iter()
                    .find(|scope| scope.company() == company.0)?;
                Some((*scope, Cents::from_micros(spent)))
            })
            .collect())
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
    company: CompanyId,
    spender: Spender,
    month: Month,
    cost: Cents,
) -> Result<(), StoreError> {
    let sum = sql_query(
        "INSERT INTO spend_totals (company_id, scope_type, scope_id, month, spent_micros)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (company_id, scope_type, scope_id, month)
         DO UPDATE SET spent_micros = spend_totals.spent_micros + excluded.spent_micros
         WHERE spend_totals.spent_micros <= 9223372036854775807 - excluded.spent_micros",
    )
    .bind::<Key, _>(IdColumn(company))
    .bind::<Text, _>(StringEnumColumn(spender.budget_scope()))
    .bind::<Key, _>(SpenderId::of(company, spender))
    .bind::<Integer, _>(month.number())
    .bind::<BigInt, _>(cost.micros());
    let counted = cached(sum).execute(conn).map_err(failed)?;
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
        for spender in [Spender::Company, Spender::Agent(event.agent)] {
            add_to_total(self.conn, event.company, spender, month, event.cost)?;
        }
        Ok(())
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
