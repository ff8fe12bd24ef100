//! The conditions of a start, as SQL. The claim is put together from this one
//! list, and the list says what a wake waits for.

use std::sync::LazyLock;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Integer, Text};
use workforce_domain::actor::CompanyScope;
use workforce_domain::approval::ApprovalStatus;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{CompanyId, InstanceId, WakeId};
use workforce_domain::port::{StartConditionInputs, StoreError};
use workforce_domain::run::StartCondition;
use workforce_domain::string_enum::StringEnum;
use workforce_domain::time::Month;

use super::super::Connection;
use super::issue_tree::MAX_ANCESTORS;
use super::predicates::{
    APPROVAL_STATUS, active_company, budget_left_to_agent, budget_left_to_company,
    budget_left_to_project, employed_agent, execution_wake, open_issue, pending_wake, queued_run,
    running_run, spaced, undecided_plan, unpaused_agent, word, working_run,
};
use crate::store::columns::{IdColumn, Instant, InstantColumn, Key};
use crate::store::errors::failed;

/// What the conditions of a wake `w` speak of: `a` is its agent, `firm` its company, `q` its run,
/// `i` its issue, `p` the project of that. SQLite looks them up in this order, so that a busy or
/// paused agent is met before anything else.
const CONCERNED: &str = "agents a \
    CROSS JOIN companies firm \
    CROSS JOIN heartbeat_runs q \
    LEFT JOIN issues i ON i.company_id = w.company_id AND i.id = w.issue_id \
    LEFT JOIN projects p ON p.company_id = i.company_id AND p.id = i.project_id \
    WHERE a.company_id = w.company_id AND a.id = w.agent_id \
    AND firm.id = w.company_id \
    AND q.company_id = w.company_id AND q.id = w.run_id";

/// What is asked first of a company that has pending wakes: what needs no value.
const OF_COMPANIES: [StartCondition; 2] =
    [StartCondition::CompanyNotActive, StartCondition::CapCompany];

/// What a condition demands. `$1` is the present, `$2` the month, `$3` the
/// server and `$4` its cap. SQLite numbers values in the order in which they
/// first come, so the list must use them in this order.
fn demand(condition: StartCondition) -> String {
    match condition {
        StartCondition::NotBefore => "w.not_before <= $1".into(),
        StartCondition::AgentBackoff => {
            "(w.by_board OR a.backoff_until IS NULL OR a.backoff_until <= $1)".into()
        }
        StartCondition::ProviderGate => "NOT EXISTS (SELECT 1 FROM provider_gates g \
            WHERE g.company_id = w.company_id AND g.blocked_until > $1 \
            AND g.account IN (a.provider_account, \
                a.provider_account || ':' || CAST(a.id AS TEXT)))"
            .into(),
        StartCondition::AgentNotEmployed => employed_agent("a"),
        StartCondition::AgentPaused => unpaused_agent("a"),
        StartCondition::CompanyNotActive => active_company("firm"),
        StartCondition::BudgetAgent => {
            let left = budget_left_to_agent("a", "firm", "$2");
            format!("(a.budget_override_month = $2 OR {left})")
        }
        StartCondition::BudgetCompany => budget_left_to_company("firm", "$2"),
        StartCondition::BudgetProject => budget_left_to_project("p", "firm", "$2"),
        StartCondition::CapInstance => {
            format!("{} < $4", live_runs("r.instance_id = $3"))
        }
        StartCondition::CapCompany => {
            let live = live_runs("r.company_id = firm.id");
            format!("{live} < firm.max_concurrent_runs")
        }
        StartCondition::CapAgent => {
            let live = live_runs("r.company_id = w.company_id AND r.agent_id = w.agent_id");
            format!("{live} < a.max_concurrent_runs")
        }
        StartCondition::IssueEnded => to_work(&open_issue("i")),
        StartCondition::IssueHasLiveRun => {
            let working = working_run("r");
            to_work(&format!(
                "NOT EXISTS (SELECT 1 FROM heartbeat_runs r \
                    WHERE {working} AND r.issue_id = i.id)"
            ))
        }
        StartCondition::WorkspaceBusy => {
            let running = running_run("r");
            to_work(&format!(
                "NOT EXISTS (SELECT 1 FROM heartbeat_runs r \
                    WHERE {running} AND r.execution_workspace_id = i.execution_workspace_id) \
                AND NOT EXISTS (SELECT 1 FROM execution_workspaces e \
                    WHERE e.company_id = i.company_id AND e.id = i.execution_workspace_id \
                        AND e.held_until > $1)"
            ))
        }
        StartCondition::LeaseHeld => to_work(
            "NOT EXISTS (SELECT 1 FROM issue_leases l \
                WHERE l.issue_id = i.id AND (l.run_id IS NOT NULL \
                    OR (l.expires_at > $1 AND l.agent_id <> w.agent_id)))",
        ),
        StartCondition::ApprovalPending => to_work(&no_plan_in_the_way()),
    }
}

