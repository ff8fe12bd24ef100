//! The tree of issues: what stands above an issue, what below it, and what governs it.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Bool, Integer, Nullable};
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::{IssueId, ProjectId};
use workforce_domain::issue::{Governance, Issue};
use workforce_domain::port::StoreError;

use super::super::Connection;
use super::issue_row::IssueRow;
use super::predicates::{approved_plan, governed_project, undecided_plan};
use super::row::all;
use crate::store::cached::{cached, cached_here};
use crate::store::columns::{IdColumn, Key};
use crate::store::errors::failed;

/// How far a chain of parents is followed.
pub(super) const MAX_ANCESTORS: i32 = 50;

#[derive(QueryableByName)]
struct Depth {
    #[diesel(sql_type = BigInt)]
    depth: i64,
}

#[derive(QueryableByName)]
struct Below {
    #[diesel(sql_type = Key)]
    id: IdColumn<IssueId>,
}

/// What an issue of a chain has that governs it.
#[derive(QueryableByName)]
struct Governing {
    #[diesel(sql_type = Bool)]
    has_worktree: bool,
    #[diesel(sql_type = Bool)]
    has_approved_plan: bool,
    #[diesel(sql_type = Bool)]
    has_undecided_plan: bool,
    #[diesel(sql_type = Nullable<Key>)]
    demanded_by: Option<IdColumn<ProjectId>>,
}

/// The chain of parents, nearest first; it ends by itself even in a cycle.
pub(super) fn ancestors(
    conn: &mut Connection,
    company: CompanyScope,
    issue: IssueId,
) -> Result<Vec<Issue>, StoreError> {
    // Columns are named, since a migration may add others while the statement is prepared.
    let chain = sql_query(
        "WITH RECURSIVE chain (id, depth) AS (
            SELECT parent_id, 1 FROM issues WHERE company_id = $1 AND id = $2
            UNION ALL
            SELECT i.parent_id, chain.depth + 1
            FROM chain CROSS JOIN issues i
            WHERE i.company_id = $1 AND i.id = chain.id AND chain.depth < $3
        )
        SELECT i.id, i.company_id, i.number, i.identifier, i.project_id, i.goal_id,
            i.parent_id, i.title, i.description, i.status, i.priority,
            i.assignee_agent_id, i.assignee_user_id, i.created_by_agent_id,
            i.created_by_user_id, i.billing_code, i.ticket_key, i.request_depth,
            i.delegation, i.assignee_adapter_overrides, i.execution_workspace_id,
            i.workflow_epoch, i.started_at, i.last_started_at, i.completed_at,
            i.cancelled_at, i.hidden_at, i.created_at, i.updated_at, i.created_by_board,
            i.implementer_agent_id
        FROM chain CROSS JOIN issues i
        WHERE i.company_id = $1 AND i.id = chain.id
        ORDER BY chain.depth",
    )
    .bind::<Key, _>(IdColumn(company.company()))
    .bind::<Key, _>(IdColumn(issue))
    .bind::<Integer, _>(MAX_ANCESTORS);
    let rows: Vec<IssueRow> = cached_here!(chain).load(conn).map_err(failed)?;
    let mut seen = BTreeSet::from([issue]);
    // An issue that comes up twice closes a cycle.
    all(rows
        .into_iter()
        .take_while(|row| seen.insert(row.id.0))
        .collect())
}

/// How many levels lie below an issue, counted no further than issues nest.
pub(super) fn depth_below(
    conn: &mut Connection,
    company: CompanyScope,
    issue: IssueId,
) -> Result<usize, StoreError> {
    let below = sql_query(
        "WITH RECURSIVE below (id, depth) AS (
            SELECT id, 0 FROM issues WHERE company_id = $1 AND id = $2
            UNION
            SELECT i.id, below.depth + 1
            FROM below CROSS JOIN issues i
            WHERE i.company_id = $1 AND i.parent_id = below.id AND below.depth < $3
        )
        SELECT CAST(COALESCE(MAX(depth), 0) AS BIGINT) AS depth FROM below",
    )
    .bind::<Key, _>(IdColumn(company.company()))
    .bind::<Key, _>(IdColumn(issue))
    .bind::<Integer, _>(i32::try_from(Issue::MAX_DEPTH).unwrap_or(i32::MAX));
    let deepest: Depth = cached(below).get_result(conn).map_err(failed)?;
    Ok(usize::try_from(deepest.depth).unwrap_or(0))
}

