//! What was spent in a month, from the running totals, and what live runs hold.

use core::fmt;
use std::collections::HashMap;
use std::hash::Hash;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Bool, Integer, Nullable};
use uuid::Uuid;
use workforce_domain::actor::CompanyScope;
use workforce_domain::budget::{BudgetScope, Spend};
use workforce_domain::id::{AgentId, CompanyId, Id};
use workforce_domain::money::Cents;
use workforce_domain::port::{Spender, StoreError};
use workforce_domain::time::Month;

use super::super::Connection;
use super::predicates::{BUDGET_SCOPE, holding};
use crate::store::cached::cached;
use crate::store::columns::{IdColumn, Key, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{run_spends, spend_totals};
use crate::store::stable::{Fixed, fixed};

/// The id of whoever spends: a company, an agent or a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SpenderId(Uuid);

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
    pub(super) fn of(company: CompanyId, spender: Spender) -> IdColumn<Self> {
        IdColumn(Self(match spender {
            Spender::Company => company.into(),
            Spender::Agent(agent) => agent.into(),
            Spender::Project(project) => project.into(),
        }))
    }
}

#[derive(QueryableByName)]
struct SpendRow {
    #[diesel(sql_type = BigInt)]
    actual: i64,
    #[diesel(sql_type = BigInt)]
    estimated: i64,
    #[diesel(sql_type = BigInt)]
    held: i64,
}

impl From<SpendRow> for Spend {
    fn from(row: SpendRow) -> Self {
        Self {
            actual: Cents::from_micros(row.actual),
            estimated: Cents::from_micros(row.estimated),
            held: Cents::from_micros(row.held),
        }
    }
}

/// What one of them spent in `month`, or ever, and holds.
pub(super) fn of(
    conn: &mut Connection,
    company: CompanyScope,
    scope: BudgetScope,
    id: IdColumn<SpenderId>,
    month: Option<Month>,
) -> Result<Spend, StoreError> {
    let total = BUDGET_SCOPE.is("t", scope);
    let holding = holding("h", "$1", scope, "$2");
    // A statement without a month has one value less.
    let in_month = if month.is_some() {
        "AND t.month = $3"
    } else {
        "AND $3 IS NULL"
    };
    let sums = format!(
        "SELECT CAST(COALESCE(SUM(t.spent_micros), 0) AS BIGINT) AS actual, \
            CAST(COALESCE(SUM(t.estimated_micros), 0) AS BIGINT) AS estimated, \
            (SELECT CAST(COALESCE(SUM(h.held_micros), 0) AS BIGINT) FROM run_spends h \
                WHERE {holding}) AS held \
        FROM spend_totals t \
        WHERE t.company_id = $1 AND {total} AND t.scope_id = $2 {in_month}"
    );
    let query = sql_query(sums)
        .bind::<Key, _>(IdColumn(company.company()))
        .bind::<Key, _>(id)
        .bind::<Nullable<Integer>, _>(month.map(Month::number));
    let row: SpendRow = cached(query).get_result(conn).map_err(failed)?;
    Ok(row.into())
}

type Totals<I> = Vec<(IdColumn<I>, i64, i64)>;
type Holds<I> = Vec<(IdColumn<I>, Option<i64>)>;

/// Puts totals and holds together.
fn together<I: Id + Eq + Hash>(totals: Totals<I>, holds: Holds<I>) -> Vec<(I, Spend)> {
    let mut spends: HashMap<I, Spend> = HashMap::with_capacity(totals.len());
    for (id, actual, estimated) in totals {
        let spend = spends.entry(id.0).or_default();
        spend.actual = plus(spend.actual, actual);
        spend.estimated = plus(spend.estimated, estimated);
    }
    for (id, held) in holds {
        let spend = spends.entry(id.0).or_default();
        spend.held = plus(spend.held, held.unwrap_or_default());
    }
    spends.into_iter().collect()
}

fn plus(sum: Cents, micros: i64) -> Cents {
    Cents::from_micros(sum.micros().saturating_add(micros))
}

/// What each of these agents spent and holds.
pub(super) fn by_agents(
    conn: &mut Connection,
    company: CompanyScope,
    agents: &[AgentId],
    month: Month,
) -> Result<Vec<(AgentId, Spend)>, StoreError> {
    let company = IdColumn(company.company());
    let ids: Vec<_> = agents.iter().copied().map(IdColumn).collect();
    let totals: Totals<AgentId> = spend_totals::table
        .filter(spend_totals::company_id.eq(company))
        .filter(spend_totals::scope_type.eq(StringEnumColumn(BudgetScope::Agent)))
        .filter(spend_totals::scope_id.eq_any(ids))
        .filter(spend_totals::month.eq(month.number()))
        .select((
            spend_totals::scope_id,
            spend_totals::spent_micros,
            spend_totals::estimated_micros,
        ))
        .load(conn)
        .map_err(failed)?;
    let holds: Holds<AgentId> = run_spends::table
        .filter(run_spends::company_id.eq(company))
        .filter(is_holding())
        .group_by(run_spends::agent_id)
        .select((run_spends::agent_id, sum_of_holds()))
        .load(conn)
        .map_err(failed)?;
    let mut spends = together(totals, holds);
    spends.retain(|(agent, _)| agents.contains(agent));
    Ok(spends)
}

/// What each of these companies spent and holds.
pub(super) fn by_companies(
    conn: &mut Connection,
    companies: &[CompanyScope],
    month: Month,
) -> Result<Vec<(CompanyScope, Spend)>, StoreError> {
    let ids: Vec<_> = companies
        .iter()
        .map(|scope| IdColumn(scope.company()))
        .collect();
    let totals: Totals<CompanyId> = spend_totals::table
        .filter(spend_totals::company_id.eq_any(ids.clone()))
        .filter(spend_totals::scope_type.eq(StringEnumColumn(BudgetScope::Company)))
        .filter(spend_totals::scope_id.eq(spend_totals::company_id))
        .filter(spend_totals::month.eq(month.number()))
        .select((
            spend_totals::company_id,
            spend_totals::spent_micros,
            spend_totals::estimated_micros,
        ))
        .load(conn)
        .map_err(failed)?;
    let holds: Holds<CompanyId> = run_spends::table
        .filter(run_spends::company_id.eq_any(ids))
        .filter(is_holding())
        .group_by(run_spends::company_id)
        .select((run_spends::company_id, sum_of_holds()))
        .load(conn)
        .map_err(failed)?;
    let spends: HashMap<CompanyId, Spend> = together(totals, holds).into_iter().collect();
    let spend_of = |scope: &CompanyScope| Some((*scope, *spends.get(&scope.company())?));
    Ok(companies.iter().filter_map(spend_of).collect())
}

/// Written out, as the partial index asks for.
fn is_holding() -> Fixed<Bool> {
    fixed("run_spends.held_micros > 0")
}

/// A sum of whole numbers is a decimal one on PostgreSQL.
fn sum_of_holds() -> Fixed<Nullable<BigInt>> {
    fixed("CAST(SUM(held_micros) AS BIGINT)")
}
