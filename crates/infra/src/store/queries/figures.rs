//! The figures of the dashboard: a few statements, each along an index.

use std::sync::LazyLock;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Text};
use workforce_domain::actor::CompanyScope;
use workforce_domain::agent::{Agent, AgentState};
use workforce_domain::dashboard::{AgentFigures, Badges, Cutoffs, DashboardMetrics, TaskFigures};
use workforce_domain::issue::IssueStatus;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::StoreError;

use super::super::{Connection, intervals_between};
use super::board_work::{to_do_by_board, to_review_by_board};
use super::predicates::{
    AGENT_LIFECYCLE, ISSUE_STATUS, employed_agent, pending_wake, running_run, stopped_by_budget,
    waiting_approval, working_run,
};
use super::stuck_issues;
use crate::store::columns::{IdColumn, Instant, InstantColumn, Key, StringEnumColumn};
use crate::store::errors::failed;

/// The casts are for PostgreSQL, where a sum of whole numbers is a decimal
/// one. What an agent's status shows comes in the order of `Agent::status`. Beats of resting
/// timers are counted as `Timer::seen_at` does.
/// SQLite numbers values in the order in which they are first named.
static AGENTS: LazyLock<String> = LazyLock::new(|| {
    let enabled = AGENT_LIFECYCLE.is("d", AgentState::Enabled);
    let paused = AGENT_LIFECYCLE.is("d", AgentState::Paused);
    let (employed, running) = (employed_agent("a"), running_run("r"));
    let passed = intervals_between("a.next_heartbeat_at", "$2", "a.heartbeat_armed_sec");
    format!(
        "SELECT \
        CAST(COALESCE(SUM(CASE WHEN {enabled} AND d.live = 0 \
            AND d.consecutive_failures < $1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS active, \
        CAST(COALESCE(SUM(CASE WHEN {enabled} AND d.live = 1 \
            THEN 1 ELSE 0 END), 0) AS BIGINT) AS running, \
        CAST(COALESCE(SUM(CASE WHEN {paused} \
            THEN 1 ELSE 0 END), 0) AS BIGINT) AS paused, \
        CAST(COALESCE(SUM(CASE WHEN {enabled} AND d.live = 0 \
            AND d.consecutive_failures >= $1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS error, \
        CAST(COALESCE(SUM(d.suppressed_wakes), 0) AS BIGINT) AS suppressed, \
        CAST(COALESCE(SUM(d.budget_monthly_cents), 0) AS BIGINT) AS budget \
        FROM (SELECT a.lifecycle, a.consecutive_failures, \
            a.suppressed_wakes + CASE WHEN a.heartbeat_rests AND a.next_heartbeat_at <= $2 \
                THEN 1 + {passed} ELSE 0 END AS suppressed_wakes, \
            a.budget_monthly_cents, \
            CASE WHEN EXISTS (SELECT 1 FROM heartbeat_runs r WHERE {running} \
                AND r.company_id = a.company_id AND r.agent_id = a.id) THEN 1 ELSE 0 END AS live \
            FROM agents a WHERE a.company_id = $3 AND {employed}) d"
    )
});

const STATUSES: &str = "SELECT i.status AS status, COUNT(*) AS count FROM issues i \
    WHERE i.company_id = $1 AND i.hidden_at IS NULL GROUP BY i.status";

/// `$2` is today, `$3` yesterday, `$4` an hour ago.
static REST: LazyLock<String> = LazyLock::new(|| {
    let done = ISSUE_STATUS.is("i", IssueStatus::Done);
    let in_progress = ISSUE_STATUS.is("i", IssueStatus::InProgress);
    let (working, running) = (working_run("r"), running_run("r"));
    let (waiting, pending) = (waiting_approval("v"), pending_wake("w"));
    format!(
        "SELECT \
        (SELECT COUNT(*) FROM issues i WHERE i.company_id = $1 AND i.hidden_at IS NULL \
            AND {done} AND i.completed_at >= $2) AS done_today, \
        (SELECT COUNT(*) FROM issues i WHERE i.company_id = $1 AND i.hidden_at IS NULL \
            AND {done} AND i.completed_at >= $3 AND i.completed_at < $2) AS done_yesterday, \
        (SELECT COUNT(*) FROM issues i WHERE i.company_id = $1 AND i.hidden_at IS NULL \
            AND {in_progress} AND i.updated_at < $4 \
            AND NOT EXISTS (SELECT 1 FROM heartbeat_runs r \
                WHERE {working} AND r.issue_id = i.id) \
            AND NOT EXISTS (SELECT 1 FROM issue_comments c WHERE c.company_id = i.company_id \
                AND c.issue_id = i.id AND c.created_at >= $4)) AS stale, \
        (SELECT COUNT(*) FROM approvals v WHERE v.company_id = $1 AND {waiting}) AS approvals, \
        (SELECT COUNT(*) FROM wakes w WHERE w.company_id = $1 AND {pending}) AS queued, \
        (SELECT COUNT(*) FROM (\
            SELECT r.agent_id FROM heartbeat_runs r WHERE r.company_id = $1 \
                AND r.finished_at IS NOT NULL AND r.finished_at > $4 AND r.started_at <= $4 \
            UNION \
            SELECT r.agent_id FROM heartbeat_runs r WHERE r.company_id = $1 \
                AND {running} AND r.started_at <= $4) earlier) AS ran"
    )
});

