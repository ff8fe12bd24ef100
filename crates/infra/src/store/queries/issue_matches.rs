//! A page of issues that another table leads to: those that a search found, or
//! those that have a label.
//!
//! The database gathers their keys and sorts them; whole rows are read for the
//! page alone.

use std::collections::HashMap;

use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, SmallInt, Text};
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::{CompanyId, IssueId, LabelId};
use workforce_domain::issue::Issue;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{FoundIn, IssueFilter, SearchCursor, StoreError};
use workforce_domain::time::Timestamp;

use super::super::Connection;
use super::issue_filter::narrowed;
use super::issue_row::IssueRow;
use super::page::{fetch_limit, page_limit};
use super::row::Row;
use super::text_index::Texts;
use crate::store::columns::{IdColumn, Instant, InstantColumn, Key, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{issue_labels, issues};

/// Rows that are read at a time, since a page may end early by their weight.
const ROWS_AT_ONCE: usize = 100;

type Backend = <Connection as diesel::Connection>::Backend;

/// Issues of a company that match, with the place where they do.
pub(super) enum Matches {
    /// The one with this identifier.
    Identifier(IdColumn<CompanyId>, String),
    /// Those that have one of these texts.
    Texts(FoundIn, Texts),
    /// Those that have one of these texts, be it their own or a comment.
    AnyTexts(Texts),
    /// Those that have a text of each of these.
    Apart(Vec<Texts>),
    /// Those with one of these labels, all in one place.
    Labels(IdColumn<CompanyId>, Vec<IdColumn<LabelId>>),
}

impl Matches {
    /// The last of the places where these may be found.
    const fn last(&self) -> FoundIn {
        match self {
            Self::Identifier(..) | Self::Labels(..) => FoundIn::Identifier,
            Self::Texts(place, _) => *place,
            Self::AnyTexts(_) => FoundIn::Comments,
            Self::Apart(_) => FoundIn::Apart,
        }
    }
}

/// Statements with columns `issue_id` and `found`.
impl QueryFragment<Backend> for Matches {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Backend>) -> QueryResult<()> {
        let column = |out: &mut AstPass<'_, 'b, Backend>, place: FoundIn| {
            out.push_sql("SELECT issue_id, ");
            push_place(out, place);
            out.push_sql(" AS found FROM ");
        };
        match self {
            Self::Identifier(company, identifier) => {
                out.push_sql("SELECT id AS issue_id, ");
                push_place(&mut out, FoundIn::Identifier);
                out.push_sql(" AS found FROM issues WHERE company_id = ");
                out.push_bind_param::<Key, _>(company)?;
                out.push_sql(" AND identifier = ");
                out.push_bind_param::<Text, _>(identifier)
            }
            Self::Texts(place, texts) => {
                column(&mut out, *place);
                texts.walk_ast(out.reborrow())?;
                out.push_sql(" latest");
                Ok(())
            }
            Self::AnyTexts(texts) => {
                out.push_sql("SELECT issue_id, CASE WHEN own THEN ");
                push_place(&mut out, FoundIn::OwnText);
                out.push_sql(" ELSE ");
                push_place(&mut out, FoundIn::Comments);
                out.push_sql(" END AS found FROM ");
                texts.walk_ast(out.reborrow())?;
                out.push_sql(" latest");
                Ok(())
            }
            Self::Apart(words) => {
                column(&mut out, FoundIn::Apart);
                out.push_sql("(");
                for (before, texts) in words.iter().enumerate() {
                    out.push_sql(if before == 0 { "" } else { " INTERSECT " });
                    out.push_sql("SELECT issue_id FROM ");
                    texts.walk_ast(out.reborrow())?;
                    out.push_sql(" latest");
                }
                out.push_sql(") matched");
                Ok(())
            }
            Self::Labels(company, labels) => {
                column(&mut out, FoundIn::Identifier);
                out.push_sql("issue_labels WHERE company_id = ");
                out.push_bind_param::<Key, _>(company)?;
                for (before, label) in labels.iter().enumerate() {
                    out.push_sql(if before == 0 {
                        " AND label_id IN ("
                    } else {
                        ", "
                    });
                    out.push_bind_param::<Key, _>(label)?;
                }
                out.push_sql(")");
                Ok(())
            }
        }
    }
}

fn push_place(out: &mut AstPass<'_, '_, Backend>, place: FoundIn) {
    out.push_sql(&format!("CAST({} AS SMALLINT)", place as i16));
}

/// The keys of issues that match and that a filter lets through, in order.
struct Ranked<'a> {
    matches: &'a [Matches],
    /// What the filter lets through: id, priority and latest change.
    let_through: issues::BoxedQuery<'a, Backend, (Key, SmallInt, Instant)>,
    after: Option<After>,
    limit: i64,
}

