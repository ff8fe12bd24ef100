//! Finding issues by words.
//!
//! Of each set of texts that match, only the latest up to a limit count. The
//! rank of an issue depends on its own texts alone, so that the pages of a
//! search fit together while others write.

use diesel::prelude::*;
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::IssueId;
use workforce_domain::issue::Issue;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{FoundIn, IssueCursor, IssueFilter, SearchCursor, StoreError};
use workforce_domain::search::{Field, SearchQuery, Term};

use super::super::Connection;
use super::issue_matches::{self, Matches};
use super::page::row_limit;
use super::text_index::Texts;
use crate::store::columns::IdColumn;
use crate::store::errors::failed;
use crate::store::schema::issue_labels;

/// Labels on at most so many issues, taken together, count as rare.
const RARE: usize = 1000;
/// Words that are also looked for one by one, each in a text of its own.
const MAX_APART: usize = 8;

/// One page of the issues of a company that a query finds.
pub(super) fn search(
    conn: &mut Connection,
    company: CompanyScope,
    query: &SearchQuery,
    filter: &IssueFilter,
    page: &PageRequest<SearchCursor>,
) -> Result<Page<Issue, SearchCursor>, StoreError> {
    issue_matches::page(conn, company, filter, &matches(company, query), page)
}

/// What a query finds, from the best place on.
fn matches(company: CompanyScope, query: &SearchQuery) -> Vec<Matches> {
    let texts =
        |field: Field, terms: &[Term]| Texts::with::<Connection>(company.company(), field, terms);
    let mut matches = Vec::new();
    if let (Some(identifier), Some(term)) = (query.identifier(), query.identifier_term()) {
        let company = IdColumn(company.company());
        matches.push(Matches::Identifier(company, identifier.to_owned()));
        let begins = texts(Field::Identifier, std::slice::from_ref(term));
        matches.push(Matches::Texts(FoundIn::IdentifierStart, begins));
    }
    let terms = query.terms();
    if !terms.is_empty() {
        let titles = texts(Field::Title, terms);
        matches.push(Matches::Texts(FoundIn::Title, titles));
        matches.push(Matches::AnyTexts(texts(Field::Text, terms)));
    }
    if (2..=MAX_APART).contains(&terms.len()) {
        let word = |term| texts(Field::Text, std::slice::from_ref(term));
        matches.push(Matches::Apart(terms.iter().map(word).collect()));
    }
    matches
}

/// The page of a list that asks for labels, when they stand on few issues;
/// `None` when they are common, so that the list itself soon meets them.
pub(super) fn of_rare_labels(
    conn: &mut Connection,
    company: CompanyScope,
    filter: &IssueFilter,
    page: &PageRequest<IssueCursor>,
) -> Result<Option<Page<Issue, IssueCursor>>, StoreError> {
    let few = row_limit(RARE / filter.labels.len().max(1));
    for label in &filter.labels {
        // In the order of the index, or the whole table might be read.
        let one_more: Option<IdColumn<IssueId>> = issue_labels::table
            .filter(issue_labels::company_id.eq(IdColumn(company.company())))
            .filter(issue_labels::label_id.eq(IdColumn(*label)))
            .select(issue_labels::issue_id)
            .order(issue_labels::issue_id)
            .offset(few)
            .first(conn)
            .optional()
            .map_err(failed)?;
        if one_more.is_some() {
            return Ok(None);
        }
    }
    let request = PageRequest {
        after: page.after.map(|key| SearchCursor {
            found: FoundIn::Identifier as i16,
            rank: key.rank,
            updated_at: key.updated_at,
            id: key.id,
        }),
        limit: page.limit,
        max_bytes: page.max_bytes,
    };
    let labels = filter.labels.iter().copied().map(IdColumn).collect();
    let matches = [Matches::Labels(IdColumn(company.company()), labels)];
    let others = IssueFilter {
        labels: Vec::new(),
        ..filter.clone()
    };
    let Page { items, next } = issue_matches::page(conn, company, &others, &matches, &request)?;
    let next = next.map(|key| IssueCursor {
        rank: key.rank,
        updated_at: key.updated_at,
        id: key.id,
    });
    Ok(Some(Page { items, next }))
}
