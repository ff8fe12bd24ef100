//! In which place of an issue a search finds it, told from its own texts.
//!
//! The index and the walk along the list tell the same place of an issue, so that
//! the pages of a search fit together whichever of them an issue came from.

use std::collections::{HashMap, HashSet};

use diesel::prelude::*;
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::IssueId;
use workforce_domain::port::{FoundIn, IssueCursor, IssueFilter, SearchCursor, StoreError};
use workforce_domain::search::{SearchQuery, Sighting};

use super::super::Connection;
use super::issue_walk::{Bounds, FIRST_ROWS, Listed, Next, Step, Walk};
use crate::store::columns::IdColumn;
use crate::store::errors::failed;
use crate::store::schema::{issue_labels, issues};
use crate::store::stable::one_of;

/// Rows that a walk reads at most, of a page of common size.
const WALKED_ROWS: usize = 4096;
/// The same for each row of a larger page.
const WALKED_FOR_EACH: usize = 16;
/// Bytes of descriptions that a walk reads at most.
const WALKED_BYTES: usize = 2 * 1024 * 1024;

/// What a search and those who walk for it are about.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) company: CompanyScope,
    pub(super) query: &'a SearchQuery,
    pub(super) filter: &'a IssueFilter,
}

/// How far a walk came.
pub(super) enum Reached {
    /// It found as many as were wanted.
    Enough,
    /// It saw the whole list.
    End,
    /// It was given up after this row, or before the first one.
    Row(Option<IssueCursor>),
}

/// Goes along the list after a row, or from its start, to the first issues that
/// are found in `place` itself: to so many as are wanted, as long as they come
/// often enough.
pub(super) fn walk(
    conn: &mut Connection,
    asked: Asked<'_>,
    place: FoundIn,
    after: Option<IssueCursor>,
    wanted: usize,
) -> Result<(Vec<SearchCursor>, Reached), StoreError> {
    let bounds = Bounds {
        rows: WALKED_ROWS.max(wanted.saturating_mul(WALKED_FOR_EACH)),
        bytes: WALKED_BYTES,
    };
    let in_text = place == FoundIn::OwnText;
    let mut walk = Walk::new(asked.company, asked.filter, after, in_text, bounds);
    let (mut found, mut unlabelled) = (Vec::new(), Vec::new());
    let (mut sample, mut last) = (Sample::new(asked.query), after);
    let reached = loop {
        if !walk.is_ahead() {
            found.append(&mut labelled(conn, asked, &mut unlabelled)?);
            if sample.rows >= FIRST_ROWS {
                let expected = sample.expected(wanted, found.len(), place);
                if expected > bounds.rows {
                    break Reached::Row(last);
                }
                walk.expect(expected.saturating_sub(sample.rows).saturating_mul(5) / 4);
            }
        }
        if found.len() + unlabelled.len() >= wanted {
            found.append(&mut labelled(conn, asked, &mut unlabelled)?);
            if found.len() >= wanted {
                break Reached::Enough;
            }
        }
        match walk.next(conn)? {
            Next::End => break Reached::End,
            Next::TooFar => break Reached::Row(last),
            Next::Row(mut step) => {
                let key = step.listed.key();
                sample.rows += 1;
                if step.listed.passes(asked.filter) {
                    let Some(sighting) = sighting(conn, asked, &mut walk, &mut step, in_text)?
                    else {
                        break Reached::Row(last);
                    };
                    sample.add(sighting);
                    if sighting.place == Some(place) {
                        unlabelled.push(key);
                    }
                }
                last = Some(key);
            }
        }
    };
    found.append(&mut labelled(conn, asked, &mut unlabelled)?);
    let found = found.into_iter().map(|key| SearchCursor {
        found: place as i16,
        rank: key.rank,
        updated_at: key.updated_at,
        id: key.id,
    });
    Ok((found.collect(), reached))
}

/// What the rows of a walk tell of those to come.
struct Sample {
    rows: usize,
    /// Those that the filter lets through, apart from labels.
    passed: usize,
    /// How many of these have each term.
    with_term: Vec<usize>,
}

impl Sample {
    fn new(query: &SearchQuery) -> Self {
        Self {
            rows: 0,
            passed: 0,
            with_term: vec![0; query.terms().len()],
        }
    }

