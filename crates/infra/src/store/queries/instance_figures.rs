//! The figures of the instance: a few statements over what is going on, and none over what was.

use std::sync::LazyLock;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use workforce_domain::approval::ApprovalType;
use workforce_domain::budget::BudgetScope;
use workforce_domain::id::{CompanyId, InstanceId};
use workforce_domain::instance_figures::{InstanceFigures, SPENDERS_TOLD, WAKES_ASKED};
use workforce_domain::issue::StuckReason;
use workforce_domain::money::Cents;
use workforce_domain::port::{StartConditionInputs, StoreError};
use workforce_domain::run::StartCondition;
use workforce_domain::string_enum::StringEnum;
use workforce_domain::time::Month;

use super::super::Connection;
use super::predicates::{
    BUDGET_SCOPE, counted_micros, open_issue, pending_wake, running_run, waiting_approval,
};
use super::start_conditions::FIRST_MISSING;
use crate::store::cached::cached;
use crate::store::columns::{IdColumn, Instant, InstantColumn, Key, StringEnumColumn};
use crate::store::errors::failed;

/// `$1` is the present. A lease is a run's, or ends by itself.
static TOTALS: LazyLock<String> = LazyLock::new(|| {
    let (running, pending) = (running_run("r"), pending_wake("w"));
    format!(
        "SELECT \
        (SELECT COUNT(*) FROM companies firm) AS companies, \
        (SELECT COUNT(*) FROM heartbeat_runs r WHERE {running}) AS live_runs, \
        (SELECT COUNT(*) FROM wakes w WHERE {pending}) AS pending_wakes, \
        (SELECT COUNT(*) FROM issue_leases l WHERE l.run_id IS NOT NULL) \
            + (SELECT COUNT(*) FROM issue_leases l \
                WHERE l.expires_at IS NOT NULL AND l.expires_at > $1) AS issue_leases"
    )
});

/// What wakes wait for. The wakes are a part of the statement by themselves, since the limit is one
/// of wakes.
static QUEUE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT waiting.missing AS word, COUNT(*) AS count \
        FROM ({} LIMIT {WAKES_ASKED}) waiting GROUP BY waiting.missing",
        *FIRST_MISSING
    )
});

static APPROVALS: LazyLock<String> = LazyLock::new(|| {
    let waiting = waiting_approval("v");
    format!(
        "SELECT v.type AS word, COUNT(*) AS count FROM companies firm CROSS JOIN approvals v \
        WHERE v.company_id = firm.id AND {waiting} GROUP BY v.type"
    )
});

/// Whose issue has ended or is hidden is noted for half a minute at most.
static STUCK: LazyLock<String> = LazyLock::new(|| {
    let open = open_issue("i");
    format!(
        "SELECT s.reason AS word, COUNT(*) AS count \
        FROM companies firm CROSS JOIN stuck_issues s CROSS JOIN issues i \
        WHERE s.company_id = firm.id AND i.company_id = s.company_id AND i.id = s.issue_id \
        AND i.hidden_at IS NULL AND {open} GROUP BY s.reason"
    )
});

/// `$1` is the month.
static SPENDS: LazyLock<String> = LazyLock::new(|| {
    let (counted, of_company) = (
        counted_micros("firm", "t"),
        BUDGET_SCOPE.is("t", BudgetScope::Company),
    );
    format!(
        "SELECT firm.id AS company, {counted} AS micros \
        FROM companies firm CROSS JOIN spend_totals t \
        WHERE t.company_id = firm.id AND {of_company} AND t.scope_id = firm.id AND t.month = $1 \
        ORDER BY micros DESC, company LIMIT {SPENDERS_TOLD}"
    )
});

#[derive(QueryableByName)]
struct Totals {
    #[diesel(sql_type = BigInt)]
    companies: i64,
    #[diesel(sql_type = BigInt)]
    live_runs: i64,
    #[diesel(sql_type = BigInt)]
    pending_wakes: i64,
    #[diesel(sql_type = BigInt)]
    issue_leases: i64,
}

/// How many there are of a word, or of none.
#[derive(QueryableByName)]
struct Counted<W: StringEnum> {
    #[diesel(sql_type = Nullable<Text>)]
    word: Option<StringEnumColumn<W>>,
    #[diesel(sql_type = BigInt)]
    count: i64,
}

#[derive(QueryableByName)]
struct Spent {
    #[diesel(sql_type = Key)]
    company: IdColumn<CompanyId>,
    #[diesel(sql_type = BigInt)]
    micros: i64,
}

/// The figures of the instance.
pub(super) fn figures(
    conn: &mut Connection,
    terms: &StartConditionInputs,
) -> Result<InstanceFigures, StoreError> {
    let month = Month::of(terms.now).number();
    let totals: Totals =
        cached(sql_query(TOTALS.as_str()).bind::<Instant, _>(InstantColumn(terms.now)))
            .get_result(conn)
            .map_err(failed)?;
    let queue = sql_query(QUEUE.as_str())
        .bind::<Instant, _>(InstantColumn(terms.now))
        .bind::<Integer, _>(month)
        .bind::<Key, _>(IdColumn::<InstanceId>(terms.instance))
        .bind::<BigInt, _>(terms.instance_cap);
    let queue: Vec<Counted<StartCondition>> = cached(queue).load(conn).map_err(failed)?;
    let approvals: Vec<Counted<ApprovalType>> = cached(sql_query(APPROVALS.as_str()))
        .load(conn)
        .map_err(failed)?;
    let stuck: Vec<Counted<StuckReason>> = cached(sql_query(STUCK.as_str()))
        .load(conn)
        .map_err(failed)?;
    let spends: Vec<Spent> = cached(sql_query(SPENDS.as_str()).bind::<Integer, _>(month))
        .load(conn)
        .map_err(failed)?;
    Ok(InstanceFigures {
        companies: totals.companies,
        live_runs: totals.live_runs,
        pending_wakes: totals.pending_wakes,
        queued_wakes: queue
            .into_iter()
            .map(|row| (row.word.map(|word| word.0), row.count))
            .collect(),
        waiting_approvals: counts(approvals),
        issue_leases: totals.issue_leases,
        stuck_issues: counts(stuck),
        month_spends: spends
            .into_iter()
            .map(|row| (row.company.0, Cents::from_micros(row.micros)))
            .collect(),
    })
}

fn counts<W: StringEnum>(rows: Vec<Counted<W>>) -> Vec<(W, i64)> {
    rows.into_iter()
        .filter_map(|row| Some((row.word?.0, row.count)))
        .collect()
}
