use core::fmt;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use uuid::Uuid;
use workforce_domain::actor::CompanyScope;
use workforce_domain::budget::{BudgetScope, Threshold};
use workforce_domain::cost::{CostEvent, CostTotal, TokenUse, Window};
use workforce_domain::id::{AgentId, CompanyId, CostEventId, Id, ProjectId};
use workforce_domain::money::Cents;
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{
    CostEventKey, LedgerReads, LedgerWrites, ProjectCost, Spender, StoreError,
};
use workforce_domain::text::Name;
use workforce_domain::time::{Month, Timestamp};

use super::super::transaction::Transaction;
use super::super::{Connection, LoadingMode};
use super::cost_events::CostEventRow;
use super::page::{MAX_WHOLE, fetch_limit, page_of};
use super::row::{admit, one};
use crate::store::columns::{IdColumn, Instant, InstantColumn, Key, WordColumn};
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

/// What every sum over cost events selects; `e` is the event. The casts are
/// for PostgreSQL, where a sum of whole numbers is a decimal one.
macro_rules! sums {
    () => {
        "CAST(COALESCE(SUM(e.cost_micros), 0) AS BIGINT) AS cost, \
         CAST(COALESCE(SUM(e.input_tokens), 0) AS BIGINT) AS input, \
         CAST(COALESCE(SUM(e.output_tokens), 0) AS BIGINT) AS output, \
         CAST(COALESCE(SUM(e.cached_input_tokens), 0) AS BIGINT) AS cached_input, \
         CAST(COALESCE(SUM(e.cache_write_tokens), 0) AS BIGINT) AS cache_write, \
         COUNT(DISTINCT CASE WHEN e.billing_type = 'api' THEN e.run_id END) AS api_runs, \
         COUNT(DISTINCT CASE WHEN e.billing_type = 'subscription' THEN e.run_id END) \
             AS subscription_runs, \
         CAST(COALESCE(SUM(CASE WHEN e.billing_type = 'subscription' \
             THEN e.input_tokens ELSE 0 END), 0) AS BIGINT) AS subscription_input, \
         CAST(COALESCE(SUM(CASE WHEN e.billing_type = 'subscription' \
             THEN e.output_tokens ELSE 0 END), 0) AS BIGINT) AS subscription_output "
    };
}

/// Which cost events every sum adds up.
macro_rules! counted {
    () => {
        "WHERE e.company_id = $1 AND e.occurred_at >= $2 AND e.occurred_at < $3 AND e.counted "
    };
}

#[derive(QueryableByName)]
struct Sums {
    #[diesel(sql_type = BigInt)]
    cost: i64,
    #[diesel(sql_type = BigInt)]
    input: i64,
    #[diesel(sql_type = BigInt)]
    output: i64,
    #[diesel(sql_type = BigInt)]
    cached_input: i64,
    #[diesel(sql_type = BigInt)]
    cache_write: i64,
    #[diesel(sql_type = BigInt)]
    api_runs: i64,
    #[diesel(sql_type = BigInt)]
    subscription_runs: i64,
    #[diesel(sql_type = BigInt)]
    subscription_input: i64,
    #[diesel(sql_type = BigInt)]
    subscription_output: i64,
}

impl From<Sums> for CostTotal {
    fn from(sums: Sums) -> Self {
        Self {
            cost: Cents::from_micros(sums.cost),
            tokens: TokenUse {
                input: sums.input,
                output: sums.output,
                cached_input: sums.cached_input,
                cache_write: sums.cache_write,
            },
            api_runs: sums.api_runs,
            subscription_runs: sums.subscription_runs,
            subscription_input: sums.subscription_input,
            subscription_output: sums.subscription_output,
        }
    }
}

#[derive(QueryableByName)]
struct AgentSums {
    #[diesel(sql_type = Key)]
    agent_id: IdColumn<AgentId>,
    #[diesel(embed)]
    sums: Sums,
}

