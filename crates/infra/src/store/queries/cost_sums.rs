//! Sums over the ledger.

use std::sync::LazyLock;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Nullable, Text};
use workforce_domain::actor::CompanyScope;
use workforce_domain::cost::{BillingType, CostSource, CostTotal, TokenUse, Window};
use workforce_domain::id::{AgentId, ProjectId, RunId};
use workforce_domain::money::Cents;
use workforce_domain::port::{MeteredModel, ModelCost, ProjectCost, StoreError};

use super::super::Connection;
use super::page::MAX_WHOLE;
use super::predicates::{BILLING_TYPE, COST_SOURCE};
use super::row::admit;
use crate::store::columns::{IdColumn, Instant, InstantColumn, Key, StringEnumColumn};
use crate::store::errors::failed;

/// A statement that sums up the counted cost events `e` of a company: it selects
/// `beside` as well, joins `with`, and ends in `groups`. The casts are for
/// PostgreSQL, where a sum of whole numbers is a decimal one.
pub(super) fn sums(beside: &str, with: &str, groups: &str) -> String {
    let api = BILLING_TYPE.is("e", BillingType::Api);
    let subscription = BILLING_TYPE.is("e", BillingType::Subscription);
    format!(
        "SELECT {beside}\
            CAST(COALESCE(SUM(e.cost_micros), 0) AS BIGINT) AS cost, \
            CAST(COALESCE(SUM(e.estimated_micros), 0) AS BIGINT) AS estimated, \
            CAST(COALESCE(SUM(e.input_tokens), 0) AS BIGINT) AS input, \
            CAST(COALESCE(SUM(e.output_tokens), 0) AS BIGINT) AS output, \
            CAST(COALESCE(SUM(e.cached_input_tokens), 0) AS BIGINT) AS cached_input, \
            CAST(COALESCE(SUM(e.cache_write_tokens), 0) AS BIGINT) AS cache_write, \
            COUNT(DISTINCT CASE WHEN {api} THEN e.run_id END) AS api_runs, \
            COUNT(DISTINCT CASE WHEN {subscription} THEN e.run_id END) AS subscription_runs, \
            CAST(COALESCE(SUM(CASE WHEN {subscription} \
                THEN e.input_tokens ELSE 0 END), 0) AS BIGINT) AS subscription_input, \
            CAST(COALESCE(SUM(CASE WHEN {subscription} \
                THEN e.output_tokens ELSE 0 END), 0) AS BIGINT) AS subscription_output, \
            COUNT(CASE WHEN {api} AND e.cost_micros = 0 AND e.estimated_micros IS NULL \
                THEN 1 END) AS unknown \
        FROM cost_events e {with}\
        WHERE e.company_id = $1 AND e.occurred_at >= $2 AND e.occurred_at < $3 AND e.counted \
        {groups}"
    )
}

static TOTAL: LazyLock<String> = LazyLock::new(|| sums("", "", ""));

static BY_AGENT: LazyLock<String> = LazyLock::new(|| {
    sums(
        "e.agent_id AS agent_id, ",
        "",
        "GROUP BY e.agent_id ORDER BY cost DESC, e.agent_id LIMIT $4",
    )
});

static BY_PROJECT: LazyLock<String> = LazyLock::new(|| {
    sums(
        "p.id AS project_id, p.name AS project_name, ",
        "LEFT JOIN projects p ON p.company_id = e.company_id AND p.id = e.project_id ",
        "GROUP BY p.id, p.name ORDER BY cost DESC, p.id LIMIT $4",
    )
});

static BY_MODEL: LazyLock<String> = LazyLock::new(|| {
    sums(
        "e.provider AS provider, e.model AS model, ",
        "",
        "GROUP BY e.provider, e.model ORDER BY cost DESC, e.provider, e.model LIMIT $4",
    )
});

#[derive(QueryableByName)]
pub(super) struct Sums {
    #[diesel(sql_type = BigInt)]
    cost: i64,
    #[diesel(sql_type = BigInt)]
    estimated: i64,
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
    #[diesel(sql_type = BigInt)]
    unknown: i64,
}