static BADGES: LazyLock<String> = LazyLock::new(|| {
    let (waiting, employed) = (waiting_approval("v"), employed_agent("a"));
    let stopped = stopped_by_budget("a");
    let (to_review, to_do) = (to_review_by_board("i"), to_do_by_board("i"));
    format!(
        "SELECT \
        (SELECT COUNT(*) FROM approvals v WHERE v.company_id = $1 AND {waiting}) AS approvals, \
        (SELECT COUNT(*) FROM agents a WHERE a.company_id = $1 \
            AND {employed} AND a.consecutive_failures > 0) AS failed, \
        (SELECT COUNT(*) FROM agents a WHERE a.company_id = $1 AND {stopped}) AS stopped, \
        (SELECT COUNT(*) FROM issues i WHERE i.company_id = $1 AND {to_review}) AS in_review, \
        (SELECT COUNT(*) FROM issues i WHERE i.company_id = $1 AND {to_do}) AS assigned"
    )
});

#[derive(QueryableByName)]
struct AgentSums {
    #[diesel(sql_type = BigInt)]
    active: i64,
    #[diesel(sql_type = BigInt)]
    running: i64,
    #[diesel(sql_type = BigInt)]
    paused: i64,
    #[diesel(sql_type = BigInt)]
    error: i64,
    #[diesel(sql_type = BigInt)]
    suppressed: i64,
    #[diesel(sql_type = BigInt)]
    budget: i64,
}

#[derive(QueryableByName)]
struct StatusCount {
    #[diesel(sql_type = Text)]
    status: StringEnumColumn<IssueStatus>,
    #[diesel(sql_type = BigInt)]
    count: i64,
}

#[derive(QueryableByName)]
struct Rest {
    #[diesel(sql_type = BigInt)]
    done_today: i64,
    #[diesel(sql_type = BigInt)]
    done_yesterday: i64,
    #[diesel(sql_type = BigInt)]
    stale: i64,
    #[diesel(sql_type = BigInt)]
    approvals: i64,
    #[diesel(sql_type = BigInt)]
    queued: i64,
    #[diesel(sql_type = BigInt)]
    ran: i64,
}

#[derive(QueryableByName)]
struct BadgeRow {
    #[diesel(sql_type = BigInt)]
    approvals: i64,
    #[diesel(sql_type = BigInt)]
    failed: i64,
    #[diesel(sql_type = BigInt)]
    stopped: i64,
    #[diesel(sql_type = BigInt)]
    in_review: i64,
    #[diesel(sql_type = BigInt)]
    assigned: i64,
}

/// The figures of a company.
pub(super) fn figures(
    conn: &mut Connection,
    company: CompanyScope,
    at: Cutoffs,
) -> Result<DashboardMetrics, StoreError> {
    let company = IdColumn(company.company());
    let agents: AgentSums = sql_query(AGENTS.as_str())
        .bind::<BigInt, _>(i64::from(Agent::FAILURES_SHOWN_AS_ERROR))
        .bind::<Instant, _>(InstantColumn(at.now))
        .bind::<Key, _>(company)
        .get_result(conn)
        .map_err(failed)?;
    let statuses: Vec<StatusCount> = sql_query(STATUSES)
        .bind::<Key, _>(company)
        .load(conn)
        .map_err(failed)?;
    let rest: Rest = sql_query(REST.as_str())
        .bind::<Key, _>(company)
        .bind::<Instant, _>(InstantColumn(at.today))
        .bind::<Instant, _>(InstantColumn(at.yesterday))
        .bind::<Instant, _>(InstantColumn(at.hour_ago))
        .get_result(conn)
        .map_err(failed)?;
    let count = |wanted: &dyn Fn(IssueStatus) -> bool| {
        let met = statuses.iter().filter(|row| wanted(row.status.0));
        met.map(|row| row.count).sum()
    };
    Ok(DashboardMetrics {
        agents: AgentFigures {
            active: agents.active,
            running: agents.running,
            paused: agents.paused,
            error: agents.error,
            running_an_hour_ago: rest.ran,
            suppressed_wakes: agents.suppressed,
            budget_cents: agents.budget,
        },
        tasks: TaskFigures {
            open: count(&|status| !status.is_terminal()),
            in_progress: count(&|status| status == IssueStatus::InProgress),
            in_review: count(&|status| status == IssueStatus::InReview),
            blocked: count(&|status| status == IssueStatus::Blocked),
            done: count(&|status| status == IssueStatus::Done),
            done_today: rest.done_today,
            done_yesterday: rest.done_yesterday,
            stale: rest.stale,
        },
        pending_approvals: rest.approvals,
        queue_depth: rest.queued,
    })
}

/// What waits for somebody's attention in a company.
pub(super) fn badges(conn: &mut Connection, company: CompanyScope) -> Result<Badges, StoreError> {
    let row: BadgeRow = sql_query(BADGES.as_str())
        .bind::<Key, _>(IdColumn(company.company()))
        .get_result(conn)
        .map_err(failed)?;
    Ok(Badges {
        approvals: row.approvals,
        failed_runs: row.failed,
        budget_stops: row.stopped,
        in_review: row.in_review,
        assigned: row.assigned,
        stuck: stuck_issues::counts(conn, company)?
            .iter()
            .map(|(_, count)| count)
            .sum(),
    })
}
