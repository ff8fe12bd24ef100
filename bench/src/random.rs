//! Numbers and ids that look random and are the same in every run.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::statement::Key;

/// A generator after Steele, Lea and Flood (SplitMix64): no secret hangs on it.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % bound).unwrap_or(0)
    }

    /// One of `items`, of which there is at least one.
    pub(crate) fn pick<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.below(items.len())]
    }

    /// A UUID v7 made at `micros` since 1970: indexes grow as they do with the server's ids.
    pub(crate) fn key(&mut self, micros: i64) -> Key {
        let (high, low) = (self.next().to_le_bytes(), self.next().to_le_bytes());
        let mut bytes = [0; 10];
        bytes[..8].copy_from_slice(&high);
        bytes[8..].copy_from_slice(&low[..2]);
        let millis = u64::try_from(micros / 1000).unwrap_or(0);
        Key(uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid())
    }
}

/// Microseconds since 1970.
pub(crate) fn now() -> i64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "a measurement has no rules whose time a test would set"
    )]
    let now = SystemTime::now();
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn keys_differ_and_sort_by_their_time() {
        let mut random = Random::seeded(1);
        let keys: Vec<Uuid> = (0..1000).map(|at| random.key(at * 1000).0).collect();
        assert!(keys.is_sorted_by(|one, other| one < other));
        assert_eq!(keys[0].get_version_num(), 7);
    }

    #[test]
    fn numbers_stay_below_their_bound_and_reach_it() {
        let mut random = Random::seeded(2);
        let drawn: std::collections::BTreeSet<_> = (0..100).map(|_| random.below(4)).collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
    }
}
