//! Issues that wait for a person.

use std::sync::LazyLock;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::BigInt;
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::IssueId;
use workforce_domain::issue::IssueStatus;
use workforce_domain::port::StoreError;

use super::super::Connection;
use super::page::row_limit;
use super::predicates::{ISSUE_STATUS, awaits_review_of_board, waiting_approval};
use crate::store::cached::cached;
use crate::store::columns::{IdColumn, Key};
use crate::store::errors::failed;

/// An issue that no agent is to review, and of which no approval tells.
pub(super) fn to_review_by_board(issue: &str) -> String {
    let (of_board, waiting) = (awaits_review_of_board(issue), waiting_approval("v"));
    format!(
        "{issue}.hidden_at IS NULL AND {of_board} AND NOT EXISTS (\
            SELECT 1 FROM approval_issues k CROSS JOIN approvals v \
            WHERE k.company_id = {issue}.company_id AND k.issue_id = {issue}.id \
            AND v.company_id = k.company_id AND v.id = k.approval_id AND {waiting})"
    )
}

/// An issue that is assigned to somebody of the board, and not parked or ended.
pub(super) fn to_do_by_board(issue: &str) -> String {
    let statuses = [
        IssueStatus::Todo,
        IssueStatus::InProgress,
        IssueStatus::Blocked,
    ];
    let to_do = ISSUE_STATUS.is_among(issue, &statuses);
    format!("{issue}.assignee_user_id IS NOT NULL AND {to_do} AND {issue}.hidden_at IS NULL")
}

/// `$1` is the company, `$2` the limit. No issue is of both kinds: one is in review, the other not.
static AWAITING: LazyLock<String> = LazyLock::new(|| {
    let (to_review, to_do) = (to_review_by_board("i"), to_do_by_board("i"));
    format!(
        "SELECT i.id AS id FROM issues i WHERE i.company_id = $1 AND {to_review} \
        UNION ALL \
        SELECT i.id AS id FROM issues i WHERE i.company_id = $1 AND {to_do} LIMIT $2"
    )
});

#[derive(QueryableByName)]
struct Awaiting {
    #[diesel(sql_type = Key)]
    id: IdColumn<IssueId>,
}

/// Issues that wait for a person, in no particular order.
pub(super) fn awaiting(
    conn: &mut Connection,
    company: CompanyScope,
    limit: usize,
) -> Result<Vec<IssueId>, StoreError> {
    let query = sql_query(AWAITING.as_str())
        .bind::<Key, _>(IdColumn(company.company()))
        .bind::<BigInt, _>(row_limit(limit));
    let rows: Vec<Awaiting> = cached(query).load(conn).map_err(failed)?;
    Ok(rows.into_iter().map(|row| row.id.0).collect())
}
