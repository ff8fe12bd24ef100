//! Finding issues by words.
//!
//! What many issues have is found by a walk along the list, what few have by the
//! index (docs/decisions/0027-common-words-are-found-in-the-list.md).

use diesel::prelude::*;
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::IssueId;
use workforce_domain::issue::Issue;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{FoundIn, IssueCursor, IssueFilter, SearchCursor, StoreError};
use workforce_domain::search::{Field, SearchQuery, Term};

use super::super::Connection;
use super::issue_matches::{self, Matches, Position};
use super::issue_places::{self, Asked, Reached};
use super::issue_rows;
use super::page::{page_limit, row_limit};
use super::text_index::Texts;
use crate::store::columns::IdColumn;
use crate::store::errors::failed;
use crate::store::schema::issue_labels;

/// Labels on at most so many issues, taken together, count as rare.
const RARE: usize = 1000;
/// Words that are also looked for one by one, each in a text of its own.
const MAX_APART: usize = 8;

/// Keys that are looked up at a time where some of them turn out to be found in
/// a better place.
const MORE_KEYS: usize = 500;
/// Issues whose texts are held in memory at once.
const TESTED_AT_ONCE: usize = 50;

/// One page of the issues of a company that a query finds.
pub(super) fn search(
    conn: &mut Connection,
    company: CompanyScope,
    query: &SearchQuery,
    filter: &IssueFilter,
    page: &PageRequest<SearchCursor>,
) -> Result<Page<Issue, SearchCursor>, StoreError> {
    let asked = Asked {
        company,
        query,
        filter,
    };
    let found = found(conn, asked, page.after, page_limit(page).saturating_add(1))?;
    issue_rows::page_of_keys(conn, company, &found, page)
}

/// The keys of the first issues after a place, as many as are wanted. The later
/// places are looked up only when the better ones have too few.
fn found(
    conn: &mut Connection,
    asked: Asked<'_>,
    after: Option<SearchCursor>,
    wanted: usize,
) -> Result<Vec<SearchCursor>, StoreError> {
    let matches = matches(asked.company, asked.query);
    let mut from = after.as_ref().map_or(Position::START, Position::after);
    let mut found = Vec::new();
    for (index, set) in matches.iter().enumerate() {
        if let Some(place) = set.walked()
            && from.found <= place as i16
        {
            let after = from.after.filter(|_| from.found == place as i16);
            let missing = wanted - found.len();
            let (mut keys, reached) = issue_places::walk(conn, asked, place, after, missing)?;
            found.append(&mut keys);
            from = match reached {
                Reached::Enough => return Ok(found),
                Reached::End => Position::behind(place),
                Reached::Row(after) => Position {
                    found: place as i16,
                    after,
                },
            };
        }
        let looked_up = &matches[..=index];
        let mut limit = wanted - found.len();
        while from.found <= set.last() as i16 {
            let (company, filter) = (asked.company, asked.filter);
            let keys = issue_matches::keys(conn, company, filter, looked_up, from, limit)?;
            from = match keys.last() {
                Some(last) if keys.len() == limit => Position::after(last),
                _ => Position::behind(set.last()),
            };
            for keys in keys.chunks(TESTED_AT_ONCE) {
                found.append(&mut issue_places::in_place(conn, asked, keys)?);
                if found.len() >= wanted {
                    found.truncate(wanted);
                    return Ok(found);
                }
            }
            limit = MORE_KEYS;
        }
    }
    Ok(found)
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
    let from = Position {
        after: page.after,
        ..Position::START
    };
    let request = PageRequest {
        after: None,
        limit: page.limit,
        max_bytes: page.max_bytes,
    };
    let labels = filter.labels.iter().copied().map(IdColumn).collect();
    let matches = [Matches::Labels(IdColumn(company.company()), labels)];
    let others = IssueFilter {
        labels: Vec::new(),
        ..filter.clone()
    };
    let limit = page_limit(page).saturating_add(1);
    let found = issue_matches::keys(conn, company, &others, &matches, from, limit)?;
    let Page { items, next } = issue_rows::page_of_keys(conn, company, &found, &request)?;
    let next = next.map(|key| IssueCursor {
        rank: key.rank,
        updated_at: key.updated_at,
        id: key.id,
    });
    Ok(Some(Page { items, next }))
}
