//! A page of issues that are known by id: those that a search found, or those
//! that have a label.
//!
//! They are put in order here, by keys that are read for all of them; whole
//! rows are read for the page alone.

use std::collections::HashMap;

use diesel::prelude::*;
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::IssueId;
use workforce_domain::issue::Issue;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{FoundKey, IssueFilter, StoreError};

use super::super::Connection;
use super::issue_filter::narrowed;
use super::issue_row::IssueRow;
use super::page::page_limit;
use super::row::Row;
use crate::store::columns::{IdColumn, InstantColumn, WordColumn};
use crate::store::errors::failed;
use crate::store::schema::{issue_labels, issues};

/// Ids in one statement; below the limits of both databases on bound values.
const AT_ONCE: usize = 1000;
/// Rows that are read at a time, since a page may end early by their weight.
const ROWS_AT_ONCE: usize = 100;

/// Issues with where they were found.
pub(super) type Matches = HashMap<IssueId, i16>;

type Place = (i16, i16, core::cmp::Reverse<i64>, IssueId);

const fn place(key: &FoundKey) -> Place {
    (
        key.found,
        key.rank,
        core::cmp::Reverse(key.updated_at),
        key.id,
    )
}

/// The page of `matches` that the filter lets through.
pub(super) fn page(
    conn: &mut Connection,
    company: CompanyScope,
    filter: &IssueFilter,
    matches: &Matches,
    request: &PageRequest<FoundKey>,
) -> Result<Page<Issue, FoundKey>, StoreError> {
    let mut keys = keys(conn, company, filter, matches)?;
    if let Some(after) = &request.after {
        keys.retain(|key| place(key) > place(after));
    }
    keys.sort_unstable_by_key(place);
    let limit = page_limit(request);
    let mut items = Vec::new();
    let mut weight = 0_usize;
    for chunk in keys[..limit.min(keys.len())].chunks(ROWS_AT_ONCE) {
        let mut rows = rows(conn, company, chunk)?;
        for key in chunk {
            if weight > request.max_bytes {
                break;
            }
            if let Some(row) = rows.remove(&key.id) {
                weight = weight.saturating_add(row.weight());
                items.push(row.restore()?);
            }
        }
        if weight > request.max_bytes {
            break;
        }
    }
    let next = if items.len() < keys.len() {
        items.len().checked_sub(1).map(|last| keys[last])
    } else {
        None
    };
    Ok(Page { items, next })
}

fn keys(
    conn: &mut Connection,
    company: CompanyScope,
    filter: &IssueFilter,
    matches: &Matches,
) -> Result<Vec<FoundKey>, StoreError> {
    let ids: Vec<IssueId> = matches.keys().copied().collect();
    let mut keys = Vec::with_capacity(ids.len());
    for ids in ids.chunks(AT_ONCE) {
        let ids: Vec<_> = ids.iter().copied().map(IdColumn).collect();
        let mut query = issues::table
            .filter(issues::company_id.eq(IdColumn(company.company())))
            .filter(issues::id.eq_any(ids))
            .filter(issues::hidden_at.is_null())
            .select((issues::id, issues::priority, issues::updated_at))
            .into_boxed();
        if !filter.statuses.is_empty() {
            let statuses: Vec<_> = filter.statuses.iter().copied().map(WordColumn).collect();
            query = query.filter(issues::status.eq_any(statuses));
        }
        if !filter.priorities.is_empty() {
            let ranks: Vec<i16> = filter.priorities.iter().map(|it| it.rank()).collect();
            query = query.filter(issues::priority.eq_any(ranks));
        }
        let rows: Vec<(IdColumn<IssueId>, i16, InstantColumn)> = narrowed!(query, company, filter)
            .load(conn)
            .map_err(failed)?;
        keys.extend(rows.into_iter().filter_map(|(id, rank, updated_at)| {
            Some(FoundKey {
                found: *matches.get(&id.0)?,
                rank,
                updated_at: updated_at.0.micros(),
                id: id.0,
            })
        }));
    }
    Ok(keys)
}

fn rows(
    conn: &mut Connection,
    company: CompanyScope,
    keys: &[FoundKey],
) -> Result<HashMap<IssueId, IssueRow>, StoreError> {
    let ids: Vec<_> = keys.iter().map(|key| IdColumn(key.id)).collect();
    let rows: Vec<IssueRow> = issues::table
        .filter(issues::company_id.eq(IdColumn(company.company())))
        .filter(issues::id.eq_any(ids))
        .select(IssueRow::as_select())
        .load(conn)
        .map_err(failed)?;
    Ok(rows.into_iter().map(|row| (row.id.0, row)).collect())
}
