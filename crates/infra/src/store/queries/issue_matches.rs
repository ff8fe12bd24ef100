//! Issues that another table leads to: those that the index of words has, or
//! those that have a label. The database gathers their keys and sorts them.

use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, SmallInt, Text};
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::{CompanyId, IssueId, LabelId};
use workforce_domain::port::{FoundIn, IssueCursor, IssueFilter, SearchCursor, StoreError};
use workforce_domain::time::Timestamp;

use super::super::Connection;
use super::issue_filter::narrowed;
use super::page::{Backend, row_limit};
use super::text_index::Texts;
use crate::store::columns::{IdColumn, Instant, InstantColumn, Key, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{issue_labels, issues};

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
    /// The place whose issues stand in the list so often, if the words are common,
    /// that a walk along it finds them.
    pub(super) const fn walked(&self) -> Option<FoundIn> {
        match self {
            Self::Texts(place, _) => Some(*place),
            Self::AnyTexts(_) => Some(FoundIn::OwnText),
            Self::Identifier(..) | Self::Apart(_) | Self::Labels(..) => None,
        }
    }

    /// The last of the places where these may be found.
    pub(super) const fn last(&self) -> FoundIn {
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
    found: i16,
    after: Option<After>,
    limit: i64,
}

/// From where on matches are looked up.
#[derive(Clone, Copy)]
pub(super) struct Position {
    /// The rank of a place.
    pub(super) found: i16,
    /// The row of that place after which they come; its first row when `None`.
    pub(super) after: Option<IssueCursor>,
}

impl Position {
    /// From the first of all on.
    pub(super) const START: Self = Self {
        found: FoundIn::Identifier as i16,
        after: None,
    };

    /// After an issue that was found.
    pub(super) const fn after(key: &SearchCursor) -> Self {
        Self {
            found: key.found,
            after: Some(IssueCursor {
                rank: key.rank,
                updated_at: key.updated_at,
                id: key.id,
            }),
        }
    }

    /// Behind all that is found in a place.
    pub(super) const fn behind(place: FoundIn) -> Self {
        Self {
            found: place as i16 + 1,
            after: None,
        }
    }
}

/// A key within its place, as columns.
struct After {
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
            out.push_bind_param::<SmallInt, _>(&self.found)?;
            out.push_sql(" OR ranked.found = ");
            out.push_bind_param::<SmallInt, _>(&self.found)?;
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
        } else {
            out.push_sql(" AND ranked.found >= ");
            out.push_bind_param::<SmallInt, _>(&self.found)?;
        }
        out.push_sql(" ORDER BY ranked.found, i.priority, i.updated_at DESC, i.id LIMIT ");
        out.push_bind_param::<BigInt, _>(&self.limit)
    }
}

/// The first keys of `matches` that the filter lets through.
pub(super) fn keys(
    conn: &mut Connection,
    company: CompanyScope,
    filter: &IssueFilter,
    matches: &[Matches],
    from: Position,
    limit: usize,
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
        found: from.found,
        after: from.after.map(|key| After {
            rank: key.rank,
            updated_at: InstantColumn(Timestamp::from_micros(key.updated_at)),
            id: IdColumn(key.id),
        }),
        limit: row_limit(limit),
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