    fn add(&mut self, sighting: Sighting) {
        self.passed += 1;
        for (index, count) in self.with_term.iter_mut().enumerate() {
            *count += usize::from(sighting.missing & (1 << index) == 0);
        }
    }

    /// How many rows it takes to find so many. Similar issues often stand together
    /// in the list, so that the rows without a hit tell little as long as each
    /// word by itself is common.
    fn expected(&self, wanted: usize, found: usize, place: FoundIn) -> usize {
        let by_hits = self.rows.saturating_mul(wanted).checked_div(found);
        let by_words = (place != FoundIn::IdentifierStart && self.passed > 0).then(|| {
            let (rows, passed) = (self.rows as f64, self.passed as f64);
            let shares = self.with_term.iter().map(|count| *count as f64 / passed);
            // A float becomes the nearest number that there is, so that none is too large.
            (wanted as f64 / (passed / rows * shares.product::<f64>())) as usize
        });
        let expected = by_hits.into_iter().chain(by_words).min();
        expected.unwrap_or(usize::MAX)
    }
}

/// What a row has of the query; `None` when its description is too long to be
/// read.
fn sighting(
    conn: &mut Connection,
    asked: Asked<'_>,
    walk: &mut Walk<'_>,
    step: &mut Step,
    in_text: bool,
) -> Result<Option<Sighting>, StoreError> {
    let description = if in_text {
        match walk.description(conn, step)? {
            None => return Ok(None),
            text => text,
        }
    } else {
        None
    };
    let Listed {
        identifier, title, ..
    } = &step.listed;
    let sighting = asked
        .query
        .sighted_in(identifier, title, description.as_deref());
    Ok(Some(sighting))
}

/// Those that have one of the labels that the filter asks for.
fn labelled(
    conn: &mut Connection,
    asked: Asked<'_>,
    keys: &mut Vec<IssueCursor>,
) -> Result<Vec<IssueCursor>, StoreError> {
    let mut keys = std::mem::take(keys);
    let labels = &asked.filter.labels;
    if labels.is_empty() || keys.is_empty() {
        return Ok(keys);
    }
    let labelled: Vec<IdColumn<IssueId>> = issue_labels::table
        .filter(issue_labels::company_id.eq(IdColumn(asked.company.company())))
        .filter(one_of(
            issue_labels::issue_id,
            keys.iter().map(|key| key.id),
        ))
        .filter(one_of(issue_labels::label_id, labels.iter().copied()))
        .select(issue_labels::issue_id)
        .load(conn)
        .map_err(failed)?;
    let labelled: HashSet<IssueId> = labelled.into_iter().map(|id| id.0).collect();
    keys.retain(|key| labelled.contains(&key.id));
    Ok(keys)
}

/// Those of the keys whose issues are found in no better place. The index may
/// take one for worse, since it knows the latest of many texts alone.
pub(super) fn in_place(
    conn: &mut Connection,
    asked: Asked<'_>,
    keys: &[SearchCursor],
) -> Result<Vec<SearchCursor>, StoreError> {
    // Whoever has the words in the title has them in the text, and is as late in both.
    let first = match asked.query.identifier() {
        Some(_) => FoundIn::Title,
        None => FoundIn::Comments,
    };
    let is_doubted = |key: &SearchCursor| key.found >= first as i16;
    let doubted = keys.iter().filter(|key| is_doubted(key));
    let doubted: Vec<_> = doubted.map(|key| key.id).collect();
    if doubted.is_empty() {
        return Ok(keys.to_vec());
    }
    let rows: Vec<(IdColumn<IssueId>, String, String, Option<String>)> = issues::table
        .filter(issues::company_id.eq(IdColumn(asked.company.company())))
        .filter(one_of(issues::id, doubted))
        .select((
            issues::id,
            issues::identifier,
            issues::title,
            issues::description,
        ))
        .load(conn)
        .map_err(failed)?;
    let places = rows.into_iter().map(|(id, identifier, title, text)| {
        let own = asked.query.sighted_in(&identifier, &title, text.as_deref());
        (id.0, own.place)
    });
    let places: HashMap<IssueId, Option<FoundIn>> = places.collect();
    let is_best = |key: &&SearchCursor| {
        let own = places.get(&key.id).copied().flatten();
        own.is_none_or(|place| place as i16 >= key.found)
    };
    Ok(keys.iter().filter(is_best).copied().collect())
}
