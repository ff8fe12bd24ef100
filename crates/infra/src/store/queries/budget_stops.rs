//! Whom a budget stopped that is not used up any more (docs/budgets.md).

use std::sync::LazyLock;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Integer};
use workforce_domain::actor::InstanceScope;
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::port::{BudgetStop, StoreError};
use workforce_domain::time::Month;

use super::super::Connection;
use super::page::row_limit;
use super::predicates::{budget_unspent_by_agent, budget_unspent_by_company, stopped_by_budget};
use crate::store::columns::{IdColumn, Key};
use crate::store::errors::failed;

#[derive(QueryableByName)]
struct StoppedCompany {
    #[diesel(sql_type = Key)]
    company_id: IdColumn<CompanyId>,
}

#[derive(QueryableByName)]
struct StoppedAgent {
    #[diesel(sql_type = Key)]
    company_id: IdColumn<CompanyId>,
    #[diesel(sql_type = Key)]
    agent_id: IdColumn<AgentId>,
}

/// Companies that are stopped by a budget they have not used up. The partial
/// index needs the condition that there is a reason at all.
static STOPPED_COMPANIES: LazyLock<String> = LazyLock::new(|| {
    let stopped = stopped_by_budget("c");
    let left = budget_unspent_by_company("c", "$1");
    format!(
        "SELECT c.id AS company_id FROM companies c
         WHERE c.pause_reason IS NOT NULL AND {stopped} AND {left}
         ORDER BY c.id
         LIMIT $2"
    )
});

/// Agents that are stopped by a budget they have not used up.
static STOPPED_AGENTS: LazyLock<String> = LazyLock::new(|| {
    let stopped = stopped_by_budget("a");
    let left = budget_unspent_by_agent("a", "c", "$1");
    format!(
        "SELECT a.company_id AS company_id, a.id AS agent_id FROM agents a
         JOIN companies c ON c.id = a.company_id
         WHERE {stopped} AND {left}
         ORDER BY a.company_id, a.id
         LIMIT $2"
    )
});

pub(super) fn to_lift(
    conn: &mut Connection,
    scope: InstanceScope,
    month: Month,
    limit: usize,
) -> Result<Vec<BudgetStop>, StoreError> {
    let companies: Vec<StoppedCompany> = sql_query(STOPPED_COMPANIES.as_str())
        .bind::<Integer, _>(month.number())
        .bind::<BigInt, _>(row_limit(limit))
        .load(conn)
        .map_err(failed)?;
    let agents: Vec<StoppedAgent> = sql_query(STOPPED_AGENTS.as_str())
        .bind::<Integer, _>(month.number())
        .bind::<BigInt, _>(row_limit(limit.saturating_sub(companies.len())))
        .load(conn)
        .map_err(failed)?;
    let companies = companies.into_iter().map(|row| BudgetStop {
        company: scope.enter(row.company_id.0),
        agent: None,
    });
    let agents = agents.into_iter().map(|row| BudgetStop {
        company: scope.enter(row.company_id.0),
        agent: Some(row.agent_id.0),
    });
    Ok(companies.chain(agents).collect())
}
