//! Ids, tokens and a clock that a seed determines.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use uuid::Uuid;
use workforce_domain::port::{Ids, MintedToken, TokenKind, Tokens};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::time::Timestamp;
use workforce_testkit::random::Random;

/// A clock that only the simulation moves, and what is numbered by it.
#[derive(Debug)]
pub(crate) struct Seeded {
    now: AtomicI64,
    given_out: AtomicU64,
    seed: u64,
}

impl Seeded {
    /// The clock stands at `now`.
    pub(crate) const fn new(seed: u64, now: Timestamp) -> Self {
        Self {
            now: AtomicI64::new(now.micros()),
            given_out: AtomicU64::new(0),
            seed,
        }
    }

    /// The present.
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.now.load(Ordering::Relaxed))
    }

    /// Sets the clock.
    pub(crate) fn set(&self, now: Timestamp) {
        self.now.store(now.micros(), Ordering::Relaxed);
    }

    /// A number that none before was, and random bits that it determines.
    fn next_number(&self) -> (u64, u64) {
        let number = self.given_out.fetch_add(1, Ordering::Relaxed);
        (
            number,
            Random::new(self.seed ^ number.rotate_left(32)).draw(),
        )
    }
}

impl Ids for Seeded {
    /// The milliseconds of the clock, a count, and 32 random bits.
    fn next(&self) -> Uuid {
        let (number, random) = self.next_number();
        let millis = u128::from(self.now().micros().unsigned_abs() / 1000);
        let (high, low) = (
            u128::from(number >> 30 & 0xfff),
            u128::from(number & 0x3fff_ffff),
        );
        let bits = millis << 80 | 7 << 76 | high << 64 | 2 << 62 | low << 32;
        Uuid::from_u128(bits | u128::from(random & 0xffff_ffff))
    }
}

impl Tokens for Seeded {
    fn mint(&self, kind: TokenKind) -> MintedToken {
        let (number, random) = self.next_number();
        let prefix = format!("{}_{:08}", kind.as_str(), number % 100_000_000);
        let token = format!("{prefix}_{random:043}");
        let digest = self.digest(&token);
        MintedToken {
            token,
            prefix,
            digest,
        }
    }

    /// Not a secret one, but another one for each token.
    fn digest(&self, token: &str) -> [u8; 32] {
        let mut digest = [0; 32];
        for (place, byte) in token.bytes().rev().enumerate().take(64) {
            let shift = u32::try_from(place / 32 * 4).unwrap_or_default();
            digest[place % 32] ^= byte.rotate_left(shift);
        }
        digest
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_ascend_and_a_seed_determines_them() {
        let ids = || {
            let seeded = Seeded::new(5, Timestamp::from_micros(1_700_000_000_000_000));
            (0..1000).map(|_| seeded.next()).collect::<Vec<_>>()
        };
        assert!(ids().is_sorted_by(|one, next| one < next));
        assert!(ids().iter().all(|id| id.get_version_num() == 7));
        assert_eq!(ids(), ids());
    }

    #[test]
    fn no_two_tokens_have_the_same_digest() {
        let seeded = Seeded::new(5, Timestamp::from_micros(0));
        let digests: HashSet<_> = (0..1000)
            .map(|_| seeded.mint(TokenKind::Run).digest)
            .collect();
        assert_eq!(digests.len(), 1000);
    }
}
