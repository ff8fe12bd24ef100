//! Finding issues by words.
//!
//! What is looked at is bounded: of each lane, the latest texts up to a limit.
//! Where an issue is found depends on nothing but its own texts, so that the
//! pages of a search fit together while others write.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use diesel::prelude::*;
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::IssueId;
use workforce_domain::issue::Issue;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{FoundIn, FoundKey, IssueFilter, IssueKey, StoreError};
use workforce_domain::search::{Field, SearchQuery, Term};

use super::super::Connection;
use super::issue_matches::{self, Matches};
use super::text_index::{FoundText, TextIndex};
use crate::store::columns::IdColumn;
use crate::store::errors::failed;
use crate::store::schema::{issue_labels, issues};

/// Texts that one lane looks at. Where a word stands in more, the latest count.
const LANE: i64 = 5000;
/// Issues that a label may stand on to count as rare.
const RARE: i64 = 1000;
/// Words that are also looked for one by one, each in a text of its own.
const MAX_APART: usize = 8;

/// One page of the issues of a company that a query finds.
pub(super) fn search(
    conn: &mut Connection,
    company: CompanyScope,
    query: &SearchQuery,
    filter: &IssueFilter,
    page: &PageRequest<FoundKey>,
) -> Result<Page<Issue, FoundKey>, StoreError> {
    let mut found = Found::default();
    by_identifier(conn, company, query, &mut found)?;
    if !query.terms().is_empty() {
        for text in texts(conn, company, Field::Title, query.terms())? {
            found.note(text.issue_id.0, FoundIn::Title);
        }
        for text in texts(conn, company, Field::Text, query.terms())? {
            let place = if text.own {
                FoundIn::OwnText
            } else {
                FoundIn::Comments
            };
            found.note(text.issue_id.0, place);
        }
        for issue in apart(conn, company, query.terms())? {
            found.note(issue, FoundIn::Comments);
        }
    }
    issue_matches::page(conn, company, filter, &found.0, page)
}

#[derive(Default)]
struct Found(Matches);

impl Found {
    /// Notes that an issue was found; the best place counts.
    fn note(&mut self, issue: IssueId, place: FoundIn) {
        let place = place as i16;
        match self.0.entry(issue) {
            Entry::Vacant(entry) => {
                entry.insert(place);
            }
            Entry::Occupied(mut entry) if place < *entry.get() => {
                entry.insert(place);
            }
            Entry::Occupied(_) => {}
        }
    }
}

fn by_identifier(
    conn: &mut Connection,
    company: CompanyScope,
    query: &SearchQuery,
    found: &mut Found,
) -> Result<(), StoreError> {
    let (Some(identifier), Some(term)) = (query.identifier(), query.identifier_term()) else {
        return Ok(());
    };
    let exact: Option<IdColumn<IssueId>> = issues::table
        .filter(issues::company_id.eq(IdColumn(company.company())))
        .filter(issues::identifier.eq(identifier))
        .select(issues::id)
        .first(conn)
        .optional()
        .map_err(failed)?;
    if let Some(issue) = exact {
        found.note(issue.0, FoundIn::Identifier);
    }
    for text in texts(conn, company, Field::Identifier, std::slice::from_ref(term))? {
        found.note(text.issue_id.0, FoundIn::IdentifierStart);
    }
    Ok(())
}

/// The latest texts that have all of `terms`.
fn texts(
    conn: &mut Connection,
    company: CompanyScope,
    field: Field,
    terms: &[Term],
) -> Result<Vec<FoundText>, StoreError> {
    let company = company.company();
    let terms: Vec<Term> = terms
        .iter()
        .map(|term| term.within(company, field))
        .collect();
    conn.texts_with(company, &terms, LANE).map_err(failed)
}

/// The issues that have each of several words somewhere, be it in one text or
/// another.
fn apart(
    conn: &mut Connection,
    company: CompanyScope,
    terms: &[Term],
) -> Result<Vec<IssueId>, StoreError> {
    if !(2..=MAX_APART).contains(&terms.len()) {
        return Ok(Vec::new());
    }
    let mut met: HashMap<IssueId, usize> = HashMap::new();
    for (before, term) in terms.iter().enumerate() {
        for text in texts(conn, company, Field::Text, std::slice::from_ref(term))? {
            match met.entry(text.issue_id.0) {
                Entry::Vacant(entry) if before == 0 => {
                    entry.insert(1);
                }
                Entry::Occupied(mut entry) if *entry.get() == before => {
                    entry.insert(before + 1);
                }
                Entry::Vacant(_) | Entry::Occupied(_) => {}
            }
        }
        met.retain(|_issue, count| *count == before + 1);
        if met.is_empty() {
            break;
        }
    }
    Ok(met.into_keys().collect())
}

/// The page of a list that asks for labels, when they stand on few issues;
/// `None` when they are common, so that the list itself soon meets them.
pub(super) fn of_rare_labels(
    conn: &mut Connection,
    company: CompanyScope,
    filter: &IssueFilter,
    page: &PageRequest<IssueKey>,
) -> Result<Option<Page<Issue, IssueKey>>, StoreError> {
    let mut matches = Matches::new();
    for label in &filter.labels {
        // In an order that the index has, or the whole table might be read.
        let labelled: Vec<IdColumn<IssueId>> = issue_labels::table
            .filter(issue_labels::company_id.eq(IdColumn(company.company())))
            .filter(issue_labels::label_id.eq(IdColumn(*label)))
            .select(issue_labels::issue_id)
            .order(issue_labels::issue_id)
            .limit(RARE + 1)
            .load(conn)
            .map_err(failed)?;
        matches.extend(labelled.into_iter().map(|issue| (issue.0, 0)));
        if i64::try_from(matches.len()).is_ok_and(|count| count > RARE) {
            return Ok(None);
        }
    }
    let request = PageRequest {
        after: page.after.map(|key| FoundKey {
            found: 0,
            rank: key.rank,
            updated_at: key.updated_at,
            id: key.id,
        }),
        limit: page.limit,
        max_bytes: page.max_bytes,
    };
    let Page { items, next } = issue_matches::page(conn, company, filter, &matches, &request)?;
    let next = next.map(|key| IssueKey {
        rank: key.rank,
        updated_at: key.updated_at,
        id: key.id,
    });
    Ok(Some(Page { items, next }))
}