#[derive(QueryableByName)]
struct ProjectSums {
    #[diesel(sql_type = Nullable<Key>)]
    project_id: Option<IdColumn<ProjectId>>,
    #[diesel(sql_type = Nullable<Text>)]
    project_name: Option<String>,
    #[diesel(embed)]
    sums: Sums,
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
                WordColumn(spender.budget_scope()),
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
            .filter(spend_totals::scope_type.eq(WordColumn(BudgetScope::Agent)))
            .filter(spend_totals::scope_id.eq_any(agents))
            .filter(spend_totals::month.eq(month.number()))
            .select((spend_totals::scope_id, spend_totals::spent_micros))
            .load(self.conn)
            .map_err(failed)?;
        Ok(rows.into_iter().map(|(agent, spent)| (agent.0, Cents::from_micros(spent))).collect())
    }

    fn spent_by_companies(
        &mut self,
        companies: &[CompanyScope],
        month: Month,
    ) -> Result<Vec<(CompanyScope, Cents)>, StoreError> {
        let ids: Vec<_> = companies.iter().map(|scope| IdColumn(scope.company())).collect();
        let rows: Vec<(IdColumn<CompanyId>, i64)> = spend_totals::table
            .filter(spend_totals::company_id.eq_any(ids))
            .filter(spend_totals::scope_type.eq(WordColumn(BudgetScope::Company)))
            .filter(spend_totals::scope_id.eq(spend_totals::company_id))
            .filter(spend_totals::month.eq(month.number()))
            .select((spend_totals::company_id, spend_totals::spent_micros))
            .load(self.conn)
            .map_err(failed)?;
        Ok(rows
            .into_iter()
            .filter_map(|(company, spent)| {
                let scope = companies.iter().find(|scope| scope.company() == company.0)?;
                Some((*scope, Cents::from_micros(spent)))
            })
            .collect())
    }

    fn total(&mut self, company: CompanyScope, window: Window) -> Result<CostTotal, StoreError> {
        let sums: Sums = sql_query(concat!("SELECT ", sums!(), "FROM cost_events e ", counted!()))
            .bind::<Key, _>(IdColumn(company.company()))
            .bind::<Instant, _>(InstantColumn(window.start))
            .bind::<Instant, _>(InstantColumn(window.end))
            .get_result(self.conn)
            .map_err(failed)?;
        Ok(sums.into())
    }

    /// The most expensive first.
    fn by_agent(
        &mut self,
        company: CompanyScope,
        window: Window,
    ) -> Result<Vec<(AgentId, CostTotal)>, StoreError> {
        let rows: Vec<AgentSums> = sql_query(concat!(
            "SELECT e.agent_id AS agent_id, ",
            sums!(),
            "FROM cost_events e ",
            counted!(),
            "GROUP BY e.agent_id ORDER BY cost DESC, e.agent_id LIMIT $4"
        ))
        .bind::<Key, _>(IdColumn(company.company()))
        .bind::<Instant, _>(InstantColumn(window.start))
        .bind::<Instant, _>(InstantColumn(window.end))
        .bind::<BigInt, _>(MAX_WHOLE)
        .load(self.conn)
        .map_err(failed)?;
        Ok(rows.into_iter().map(|row| (row.agent_id.0, row.sums.into())).collect())
    }

    /// The most expensive first.
    fn by_project(
        &mut self,
        company: CompanyScope,
        window: Window,
    ) -> Result<Vec<ProjectCost>, StoreError> {
        let rows: Vec<ProjectSums> = sql_query(concat!(
            "SELECT p.id AS project_id, p.name AS project_name, ",
            sums!(),
            "FROM cost_events e ",
            "LEFT JOIN projects p ON p.company_id = e.company_id AND p.id = e.project_id ",
            counted!(),
            "GROUP BY p.id, p.name ORDER BY cost DESC, p.id LIMIT $4"
        ))
        .bind::<Key, _>(IdColumn(company.company()))
        .bind::<Instant, _>(InstantColumn(window.start))
        .bind::<Instant, _>(InstantColumn(window.end))
        .bind::<BigInt, _>(MAX_WHOLE)
        .load(self.conn)
        .map_err(failed)?;
        rows.into_iter()
            .map(|row| {
                let project = match (row.project_id, row.project_name) {
                    (Some(id), Some(name)) => Some((id.0, admit("project", &name, Name::new)?)),
                    _ => None,
                };
                Ok(ProjectCost { project, total: row.sums.into() })
            })
            .collect()
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
        page: &PageRequest<CostEventKey>,
    ) -> Result<Page<CostEvent, CostEventKey>, StoreError> {
        let mut query = cost_events::table
            .filter(cost_events::company_id.eq(IdColumn(company.company())))
            .select(CostEventRow::as_select())
            .into_boxed();
        if let Some(after) = page.after {
            let at = InstantColumn(Timestamp::from_micros(after.at));
            query = query
                .filter(cost_events::created_at.le(at))
                .filter(cost_events::created_at.lt(at).or(cost_events::id.lt(IdColumn(after.id))));
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
        let raised: Vec<WordColumn<Threshold>> = budget_alerts::table
            .filter(budget_alerts::company_id.eq(IdColumn(company.company())))
            .filter(budget_alerts::scope_type.eq(WordColumn(spender.budget_scope())))
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
    let counted = sql_query(
        "INSERT INTO spend_totals (company_id, scope_type, scope_id, month, spent_micros)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (company_id, scope_type, scope_id, month)
         DO UPDATE SET spent_micros = spend_totals.spent_micros + excluded.spent_micros
         WHERE spend_totals.spent_micros <= 9223372036854775807 - excluded.spent_micros",
    )
    .bind::<Key, _>(IdColumn(company))
    .bind::<Text, _>(WordColumn(spender.budget_scope()))
    .bind::<Key, _>(SpenderId::of(company, spender))
    .bind::<Integer, _>(month.number())
    .bind::<BigInt, _>(cost.micros())
    .execute(conn)
    .map_err(failed)?;
    if counted == 1 {
        Ok(())
    } else {
        Err(StoreError::Constraint { constraint: "spend_totals.spent_micros".into() })
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
                budget_alerts::scope_type.eq(WordColumn(spender.budget_scope())),
                budget_alerts::scope_id.eq(SpenderId::of(company.company(), spender)),
                budget_alerts::month.eq(month.number()),
                budget_alerts::threshold.eq(WordColumn(threshold)),
                budget_alerts::created_at.eq(InstantColumn(now)),
            ))
            .on_conflict_do_nothing()
            .execute(self.conn)
            .map_err(failed)?;
        Ok(raised == 1)
    }
}
