//! Pages of lists: one more row is read than the page may have, and a page ends
//! early when its rows have too many bytes.

use diesel::QueryResult;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::StoreError;

use super::super::Connection;
use super::row::Row;
use crate::store::errors::failed;

/// The database of this mount.
pub(super) type Backend = <Connection as diesel::Connection>::Backend;

/// The most rows of a list that has no pages.
pub(super) const MAX_WHOLE: i64 = 10_000;

/// For so many rows there is room from the beginning. A page may take more, but seldom has them.
const EXPECTED: usize = 64;

diesel::define_sql_function! {
    /// So many characters of a text, from a place on, counted from 1.
    fn substr(text: diesel::sql_types::Text, from: diesel::sql_types::Integer, count: diesel::sql_types::Integer) -> diesel::sql_types::Text;
}

diesel::define_sql_function! {
    /// How many bytes a text has. Neither database reads it for that.
    fn octet_length(text: diesel::sql_types::Nullable<diesel::sql_types::Text>) -> diesel::sql_types::Nullable<diesel::sql_types::Integer>;
}

/// How many characters a stem has, for `substr`.
pub(super) fn characters(stem: &str) -> i32 {
    i32::try_from(stem.chars().count()).unwrap_or(i32::MAX)
}

/// How many rows a page has at most.
pub(super) fn page_limit<K>(request: &PageRequest<K>) -> usize {
    request.limit.max(1)
}

/// How many rows to ask for: one more tells whether the list goes on.
pub(super) fn fetch_limit<K>(request: &PageRequest<K>) -> i64 {
    i64::try_from(page_limit(request)).map_or(i64::MAX, |limit| limit.saturating_add(1))
}

/// How many rows `limit` is as the database counts.
pub(super) fn row_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// The page that `rows` begin with.
pub(super) fn page_of<R: Row, K>(
    rows: impl Iterator<Item = QueryResult<R>>,
    request: &PageRequest<K>,
    key: impl Fn(&R::Record) -> K,
) -> Result<Page<R::Record, K>, StoreError> {
    let limit = page_limit(request);
    let mut items: Vec<R::Record> = Vec::with_capacity(limit.min(EXPECTED));
    let mut weight = 0_usize;
    let mut more = false;
    for row in rows {
        let row = row.map_err(failed)?;
        if items.len() >= limit || weight > request.max_bytes {
            more = true;
            break;
        }
        weight = weight.saturating_add(row.weight());
        items.push(row.restore()?);
    }
    let next = if more { items.last().map(key) } else { None };
    Ok(Page { items, next })
}

/// The beginning of one of several lists that are merged into one page.
pub(super) struct SortedRun<T> {
    rows: std::collections::VecDeque<(usize, T)>,
    cut: bool,
}

impl<T> SortedRun<T> {
    /// Reads as much of a list as one page can hold.
    pub(super) fn read<R: Row<Record = T>>(
        rows: impl Iterator<Item = QueryResult<R>>,
        limit: usize,
        max_bytes: usize,
    ) -> Result<Self, StoreError> {
        let mut stream = Self {
            rows: std::collections::VecDeque::with_capacity(limit.min(EXPECTED)),
            cut: false,
        };
        let mut weight = 0_usize;
        for row in rows {
            let row = row.map_err(failed)?;
            if stream.rows.len() >= limit || weight > max_bytes {
                stream.cut = true;
                break;
            }
            let own = row.weight();
            weight = weight.saturating_add(own);
            stream.rows.push_back((own, row.restore()?));
        }
        Ok(stream)
    }
}

/// A page under construction from streams that follow each other.
pub(super) struct KWayMerge<T> {
    items: Vec<T>,
    weight: usize,
    limit: usize,
    max_bytes: usize,
    more: bool,
}

impl<T> KWayMerge<T> {
    /// An empty page.
    pub(super) fn new<K>(request: &PageRequest<K>) -> Self {
        Self {
            items: Vec::with_capacity(page_limit(request).min(EXPECTED)),
            weight: 0,
            limit: page_limit(request),
            max_bytes: request.max_bytes,
            more: false,
        }
    }

    /// How many rows the page can still take; none once it is known that the
    /// list goes on. A full page asks for one row that tells whether it does.
    pub(super) fn room(&self) -> usize {
        if self.more {
            0
        } else {
            (self.limit - self.items.len()).max(1)
        }
    }

    /// How many bytes the page can still take.
    pub(super) const fn room_bytes(&self) -> usize {
        self.max_bytes.saturating_sub(self.weight)
    }

    /// Adds what `streams` hold, in the order that `before` tells; each of
    /// them is in that order itself.
    pub(super) fn take(&mut self, mut streams: Vec<SortedRun<T>>, before: impl Fn(&T, &T) -> bool) {
        loop {
            let mut least: Option<usize> = None;
            for (index, stream) in streams.iter().enumerate() {
                let Some((_, row)) = stream.rows.front() else {
                    continue;
                };
                let best = least.and_then(|least| streams[least].rows.front());
                if best.is_none_or(|(_, best)| before(row, best)) {
                    least = Some(index);
                }
            }
            let Some(index) = least else {
                self.more |= streams.iter().any(|stream| stream.cut);
                return;
            };
            if self.items.len() >= self.limit || self.weight > self.max_bytes {
                self.more = true;
                return;
            }
            if let Some((weight, row)) = streams[index].rows.pop_front() {
                self.weight = self.weight.saturating_add(weight);
                self.items.push(row);
            }
        }
    }

    /// The finished page.
    pub(super) fn finish<K>(self, key: impl Fn(&T) -> K) -> Page<T, K> {
        let next = if self.more {
            self.items.last().map(key)
        } else {
            None
        };
        Page {
            items: self.items,
            next,
        }
    }
}