/// How many runs of these are live.
fn live_runs(of: &str) -> String {
    let running = running_run("r");
    format!("(SELECT COUNT(*) FROM heartbeat_runs r WHERE {running} AND {of})")
}

/// A demand on wakes to work on an issue alone.
fn to_work(demand: &str) -> String {
    let execution = execution_wake("w");
    format!("(NOT ({execution}) OR w.issue_id IS NULL OR {demand})")
}

/// Parents are followed only in companies that have an undecided plan at all.
/// Whoever is to revise a plan may work on its issue meanwhile, but on nothing
/// below it.
fn no_plan_in_the_way() -> String {
    let undecided = undecided_plan("v");
    let pending = APPROVAL_STATUS.is("v", ApprovalStatus::Pending);
    format!(
        "(NOT EXISTS (SELECT 1 FROM approvals v \
            WHERE v.company_id = w.company_id AND {undecided}) \
        OR NOT EXISTS ( \
            WITH RECURSIVE chain (id, depth) AS ( \
                SELECT i.id, 0 \
                UNION \
                SELECT p.parent_id, chain.depth + 1 \
                FROM chain CROSS JOIN issues p \
                WHERE p.company_id = w.company_id AND p.id = chain.id \
                AND p.parent_id IS NOT NULL AND chain.depth < {MAX_ANCESTORS} \
            ) \
            SELECT 1 FROM chain CROSS JOIN approvals v \
            WHERE v.company_id = w.company_id AND {undecided} \
            AND ({pending} OR chain.depth > 0 \
                OR v.requested_by_agent_id IS NULL \
                OR v.requested_by_agent_id <> w.agent_id) \
            AND (v.primary_issue_id = chain.id OR EXISTS ( \
                SELECT 1 FROM approval_issues k \
                WHERE k.approval_id = v.id AND k.issue_id = chain.id))))"
    )
}

/// These conditions, all of them.
fn demands(conditions: &[StartCondition]) -> String {
    let demands: Vec<String> = conditions.iter().copied().map(demand).collect();
    demands.join(" AND ")
}

/// The companies that have a pending wake and, as far as they are asked, may start a run: first
/// those that never started one, then those that did the longest ago. Steps from one company to
/// the next in the index of pending wakes, however many wakes each has.
pub(super) static COMPANIES_IN_TURN: LazyLock<String> = LazyLock::new(|| {
    let pending = pending_wake("w");
    let next = format!("SELECT w.company_id FROM wakes w WHERE {pending}");
    let demands = demands(&OF_COMPANIES);
    format!(
        "WITH RECURSIVE waiting (company_id) AS ( \
            SELECT ({next} ORDER BY w.company_id LIMIT 1) \
            UNION ALL \
            SELECT ({next} AND w.company_id > waiting.company_id ORDER BY w.company_id LIMIT 1) \
            FROM waiting WHERE waiting.company_id IS NOT NULL \
        ) \
        SELECT firm.id AS company FROM waiting \
        CROSS JOIN companies firm CROSS JOIN company_counters n \
        WHERE firm.id = waiting.company_id AND n.company_id = waiting.company_id AND {demands} \
        ORDER BY n.last_dispatched_at ASC NULLS FIRST, firm.id"
    )
});

