//! The page of issues whose keys are known: whole rows are read for the page
//! alone.

use std::collections::HashMap;

use diesel::prelude::*;
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::IssueId;
use workforce_domain::issue::Issue;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{SearchCursor, StoreError};

use super::super::Connection;
use super::issue_row::IssueRow;
use super::page::page_limit;
use super::row::Row;
use crate::store::columns::IdColumn;
use crate::store::errors::failed;
use crate::store::schema::issues;

/// Rows that are read at a time, since a page may end early by their weight.
const ROWS_AT_ONCE: usize = 100;

/// The page that begins with the issues of these keys, which may be one more
/// than it has room for.
pub(super) fn page_of_keys(
    conn: &mut Connection,
    company: CompanyScope,
    found: &[SearchCursor],
    request: &PageRequest<SearchCursor>,
) -> Result<Page<Issue, SearchCursor>, StoreError> {
    let mut items = Vec::new();
    let mut weight = 0_usize;
    for chunk in found[..page_limit(request).min(found.len())].chunks(ROWS_AT_ONCE) {
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
    let next = if items.len() < found.len() {
        items.len().checked_sub(1).map(|last| found[last])
    } else {
        None
    };
    Ok(Page { items, next })
}

fn rows(
    conn: &mut Connection,
    company: CompanyScope,
    keys: &[SearchCursor],
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