/// A place in the list, as columns.
struct After {
    found: i16,
    rank: i16,
    updated_at: InstantColumn,
    id: IdColumn<IssueId>,
}

impl Query for Ranked<'_> {
    type SqlType = (Key, SmallInt, SmallInt, Instant);
}

impl RunQueryDsl<Connection> for Ranked<'_> {}

impl QueryId for Ranked<'_> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl QueryFragment<Backend> for Ranked<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Backend>) -> QueryResult<()> {
        // There are too many shapes of it to keep each prepared on every connection.
        out.unsafe_to_cache_prepared();
        out.push_sql(
            "SELECT i.id, ranked.found, i.priority, i.updated_at \
             FROM (SELECT issue_id, MIN(found) AS found FROM (",
        );
        for (before, matches) in self.matches.iter().enumerate() {
            out.push_sql(if before == 0 { "" } else { " UNION ALL " });
            matches.walk_ast(out.reborrow())?;
        }
        // The order of a CROSS JOIN is kept: what was found goes first.
        out.push_sql(") matched GROUP BY issue_id) ranked CROSS JOIN (");
        QueryFragment::<Backend>::walk_ast(&self.let_through, out.reborrow())?;
        out.push_sql(") i WHERE i.id = ranked.issue_id");
        if let Some(after) = &self.after {
            out.push_sql(" AND (ranked.found > ");
            out.push_bind_param::<SmallInt, _>(&after.found)?;
            out.push_sql(" OR ranked.found = ");
            out.push_bind_param::<SmallInt, _>(&after.found)?;
            out.push_sql(" AND (i.priority > ");
            out.push_bind_param::<SmallInt, _>(&after.rank)?;
            out.push_sql(" OR i.priority = ");
            out.push_bind_param::<SmallInt, _>(&after.rank)?;
            out.push_sql(" AND (i.updated_at < ");
            out.push_bind_param::<Instant, _>(&after.updated_at)?;
            out.push_sql(" OR i.updated_at = ");
            out.push_bind_param::<Instant, _>(&after.updated_at)?;
            out.push_sql(" AND i.id > ");
            out.push_bind_param::<Key, _>(&after.id)?;
            out.push_sql(")))");
        }
        out.push_sql(" ORDER BY ranked.found, i.priority, i.updated_at DESC, i.id LIMIT ");
        out.push_bind_param::<BigInt, _>(&self.limit)
    }
}

/// The page of `matches` that the filter lets through, the better places first.
/// The later places are looked up only when the better ones do not fill the
/// page.
pub(super) fn page(
    conn: &mut Connection,
    company: CompanyScope,
    filter: &IssueFilter,
    matches: &[Matches],
    request: &PageRequest<SearchCursor>,
) -> Result<Page<Issue, SearchCursor>, StoreError> {
    let mut found = Vec::new();
    for (index, last) in matches.iter().map(Matches::last).enumerate() {
        if request.after.is_some_and(|after| after.found > last as i16) {
            continue;
        }
        found = keys(conn, company, filter, &matches[..=index], request)?;
        if found.len() > page_limit(request) {
            break;
        }
    }
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

/// The keys of a page and of one issue after it.
fn keys(
    conn: &mut Connection,
    company: CompanyScope,
    filter: &IssueFilter,
    matches: &[Matches],
    request: &PageRequest<SearchCursor>,
) -> Result<Vec<SearchCursor>, StoreError> {
    let mut let_through = issues::table
        .filter(issues::company_id.eq(IdColumn(company.company())))
        .filter(issues::hidden_at.is_null())
        .select((issues::id, issues::priority, issues::updated_at))
        .into_boxed();
    if !filter.statuses.is_empty() {
        let statuses: Vec<_> = filter
            .statuses
            .iter()
            .copied()
            .map(StringEnumColumn)
            .collect();
        let_through = let_through.filter(issues::status.eq_any(statuses));
    }
    if !filter.priorities.is_empty() {
        let ranks: Vec<i16> = filter.priorities.iter().map(|it| it.rank()).collect();
        let_through = let_through.filter(issues::priority.eq_any(ranks));
    }
    let ranked = Ranked {
        matches,
        let_through: narrowed!(let_through, company, filter),
        after: request.after.map(|key| After {
            found: key.found,
            rank: key.rank,
            updated_at: InstantColumn(Timestamp::from_micros(key.updated_at)),
            id: IdColumn(key.id),
        }),
        limit: fetch_limit(request),
    };
    let rows: Vec<(IdColumn<IssueId>, i16, i16, InstantColumn)> =
        ranked.load(conn).map_err(failed)?;
    let keys = rows
        .into_iter()
        .map(|(id, found, rank, updated_at)| SearchCursor {
            found,
            rank,
            updated_at: updated_at.0.micros(),
            id: id.0,
        });
    Ok(keys.collect())
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
