//! What the forecast of a budget is made from (docs/budgets.md#forecast).

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Integer, Nullable};
use workforce_domain::actor::CompanyScope;
use workforce_domain::budget::{BudgetBasis, Replay};
use workforce_domain::cost::{CostTotal, Window};
use workforce_domain::money::Cents;
use workforce_domain::port::{Spender, StoreError};
use workforce_domain::time::{Day, Month, Timestamp};

use super::super::{Connection, DAY_OF_COST};
use super::cost_sums::{Sums, sums};
use super::predicates::BUDGET_SCOPE;
use super::spends::SpenderId;
use crate::store::cached::cached;
use crate::store::columns::{IdColumn, Instant, InstantColumn, Key};
use crate::store::errors::failed;

/// The column of a cost event `e` that says whose spend it is. That of the company as
/// well, so that each statement has the same values whoever spends.
const fn column(spender: Spender) -> &'static str {
    match spender {
        Spender::Company => "e.company_id",
        Spender::Agent(_) => "e.agent_id",
        Spender::Project(_) => "e.project_id",
    }
}

/// What of a cost event `e` counts against the budgets.
const fn counted(basis: BudgetBasis) -> &'static str {
    match basis {
        BudgetBasis::Actual => "e.cost_micros",
        BudgetBasis::Estimated => "COALESCE(e.estimated_micros, 0)",
    }
}

#[derive(QueryableByName)]
struct FirstMonth {
    #[diesel(sql_type = Nullable<Integer>)]
    month: Option<i32>,
}

#[derive(QueryableByName)]
struct At {
    #[diesel(sql_type = Nullable<Instant>)]
    at: Option<InstantColumn>,
}

/// When the first counted event of a spender occurred. The totals know its month, so
/// that the ledger is not walked from its beginning.
pub(super) fn first_cost(
    conn: &mut Connection,
    company: CompanyScope,
    spender: Spender,
) -> Result<Option<Timestamp>, StoreError> {
    let id = SpenderId::of(company.company(), spender);
    let total = BUDGET_SCOPE.is("t", spender.budget_scope());
    let first = sql_query(format!(
        "SELECT MIN(t.month) AS month FROM spend_totals t \
        WHERE t.company_id = $1 AND {total} AND t.scope_id = $2"
    ))
    .bind::<Key, _>(IdColumn(company.company()))
    .bind::<Key, _>(id);
    let first: FirstMonth = cached(first).get_result(conn).map_err(failed)?;
    let Some(month) = first.month.and_then(Month::from_number) else {
        return Ok(None);
    };
    let spends = column(spender);
    let event = sql_query(format!(
        "SELECT e.occurred_at AS at FROM cost_events e \
        WHERE e.company_id = $1 AND e.occurred_at >= $2 AND {spends} = $3 AND e.counted \
        ORDER BY e.occurred_at LIMIT 1"
    ))
    .bind::<Key, _>(IdColumn(company.company()))
    .bind::<Instant, _>(InstantColumn(month.start()))
    .bind::<Key, _>(id);
    let event: Option<At> = cached(event).get_result(conn).optional().map_err(failed)?;
    Ok(event.and_then(|event| event.at).map(|at| at.0))
}

#[derive(QueryableByName)]
struct DaySums {
    #[diesel(sql_type = BigInt)]
    day: i64,
    #[diesel(embed)]
    sums: Sums,
}

/// The sums per day, in order.
pub(super) fn by_day(
    conn: &mut Connection,
    company: CompanyScope,
    spender: Spender,
    window: Window,
) -> Result<Vec<(Day, CostTotal)>, StoreError> {
    let spends = column(spender);
    let query = sql_query(sums(
        &format!("{DAY_OF_COST} AS day, "),
        "",
        &format!("AND {spends} = $4 GROUP BY {DAY_OF_COST} ORDER BY day"),
    ))
    .bind::<Key, _>(IdColumn(company.company()))
    .bind::<Instant, _>(InstantColumn(window.start))
    .bind::<Instant, _>(InstantColumn(window.end))
    .bind::<Key, _>(SpenderId::of(company.company(), spender));
    let rows: Vec<DaySums> = cached(query).load(conn).map_err(failed)?;
    Ok(rows
        .into_iter()
        .map(|row| (Day::from_number(row.day), row.sums.into()))
        .collect())
}

#[derive(QueryableByName)]
struct After {
    #[diesel(sql_type = BigInt)]
    spent: i64,
    #[diesel(sql_type = BigInt)]
    events: i64,
    #[diesel(sql_type = BigInt)]
    runs: i64,
}

/// When the spend of a window reached `limit`, and what was spent after it.
pub(super) fn replay(
    conn: &mut Connection,
    company: CompanyScope,
    spender: Spender,
    window: Window,
    basis: BudgetBasis,
    limit: Cents,
) -> Result<Replay, StoreError> {
    let id = SpenderId::of(company.company(), spender);
    let (spends, counted) = (column(spender), counted(basis));
    // Without another order than that of the index, the ledger is read once and not sorted.
    let stop = sql_query(format!(
        "SELECT MIN(r.at) AS at FROM (\
            SELECT e.occurred_at AS at, SUM({counted}) OVER (ORDER BY e.occurred_at) AS spent \
            FROM cost_events e WHERE e.company_id = $1 AND e.occurred_at >= $2 \
                AND e.occurred_at < $3 AND {spends} = $4 AND e.counted) r \
        WHERE r.spent >= $5"
    ))
    .bind::<Key, _>(IdColumn(company.company()))
    .bind::<Instant, _>(InstantColumn(window.start))
    .bind::<Instant, _>(InstantColumn(window.end))
    .bind::<Key, _>(id)
    .bind::<BigInt, _>(limit.micros());
    let stop: At = cached(stop).get_result(conn).map_err(failed)?;
    let Some(InstantColumn(stopped_at)) = stop.at else {
        return Ok(Replay::default());
    };
    let after = sql_query(format!(
        "SELECT CAST(COALESCE(SUM({counted}), 0) AS BIGINT) AS spent, COUNT(*) AS events, \
            COUNT(DISTINCT e.run_id) AS runs \
        FROM cost_events e WHERE e.company_id = $1 AND e.occurred_at > $2 \
            AND e.occurred_at < $3 AND {spends} = $4 AND e.counted"
    ))
    .bind::<Key, _>(IdColumn(company.company()))
    .bind::<Instant, _>(InstantColumn(stopped_at))
    .bind::<Instant, _>(InstantColumn(window.end))
    .bind::<Key, _>(id);
    let after: After = cached(after).get_result(conn).map_err(failed)?;
    Ok(Replay {
        stopped_at: Some(stopped_at),
        spend_after: Cents::from_micros(after.spent),
        events_after: after.events,
        runs_after: after.runs,
    })
}
