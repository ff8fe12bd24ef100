//! Names of answers and calls.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU32, Ordering};

/// Gives out ids that no other imitation gives out: a session may meet several.
#[derive(Debug)]
pub(crate) struct Ids {
    origin: u64,
    given: AtomicU32,
}

impl Ids {
    pub(crate) fn new() -> Self {
        Self {
            origin: RandomState::new().hash_one("imitation"),
            given: AtomicU32::new(0),
        }
    }

    pub(crate) fn next(&self, prefix: &str) -> String {
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        format!("{prefix}{:016x}{number:08x}", self.origin)
    }
}
