//! Keyset pages: how a list is asked for and answered in bounded pieces.

use alloc::vec::Vec;

/// Bounds one page of a list. A list ends a page early when its rows would
/// weigh more than `max_bytes`, so that no answer is unbounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest<K> {
    /// Start after the row with this key; from the beginning when `None`.
    pub after: Option<K>,
    /// At most so many rows.
    pub limit: usize,
    /// Stop after the row with which the page exceeds this weight.
    pub max_bytes: usize,
}

impl<K> PageRequest<K> {
    /// Rows in a page when the caller names no limit.
    pub const DEFAULT_LIMIT: usize = 1000;
    /// The largest limit a caller may name.
    pub const MAX_LIMIT: usize = 500;
    /// The weight at which a page ends early.
    pub const MAX_BYTES: usize = 4 * 1024 * 1024;

    /// The first page of the default size.
    pub const fn first() -> Self {
        Self {
            after: None,
            limit: Self::DEFAULT_LIMIT,
            max_bytes: Self::MAX_BYTES,
        }
    }
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T, K> {
    /// The rows, in the order of the list.
    pub items: Vec<T>,
    /// The key to continue after; `None` when the list ends here.
    pub next: Option<K>,
}

impl<T, K> Page<T, K> {
    /// The page with each row turned into another.
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> Page<U, K> {
        Page {
            items: self.items.into_iter().map(convert).collect(),
            next: self.next,
        }
    }
}

/// The place of a row in a list ordered by creation and then id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CreationKey<I> {
    /// Creation, in microseconds since 1970.
    pub at: i64,
    /// Breaks ties.
    pub id: I,
}

/// Which end of a list comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Oldest first.
    Ascending,
    /// Newest first.
    Descending,
}
