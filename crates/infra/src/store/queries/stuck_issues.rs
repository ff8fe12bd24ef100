//! Which open issues nothing moves by itself, and why (docs/issues.md#stuck-issues).

use std::sync::LazyLock;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use workforce_domain::actor::{CompanyScope, InstanceScope};
use workforce_domain::approval::ExecutionState;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{CompanyId, IssueId};
use workforce_domain::issue::{Issue, IssueStatus, StuckIssue, StuckReason};
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{Locked, StoreError, StuckChanges, StuckCursor};
use workforce_domain::run::{RunErrorCode, RunStatus};
use workforce_domain::time::{Month, Timestamp};

use super::super::{Connection, LoadingMode};
use super::page::{fetch_limit, page_of, row_limit};
use super::predicates::{
    ISSUE_STATUS, RUN_ERROR, active_company, awaits_review_of_board, budget_unspent_on_project,
    employed_agent, execution_in, issue_in_hand, open_issue, pending_wake, running_run,
    stopped_by_budget, unpaused_agent, waiting_approval, word,
};
use super::row::{Row, admit};
use crate::store::cached::cached;
use crate::store::columns::{IdColumn, Instant, InstantColumn, Key, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{issues, stuck_issues};

/// What an issue `i`, its assignee `a`, its project `p` and its company `firm` are joined from.
const CONCERNED: &str = "issues i \
    CROSS JOIN companies firm \
    LEFT JOIN agents a ON a.company_id = i.company_id AND a.id = i.assignee_agent_id \
    LEFT JOIN projects p ON p.company_id = i.company_id AND p.id = i.project_id \
    WHERE firm.id = i.company_id";

/// Why an issue is stuck, or null. `$1` is the present and `$2` the month; SQLite numbers values
/// in the order in which they first come.
static REASON: LazyLock<String> = LazyLock::new(|| {
    let running = running_run("r");
    let live = format!(
        "EXISTS (SELECT 1 FROM heartbeat_runs r \
            WHERE r.company_id = i.company_id AND r.issue_id = i.id AND {running})"
    );
    let leased = "EXISTS (SELECT 1 FROM issue_leases l \
        WHERE l.issue_id = i.id AND l.run_id IS NULL AND l.expires_at > $1)";
    let unspent = budget_unspent_on_project("p", "firm", "$2");
    let may_run = |agent: &str| {
        let (employed, unpaused) = (employed_agent(agent), unpaused_agent(agent));
        let active = active_company("firm");
        format!("{employed} AND {unpaused} AND {active} AND {unspent}")
    };
    let (pending, able) = (pending_wake("w"), may_run("wa"));
    let woken = format!(
        "EXISTS (SELECT 1 FROM wakes w CROSS JOIN agents wa \
            WHERE w.company_id = i.company_id AND w.issue_id = i.id AND {pending} \
            AND wa.company_id = w.company_id AND wa.id = w.agent_id AND {able})"
    );
    let worked_on = ISSUE_STATUS.is_among("i", &[IssueStatus::Todo, IssueStatus::InProgress]);
    let in_review = ISSUE_STATUS.is("i", IssueStatus::InReview);
    let beats = format!(
        "(a.next_heartbeat_at IS NOT NULL \
            AND ({worked_on} OR ({in_review} AND i.implementer_agent_id IS NOT NULL)) AND {})",
        may_run("a")
    );
    let child_in_hand = issue_in_hand("c");
    let children = format!(
        "EXISTS (SELECT 1 FROM issues c \
            WHERE c.company_id = i.company_id AND c.parent_id = i.id AND {child_in_hand})"
    );
    let waiting = waiting_approval("v");
    let executing = execution_in("x", ExecutionState::Executing);
    let linked = "SELECT 1 FROM approval_issues k CROSS JOIN approvals v \
        LEFT JOIN approval_executions x \
            ON x.company_id = v.company_id AND x.approval_id = v.id \
        WHERE k.company_id = i.company_id AND k.issue_id = i.id \
        AND v.company_id = k.company_id AND v.id = k.approval_id";
    let decided = format!("EXISTS ({linked} AND (({waiting}) OR {executing}))");
    let of_ticket = "EXISTS (SELECT 1 FROM ticket_advances t WHERE t.issue_id = i.id) \
        OR EXISTS (SELECT 1 FROM pull_request_watches q \
            WHERE q.company_id = i.company_id AND q.workspace_id = i.execution_workspace_id)";
    let of_board = awaits_review_of_board("i");
    let last = |column: &str| {
        format!(
            "(SELECT {column} FROM heartbeat_runs r \
                WHERE r.company_id = i.company_id AND r.issue_id = i.id \
                AND r.agent_id = i.assignee_agent_id AND r.finished_at IS NOT NULL \
                ORDER BY r.created_at DESC, r.id DESC LIMIT 1)"
        )
    };
    let (last_status, signed_out) = (
        last("r.status"),
        last(&format!(
            "CASE WHEN {} THEN 1 ELSE 0 END",
            RUN_ERROR.is("r", RunErrorCode::AuthRequired)
        )),
    );
    let (of_company, of_agent) = (stopped_by_budget("firm"), stopped_by_budget("a"));
    let (active, unpaused) = (active_company("firm"), unpaused_agent("a"));
    let blocked = ISSUE_STATUS.is("i", IssueStatus::Blocked);
    let [
        unassigned,
        not_active,
        paused,
        budget,
        sign_in,
        is_blocked,
        run_failed,
        left_undone,
        not_woken,
    ] = [
        StuckReason::Unassigned,
        StuckReason::CompanyNotActive,
        StuckReason::AgentPaused,
        StuckReason::BudgetExhausted,
        StuckReason::SignInRequired,
        StuckReason::Blocked,
        StuckReason::RunFailed,
        StuckReason::LeftUndone,
        StuckReason::NotWoken,
    ]
    .map(word);
    let succeeded = word(RunStatus::Succeeded);
    format!(
        "CASE \
        WHEN {live} OR {leased} THEN NULL \
        WHEN a.consecutive_failures > 0 AND {signed_out} = 1 THEN {sign_in} \
        WHEN i.assignee_user_id IS NOT NULL OR {of_board} OR {woken} OR {beats} OR {children} \
            OR {decided} OR {of_ticket} THEN NULL \
        WHEN i.assignee_agent_id IS NULL THEN {unassigned} \
        WHEN {of_company} OR {of_agent} OR NOT {unspent} THEN {budget} \
        WHEN NOT ({active}) THEN {not_active} \
        WHEN NOT ({unpaused}) THEN {paused} \
        WHEN {blocked} THEN {is_blocked} \
        WHEN {last_status} = {succeeded} THEN {left_undone} \
        WHEN {last_status} IS NOT NULL THEN {run_failed} \
        ELSE {not_woken} END"
    )
});

/// Of one issue: `$3` is the company, `$4` the issue.
static OF_ONE: LazyLock<String> = LazyLock::new(|| {
    let (reason, in_hand) = (REASON.as_str(), issue_in_hand("i"));
    format!(
        "SELECT i.id AS issue, {reason} AS reason, CAST(NULL AS TEXT) AS noted FROM {CONCERNED} \
        AND i.company_id = $3 AND i.id = $4 AND {in_hand}"
    )
});

/// Of the issues of the company `$3` after `$4`, at most `$5`.
static OF_COMPANY: LazyLock<String> = LazyLock::new(|| {
    let (reason, in_hand) = (REASON.as_str(), issue_in_hand("i"));
    format!(
        "SELECT i.id AS issue, {reason} AS reason, \
            (SELECT s.reason FROM stuck_issues s WHERE s.issue_id = i.id) AS noted \
        FROM {CONCERNED} AND i.company_id = $3 AND i.id > $4 AND {in_hand} \
        ORDER BY i.id LIMIT $5"
    )
});

static WRONGLY: LazyLock<String> = LazyLock::new(|| {
    let in_hand = issue_in_hand("i");
    format!(
        "SELECT s.issue_id AS issue, CAST(NULL AS TEXT) AS reason, s.reason AS noted \
        FROM stuck_issues s CROSS JOIN issues i \
        WHERE s.company_id = $1 AND i.company_id = s.company_id AND i.id = s.issue_id \
        AND NOT ({in_hand}) ORDER BY s.since, s.issue_id LIMIT $2"
    )
});

static COUNTS: LazyLock<String> = LazyLock::new(|| {
    let open = open_issue("i");
    format!(
        "SELECT s.reason AS reason, COUNT(*) AS count \
        FROM stuck_issues s CROSS JOIN issues i \
        WHERE s.company_id = $1 AND i.company_id = s.company_id AND i.id = s.issue_id \
        AND i.hidden_at IS NULL AND {open} GROUP BY s.reason ORDER BY s.reason"
    )
});

/// `$1` is the present.
const CHANGE_COUNTS: &str = "SELECT n.company_id AS company, \
    n.event_sequence + (SELECT COUNT(*) FROM issue_leases l \
        WHERE l.company_id = n.company_id AND l.run_id IS NULL AND l.expires_at <= $1) AS count \
    FROM company_counters n ORDER BY n.company_id";

#[derive(QueryableByName)]
struct Changes {
    #[diesel(sql_type = Key)]
    company: IdColumn<CompanyId>,
    #[diesel(sql_type = BigInt)]
    count: i64,
}

#[derive(QueryableByName)]
struct Looked {
    #[diesel(sql_type = Key)]
    issue: IdColumn<IssueId>,
    #[diesel(sql_type = Nullable<Text>)]
    reason: Option<StringEnumColumn<StuckReason>>,
    #[diesel(sql_type = Nullable<Text>)]
    noted: Option<StringEnumColumn<StuckReason>>,
}

#[derive(QueryableByName)]
struct Counted {
    #[diesel(sql_type = Text)]
    reason: StringEnumColumn<StuckReason>,
    #[diesel(sql_type = BigInt)]
    count: i64,
}

#[derive(Queryable)]
pub(super) struct StuckRow {
    issue: IdColumn<IssueId>,
    identifier: String,
    title: String,
    reason: StringEnumColumn<StuckReason>,
    since: InstantColumn,
}

impl Row for StuckRow {
    type Record = StuckIssue;

    fn weight(&self) -> usize {
        self.title.len()
    }

    fn restore(self) -> Result<StuckIssue, Corrupt> {
        Ok(StuckIssue {
            issue: self.issue.0,
            identifier: self.identifier,
            title: admit("issue", self.title)?,
            reason: self.reason.0,
            since: self.since.0,
        })
    }
}

pub(super) fn why(
    conn: &mut Connection,
    company: CompanyScope,
    issue: IssueId,
    now: Timestamp,
) -> Result<Option<StuckReason>, StoreError> {
    let looked: Option<Looked> = cached(
        sql_query(OF_ONE.as_str())
            .bind::<Instant, _>(InstantColumn(now))
            .bind::<Integer, _>(Month::of(now).number())
            .bind::<Key, _>(IdColumn::<CompanyId>(company.company()))
            .bind::<Key, _>(IdColumn(issue)),
    )
    .get_result(conn)
    .optional()
    .map_err(failed)?;
    Ok(looked
        .and_then(|looked| looked.reason)
        .map(|reason| reason.0))
}

pub(super) fn change_counts(
    conn: &mut Connection,
    scope: InstanceScope,
    now: Timestamp,
) -> Result<Vec<(CompanyScope, i64)>, StoreError> {
    let changes: Vec<Changes> = sql_query(CHANGE_COUNTS)
        .bind::<Instant, _>(InstantColumn(now))
        .load(conn)
        .map_err(failed)?;
    let counted = changes.into_iter();
    Ok(counted
        .map(|it| (scope.enter(it.company.0), it.count))
        .collect())
}

pub(super) fn changes(
    conn: &mut Connection,
    company: CompanyScope,
    now: Timestamp,
    after: Option<IssueId>,
    limit: usize,
) -> Result<StuckChanges, StoreError> {
    let after = after.unwrap_or_else(|| uuid::Uuid::nil().into());
    let looked: Vec<Looked> = sql_query(OF_COMPANY.as_str())
        .bind::<Instant, _>(InstantColumn(now))
        .bind::<Integer, _>(Month::of(now).number())
        .bind::<Key, _>(IdColumn::<CompanyId>(company.company()))
        .bind::<Key, _>(IdColumn(after))
        .bind::<BigInt, _>(row_limit(limit))
        .load(conn)
        .map_err(failed)?;
    let next = looked.last().map(|last| last.issue.0);
    let is_wrong = |row: &&Looked| row.reason.map(|it| it.0) != row.noted.map(|it| it.0);
    Ok(StuckChanges {
        issues: looked
            .iter()
            .filter(is_wrong)
            .map(|row| row.issue.0)
            .collect(),
        next: next.filter(|_| looked.len() >= limit),
    })
}

pub(super) fn wrongly(
    conn: &mut Connection,
    company: CompanyScope,
    limit: usize,
) -> Result<Vec<IssueId>, StoreError> {
    let looked: Vec<Looked> = sql_query(WRONGLY.as_str())
        .bind::<Key, _>(IdColumn::<CompanyId>(company.company()))
        .bind::<BigInt, _>(row_limit(limit))
        .load(conn)
        .map_err(failed)?;
    Ok(looked.into_iter().map(|row| row.issue.0).collect())
}

pub(super) fn counts(
    conn: &mut Connection,
    company: CompanyScope,
) -> Result<Vec<(StuckReason, i64)>, StoreError> {
    let counted: Vec<Counted> =
        cached(sql_query(COUNTS.as_str()).bind::<Key, _>(IdColumn::<CompanyId>(company.company())))
            .load(conn)
            .map_err(failed)?;
    Ok(counted
        .into_iter()
        .map(|it| (it.reason.0, it.count))
        .collect())
}

pub(super) fn list(
    conn: &mut Connection,
    company: CompanyScope,
    page: &PageRequest<StuckCursor>,
) -> Result<Page<StuckIssue, StuckCursor>, StoreError> {
    let mut query = stuck_issues::table
        .inner_join(issues::table)
        .filter(stuck_issues::company_id.eq(IdColumn(company.company())))
        .filter(issues::hidden_at.is_null())
        .order((stuck_issues::since, stuck_issues::issue_id))
        .select((
            stuck_issues::issue_id,
            issues::identifier,
            issues::title,
            stuck_issues::reason,
            stuck_issues::since,
        ))
        .limit(fetch_limit(page))
        .into_boxed();
    if let Some(key) = page.after {
        let at = InstantColumn(Timestamp::from_micros(key.at));
        query = query.filter(stuck_issues::since.ge(at)).filter(
            stuck_issues::since
                .gt(at)
                .or(stuck_issues::issue_id.gt(IdColumn(key.id))),
        );
    }
    let rows = query
        .load_iter::<StuckRow, LoadingMode>(conn)
        .map_err(failed)?;
    page_of(rows, page, |stuck| CreationKey {
        at: stuck.since.micros(),
        id: stuck.issue,
    })
}

pub(super) fn note(
    conn: &mut Connection,
    issue: &Locked<Issue>,
    reason: Option<StuckReason>,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let noted: Option<StringEnumColumn<StuckReason>> = stuck_issues::table
        .filter(stuck_issues::issue_id.eq(IdColumn(issue.id)))
        .select(stuck_issues::reason)
        .first(conn)
        .optional()
        .map_err(failed)?;
    if noted.map(|noted| noted.0) == reason {
        return Ok(false);
    }
    diesel::delete(stuck_issues::table)
        .filter(stuck_issues::company_id.eq(IdColumn(issue.company)))
        .filter(stuck_issues::issue_id.eq(IdColumn(issue.id)))
        .execute(conn)
        .map_err(failed)?;
    if let Some(reason) = reason {
        diesel::insert_into(stuck_issues::table)
            .values((
                stuck_issues::issue_id.eq(IdColumn(issue.id)),
                stuck_issues::company_id.eq(IdColumn(issue.company)),
                stuck_issues::reason.eq(StringEnumColumn(reason)),
                stuck_issues::since.eq(InstantColumn(now)),
            ))
            .execute(conn)
            .map_err(failed)?;
    }
    Ok(true)
}