/// Every issue below one, down to where issues nest no deeper.
pub(super) fn below(
    conn: &mut Connection,
    company: CompanyScope,
    issue: IssueId,
) -> Result<Vec<IdColumn<IssueId>>, StoreError> {
    let below = sql_query(
        "WITH RECURSIVE below (id, depth) AS (
            SELECT id, 1 FROM issues WHERE company_id = $1 AND parent_id = $2
            UNION
            SELECT i.id, below.depth + 1
            FROM below CROSS JOIN issues i
            WHERE i.company_id = $1 AND i.parent_id = below.id AND below.depth < $3
        )
        SELECT id FROM below",
    )
    .bind::<Key, _>(IdColumn(company.company()))
    .bind::<Key, _>(IdColumn(issue))
    .bind::<Integer, _>(i32::try_from(Issue::MAX_DEPTH).unwrap_or(i32::MAX));
    let below: Vec<Below> = cached(below).load(conn).map_err(failed)?;
    Ok(below.into_iter().map(|it| it.id).collect())
}

/// An issue and those above it, nearest first, each with what governs it.
static GOVERNING: LazyLock<String> = LazyLock::new(|| {
    let [approved, undecided] = [approved_plan("a"), undecided_plan("a")].map(|plan| {
        format!(
            "EXISTS (SELECT 1 FROM approval_issues l CROSS JOIN approvals a
                WHERE l.company_id = $1 AND l.issue_id = i.id
                    AND a.company_id = $1 AND a.id = l.approval_id AND {plan})"
        )
    });
    let demands = governed_project("p");
    format!(
        "WITH RECURSIVE chain (id, depth) AS (
            SELECT id, 0 FROM issues WHERE company_id = $1 AND id = $2
            UNION
            SELECT i.parent_id, chain.depth + 1
            FROM chain CROSS JOIN issues i
            WHERE i.company_id = $1 AND i.id = chain.id
                AND i.parent_id IS NOT NULL AND chain.depth < $3
        )
        SELECT i.execution_workspace_id IS NOT NULL AS has_worktree,
            {approved} AS has_approved_plan,
            {undecided} AS has_undecided_plan,
            (SELECT p.id FROM projects p
                WHERE p.company_id = $1 AND p.id = i.project_id AND {demands}) AS demanded_by
        FROM chain CROSS JOIN issues i
        WHERE i.company_id = $1 AND i.id = chain.id
        ORDER BY chain.depth"
    )
});

/// What governs an issue, of its own or from above it.
pub(super) fn governance(
    conn: &mut Connection,
    company: CompanyScope,
    issue: IssueId,
) -> Result<Governance, StoreError> {
    let chain = sql_query(GOVERNING.as_str())
        .bind::<Key, _>(IdColumn(company.company()))
        .bind::<Key, _>(IdColumn(issue))
        .bind::<Integer, _>(MAX_ANCESTORS);
    let chain: Vec<Governing> = cached(chain).load(conn).map_err(failed)?;
    let nothing = Governance::default();
    Ok(chain.into_iter().fold(nothing, |found, it| Governance {
        governed: found.governed
            || it.has_worktree
            || it.has_approved_plan
            || it.has_undecided_plan
            || it.demanded_by.is_some(),
        has_approved_plan: found.has_approved_plan || it.has_approved_plan,
        demanded_by: found.demanded_by.or(it.demanded_by.map(|id| id.0)),
    }))
}