impl From<Sums> for CostTotal {
    fn from(sums: Sums) -> Self {
        Self {
            cost: Cents::from_micros(sums.cost),
            estimated: Cents::from_micros(sums.estimated),
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
            unknown: sums.unknown,
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

#[derive(QueryableByName)]
struct ModelSums {
    #[diesel(sql_type = Text)]
    provider: String,
    #[diesel(sql_type = Text)]
    model: String,
    #[diesel(embed)]
    sums: Sums,
}

/// The sum over a company's counted events.
pub(super) fn total(
    conn: &mut Connection,
    company: CompanyScope,
    window: Window,
) -> Result<CostTotal, StoreError> {
    let sums: Sums = sql_query(TOTAL.as_str())
        .bind::<Key, _>(IdColumn(company.company()))
        .bind::<Instant, _>(InstantColumn(window.start))
        .bind::<Instant, _>(InstantColumn(window.end))
        .get_result(conn)
        .map_err(failed)?;
    Ok(sums.into())
}

/// The sums per agent, the most expensive first.
pub(super) fn by_agent(
    conn: &mut Connection,
    company: CompanyScope,
    window: Window,
) -> Result<Vec<(AgentId, CostTotal)>, StoreError> {
    let rows: Vec<AgentSums> = sql_query(BY_AGENT.as_str())
        .bind::<Key, _>(IdColumn(company.company()))
        .bind::<Instant, _>(InstantColumn(window.start))
        .bind::<Instant, _>(InstantColumn(window.end))
        .bind::<BigInt, _>(MAX_WHOLE)
        .load(conn)
        .map_err(failed)?;
    Ok(rows
        .into_iter()
        .map(|row| (row.agent_id.0, row.sums.into()))
        .collect())
}

/// The sums per project, the most expensive first.
pub(super) fn by_project(
    conn: &mut Connection,
    company: CompanyScope,
    window: Window,
) -> Result<Vec<ProjectCost>, StoreError> {
    let rows: Vec<ProjectSums> = sql_query(BY_PROJECT.as_str())
        .bind::<Key, _>(IdColumn(company.company()))
        .bind::<Instant, _>(InstantColumn(window.start))
        .bind::<Instant, _>(InstantColumn(window.end))
        .bind::<BigInt, _>(MAX_WHOLE)
        .load(conn)
        .map_err(failed)?;
    rows.into_iter()
        .map(|row| {
            let project = match (row.project_id, row.project_name) {
                (Some(id), Some(name)) => Some((id.0, admit("project", name)?)),
                _ => None,
            };
            Ok(ProjectCost {
                project,
                total: row.sums.into(),
            })
        })
        .collect()
}

/// The sums per model, the most expensive first.
pub(super) fn by_model(
    conn: &mut Connection,
    company: CompanyScope,
    window: Window,
) -> Result<Vec<ModelCost>, StoreError> {
    let rows: Vec<ModelSums> = sql_query(BY_MODEL.as_str())
        .bind::<Key, _>(IdColumn(company.company()))
        .bind::<Instant, _>(InstantColumn(window.start))
        .bind::<Instant, _>(InstantColumn(window.end))
        .bind::<BigInt, _>(MAX_WHOLE)
        .load(conn)
        .map_err(failed)?;
    rows.into_iter()
        .map(|row| {
            Ok(ModelCost {
                provider: admit("cost event", row.provider)?,
                model: admit("cost event", row.model)?,
                total: row.sums.into(),
            })
        })
        .collect()
}

static METERED: LazyLock<String> = LazyLock::new(|| {
    let metered = COST_SOURCE.is("e", CostSource::Metered);
    format!(
        "SELECT e.provider AS provider, e.model AS model, MIN(e.billing_type) AS billing, \
            CAST(SUM(e.cost_micros) AS BIGINT) AS cost, \
            CAST(COALESCE(SUM(e.estimated_micros), 0) AS BIGINT) AS estimated, \
            CAST(SUM(e.input_tokens) AS BIGINT) AS input, \
            CAST(SUM(e.output_tokens) AS BIGINT) AS output, \
            CAST(SUM(e.cached_input_tokens) AS BIGINT) AS cached_input, \
            CAST(SUM(e.cache_write_tokens) AS BIGINT) AS cache_write \
        FROM cost_events e \
        WHERE e.company_id = $1 AND e.run_id = $2 AND {metered} \
        GROUP BY e.provider, e.model ORDER BY e.provider, e.model"
    )
});

#[derive(QueryableByName)]
struct MeteredRow {
    #[diesel(sql_type = Text)]
    provider: String,
    #[diesel(sql_type = Text)]
    model: String,
    #[diesel(sql_type = Text)]
    billing: StringEnumColumn<BillingType>,
    #[diesel(sql_type = BigInt)]
    cost: i64,
    #[diesel(sql_type = BigInt)]
    estimated: i64,
    #[diesel(sql_type = BigInt)]
    input: i64,
    #[diesel(sql_type = BigInt)]
    output: i64,
    #[diesel(sql_type = BigInt)]
    cached_input: i64,
    #[diesel(sql_type = BigInt)]
    cache_write: i64,
}

/// What is metered of a run, by model.
pub(super) fn metered(
    conn: &mut Connection,
    company: CompanyScope,
    run: RunId,
) -> Result<Vec<MeteredModel>, StoreError> {
    let rows: Vec<MeteredRow> = sql_query(METERED.as_str())
        .bind::<Key, _>(IdColumn(company.company()))
        .bind::<Key, _>(IdColumn(run))
        .load(conn)
        .map_err(failed)?;
    rows.into_iter()
        .map(|row| {
            Ok(MeteredModel {
                billing: row.billing.0,
                provider: admit("cost event", row.provider)?,
                model: admit("cost event", row.model)?,
                tokens: TokenUse {
                    input: row.input,
                    output: row.output,
                    cached_input: row.cached_input,
                    cache_write: row.cache_write,
                },
                cost: Cents::from_micros(row.cost),
                estimated: Cents::from_micros(row.estimated),
            })
        })
        .collect()
}