/// The wakes of the company `$5` that may be answered now, as the claim takes them.
///
/// PostgreSQL takes an `EXISTS` for a join, of which it expects so few rows that it gathers and
/// sorts them all. Not with an offset: then it asks wake by wake, in the order of the index.
pub(super) static STARTABLE: LazyLock<String> = LazyLock::new(|| {
    let (pending, queued) = (pending_wake("w"), queued_run("q"));
    let demands = demands(StartCondition::ALL);
    format!(
        "SELECT w.id AS wake, w.run_id AS run, w.company_id AS company, \
            w.agent_id AS agent, w.issue_id AS issue FROM wakes w \
        WHERE {pending} AND EXISTS ( \
            SELECT 1 FROM {CONCERNED} AND {queued} AND {demands} LIMIT 1 OFFSET 0) \
        AND w.company_id = $5"
    )
});

/// The names of the conditions that do not hold for one wake, each after a
/// blank.
static BLOCKING: LazyLock<String> = LazyLock::new(|| {
    let (pending, queued) = (pending_wake("w"), queued_run("q"));
    let all = StartCondition::ALL.iter().copied();
    let names: Vec<String> = all
        .map(|condition| {
            let (demand, name) = (demand(condition), spaced(condition));
            format!("CASE WHEN {demand} THEN '' ELSE {name} END")
        })
        .collect();
    let names = names.join(" || ");
    format!(
        "SELECT {names} AS names FROM wakes w CROSS JOIN {CONCERNED} \
        AND {pending} AND {queued} AND w.company_id = $5 AND w.id = $6"
    )
});

/// For each pending wake the first condition that does not hold, if there is one.
pub(super) static FIRST_MISSING: LazyLock<String> = LazyLock::new(|| {
    let (pending, queued) = (pending_wake("w"), queued_run("q"));
    let all = StartCondition::ALL.iter().rev().copied();
    let first = all.fold("NULL".to_owned(), |rest, condition| {
        let (demand, name) = (demand(condition), word(condition));
        format!("CASE WHEN {demand} THEN {rest} ELSE {name} END")
    });
    format!(
        "SELECT {first} AS missing FROM wakes w CROSS JOIN {CONCERNED} AND {pending} AND {queued}"
    )
});

/// A statement about a company, with what the conditions of a start are asked about.
macro_rules! asked {
    ($statement:expr, $terms:expr, $company:expr) => {
        sql_query($statement.as_str())
            .bind::<Instant, _>(InstantColumn($terms.now))
            .bind::<Integer, _>(Month::of($terms.now).number())
            .bind::<Key, _>(IdColumn::<InstanceId>($terms.instance))
            .bind::<BigInt, _>($terms.instance_cap)
            .bind::<Key, _>($company)
    };
}
pub(super) use asked;

#[derive(QueryableByName)]
struct Blocking {
    #[diesel(sql_type = Text)]
    names: String,
}

/// The conditions that keep a pending wake from starting; `None` when no such
/// wake is pending.
pub(super) fn blocking(
    conn: &mut Connection,
    company: CompanyScope,
    wake: WakeId,
    terms: &StartConditionInputs,
) -> Result<Option<Vec<StartCondition>>, StoreError> {
    let company = IdColumn::<CompanyId>(company.company());
    let found: Option<Blocking> = asked!(BLOCKING, terms, company)
        .bind::<Key, _>(IdColumn(wake))
        .get_result(conn)
        .optional()
        .map_err(failed)?;
    let Some(Blocking { names }) = found else {
        return Ok(None);
    };
    let conditions: Option<Vec<_>> = names
        .split(' ')
        .skip(1)
        .map(StartCondition::parse)
        .collect();
    conditions
        .map(Some)
        .ok_or_else(|| Corrupt::new("wake", "it waits for an unknown condition").into())
}
