//! How many issues there are of each project and of each goal.

use std::sync::LazyLock;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::BigInt;
use workforce_domain::actor::CompanyScope;
use workforce_domain::dashboard::IssueTally;
use workforce_domain::id::{GoalId, ProjectId};
use workforce_domain::issue::IssueStatus;
use workforce_domain::port::StoreError;

use super::super::Connection;
use super::page::MAX_WHOLE;
use super::predicates::{ISSUE_STATUS, open_issue};
use crate::store::cached::cached;
use crate::store::columns::{IdColumn, Key};
use crate::store::errors::failed;

/// A statement that counts the issues of each place that `column` names. The casts are for
/// PostgreSQL, where a sum of whole numbers is a decimal one.
fn counts(column: &str) -> String {
    let open = open_issue("i");
    let done = ISSUE_STATUS.is("i", IssueStatus::Done);
    let cancelled = ISSUE_STATUS.is("i", IssueStatus::Cancelled);
    let sum = |case: &str| format!("CAST(SUM(CASE WHEN {case} THEN 1 ELSE 0 END) AS BIGINT)");
    format!(
        "SELECT i.{column} AS id, {} AS open, {} AS done, {} AS cancelled FROM issues i \
        WHERE i.company_id = $1 AND i.{column} IS NOT NULL AND i.hidden_at IS NULL \
        GROUP BY i.{column} ORDER BY i.{column} LIMIT $2",
        sum(&open),
        sum(&done),
        sum(&cancelled),
    )
}

static BY_PROJECT: LazyLock<String> = LazyLock::new(|| counts("project_id"));
static BY_GOAL: LazyLock<String> = LazyLock::new(|| counts("goal_id"));

#[derive(QueryableByName)]
struct Tally {
    #[diesel(sql_type = BigInt)]
    open: i64,
    #[diesel(sql_type = BigInt)]
    done: i64,
    #[diesel(sql_type = BigInt)]
    cancelled: i64,
}

impl From<Tally> for IssueTally {
    fn from(tally: Tally) -> Self {
        Self {
            open: tally.open,
            done: tally.done,
            cancelled: tally.cancelled,
        }
    }
}

#[derive(QueryableByName)]
struct OfProject {
    #[diesel(sql_type = Key)]
    id: IdColumn<ProjectId>,
    #[diesel(embed)]
    tally: Tally,
}

#[derive(QueryableByName)]
struct OfGoal {
    #[diesel(sql_type = Key)]
    id: IdColumn<GoalId>,
    #[diesel(embed)]
    tally: Tally,
}

pub(super) fn by_project(
    conn: &mut Connection,
    company: CompanyScope,
) -> Result<Vec<(ProjectId, IssueTally)>, StoreError> {
    let query = sql_query(BY_PROJECT.as_str())
        .bind::<Key, _>(IdColumn(company.company()))
        .bind::<BigInt, _>(MAX_WHOLE);
    let rows: Vec<OfProject> = cached(query).load(conn).map_err(failed)?;
    Ok(rows
        .into_iter()
        .map(|row| (row.id.0, row.tally.into()))
        .collect())
}

pub(super) fn by_goal(
    conn: &mut Connection,
    company: CompanyScope,
) -> Result<Vec<(GoalId, IssueTally)>, StoreError> {
    let query = sql_query(BY_GOAL.as_str())
        .bind::<Key, _>(IdColumn(company.company()))
        .bind::<BigInt, _>(MAX_WHOLE);
    let rows: Vec<OfGoal> = cached(query).load(conn).map_err(failed)?;
    Ok(rows
        .into_iter()
        .map(|row| (row.id.0, row.tally.into()))
        .collect())
}
