//! Which open issues nothing moves by itself, and why (docs/issues.md#stuck-issues).

use std::sync::LazyLock;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use workforce_domain::actor::{CompanyScope, InstanceScope};
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{CompanyId, IssueId};
use workforce_domain::issue::{Issue, StuckIssue, StuckReason};
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{Locked, StoreError, StuckChanges, StuckCursor};
use workforce_domain::time::{Month, Timestamp};

use super::super::{Connection, LoadingMode};
use super::page::{fetch_limit, page_of, row_limit};
use super::predicates::{issue_in_hand, open_issue};
use super::row::{Row, admit};
use super::stuck_reason::{CONCERNED, REASON};
use crate::store::cached::cached;
use crate::store::columns::{IdColumn, Instant, InstantColumn, Key, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{issues, stuck_issues};

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
