//! How often a caller may ask (docs/access.md#rate-limits): a token bucket per
//! credential, and per peer address for everybody else.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use workforce_app::authenticate::bearer;

/// How many seconds' worth of requests may come at once.
const BURST_SECONDS: NonZeroU32 = NonZeroU32::new(4).unwrap();

/// How often one caller may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Requests per second in the long run.
    pub per_second: NonZeroU32,
    /// Requests that may come at once.
    pub burst: NonZeroU32,
}

impl RateLimit {
    /// So many requests per second, and four seconds' worth of them at once.
    pub const fn per_second(per_second: NonZeroU32) -> Self {
        Self {
            per_second,
            burst: per_second.saturating_mul(BURST_SECONDS),
        }
    }

    /// How long a bucket takes to gain one request.
    fn interval(self) -> Duration {
        Duration::from_secs(1) / self.per_second.get()
    }

    /// How long an empty bucket takes to be full.
    fn span(self) -> Duration {
        self.interval() * self.burst.get()
    }
}

/// Whose bucket a request takes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Payer {
    /// The credential with this digest, which was valid the last time.
    Credential(Fingerprint),
    /// Whoever asks from this address: without a credential, or with one that
    /// is not known to be valid. An IPv6 address counts by its first half,
    /// which is what one customer of a provider is given.
    Peer(u64),
    /// Nobody knows from where.
    Unknown,
}

/// The first half of SHA-256 of a credential, which is enough to tell two
/// apart. However a caller spells the scheme, the credential is the same.
type Fingerprint = [u8; 16];

fn fingerprint(authorization: &str) -> Fingerprint {
    let credential = bearer(authorization).unwrap_or(authorization);
    let digest: [u8; 32] = Sha256::digest(credential).into();
    let mut half = [0; 16];
    for (to, from) in half.iter_mut().zip(digest) {
        *to = from;
    }
    half
}

fn peer(address: Option<IpAddr>) -> Payer {
    address.map_or(Payer::Unknown, |address| Payer::Peer(network(address)))
}

/// What an address counts by.
pub(crate) fn network(address: IpAddr) -> u64 {
    match address.to_canonical() {
        IpAddr::V4(address) => u32::from(address).into(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            let half = [a, b, c, d].into_iter().map(u64::from);
            half.fold(0, |all, part| (all << 16) | part)
        }
    }
}

/// The buckets of a server. Neither they nor the credentials remembered grow
/// beyond [`Self::CAPACITY`].
pub(crate) struct Limiter {
    limit: RateLimit,
    /// When each bucket will be full again; one that is full is not kept.
    full_at: Mutex<HashMap<Payer, Instant>>,
    valid: Mutex<HashSet<Fingerprint>>,
}

impl Limiter {
    /// How many buckets, and how many valid credentials, are kept at most.
    const CAPACITY: usize = 20_000;

    /// Full buckets for everybody.
    pub(crate) fn new(limit: RateLimit) -> Self {
        Self {
            limit,
            full_at: Mutex::default(),
            valid: Mutex::default(),
        }
    }

    /// Takes one request from the caller's bucket.
    ///
    /// # Errors
    /// For how long to wait when it is empty.
    pub(crate) fn take(
        &self,
        authorization: Option<&str>,
        address: Option<IpAddr>,
        now: Instant,
    ) -> Result<(), Duration> {
        let credential = authorization
            .map(fingerprint)
            .filter(|it| lock(&self.valid).contains(it));
        let payer = credential.map_or_else(|| peer(address), Payer::Credential);
        let mut buckets = lock(&self.full_at);
        if buckets.len() >= Self::CAPACITY {
            buckets.retain(|_, full_at| *full_at > now);
            // So many callers at once: rather than to search all of them again
            // and again, everybody begins with a full bucket.
            if buckets.len() > Self::CAPACITY / 2 {
                buckets.clear();
            }
        }
        let full_at = buckets.get(&payer).map_or(now, |full_at| now.max(*full_at));
        let full_at = full_at + self.limit.interval();
        let lacking = full_at
            .duration_since(now)
            .saturating_sub(self.limit.span());
        if !lacking.is_zero() {
            return Err(lacking);
        }
        buckets.insert(payer, full_at);
        Ok(())
    }

    /// Remembers whether a credential is valid: a valid one pays from a bucket
    /// of its own from now on, any other from that of its peer, so that trying
    /// credentials out costs as much as asking without.
    pub(crate) fn learn(&self, authorization: &str, is_valid: bool) {
        let credential = fingerprint(authorization);
        let mut valid = lock(&self.valid);
        if !is_valid {
            valid.remove(&credential);
        } else if !valid.contains(&credential) {
            if valid.len() >= Self::CAPACITY {
                valid.clear();
            }
            valid.insert(credential);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv6Addr;

    const HERE: Option<IpAddr> = Some(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST));

    fn limiter() -> Limiter {
        Limiter::new(RateLimit {
            per_second: NonZeroU32::new(2).unwrap(),
            burst: NonZeroU32::new(3).unwrap(),
        })
    }

    fn takes(
        limiter: &Limiter,
        authorization: Option<&str>,
        address: Option<IpAddr>,
        now: Instant,
    ) -> usize {
        (0..10)
            .take_while(|_| limiter.take(authorization, address, now).is_ok())
            .count()
    }

    #[test]
    fn a_bucket_empties_and_fills_again() {
        let (limiter, now) = (limiter(), Instant::now());
        assert_eq!(takes(&limiter, None, HERE, now), 3);
        let wait = limiter.take(None, HERE, now).unwrap_err();
        assert_eq!(wait, Duration::from_millis(500));
        let later = now + Duration::from_secs(1);
        assert_eq!(takes(&limiter, None, HERE, later), 2);
        let much_later = now + Duration::from_secs(60);
        assert_eq!(
            takes(&limiter, None, HERE, much_later),
            3,
            "no more than full"
        );
    }

    #[test]
    fn a_valid_credential_has_a_bucket_of_its_own() {
        let (limiter, now) = (limiter(), Instant::now());
        limiter.learn("Bearer a", true);
        limiter.learn("Bearer b", true);
        assert_eq!(takes(&limiter, Some("Bearer a"), HERE, now), 3);
        assert_eq!(takes(&limiter, Some("Bearer b"), HERE, now), 3);
        assert_eq!(
            takes(&limiter, None, HERE, now),
            3,
            "nor is the peer's touched"
        );
        limiter.learn("Bearer a", false);
        assert_eq!(takes(&limiter, Some("Bearer a"), HERE, now), 0);
    }

    #[test]
    fn a_credential_has_one_bucket_however_it_is_spelt() {
        let (limiter, now) = (limiter(), Instant::now());
        let spellings = ["Bearer a", "bEaReR a", "BEARER   a", "bearer a  "];
        for spelling in spellings {
            limiter.learn(spelling, true);
        }
        let taken: usize = spellings
            .map(|spelling| takes(&limiter, Some(spelling), HERE, now))
            .iter()
            .sum();
        assert_eq!(taken, 3);
        assert_eq!(takes(&limiter, None, HERE, now), 3, "the peer's is another");
        limiter.learn("beaRER a", false);
        assert_eq!(takes(&limiter, Some("Bearer a"), HERE, now), 0);
    }

    #[test]
    fn whoever_tries_credentials_out_pays_from_one_bucket() {
        let (limiter, now) = (limiter(), Instant::now());
        let tried = (0..10)
            .take_while(|n| {
                limiter
                    .take(Some(&format!("Bearer {n}")), HERE, now)
                    .is_ok()
            })
            .count();
        assert_eq!(tried, 3);
    }

    #[test]
    fn an_ipv6_peer_is_its_network() {
        let (limiter, now) = (limiter(), Instant::now());
        let at = |last: u16| {
            Some(IpAddr::V6(Ipv6Addr::new(
                0x2001, 0xdb8, 0, 1, 0, 0, 0, last,
            )))
        };
        assert_eq!(takes(&limiter, None, at(1), now), 3);
        assert_eq!(takes(&limiter, None, at(2), now), 0);
        let mapped = std::net::Ipv4Addr::LOCALHOST.to_ipv6_mapped().into();
        assert_eq!(takes(&limiter, None, HERE, now), 3);
        assert_eq!(takes(&limiter, None, Some(mapped), now), 0);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (limiter, now) = (limiter(), Instant::now());
        for n in 0..Limiter::CAPACITY as u32 + 100 {
            let address = IpAddr::V4(n.into());
            assert!(limiter.take(None, Some(address), now).is_ok());
            limiter.learn(&n.to_string(), true);
        }
        assert!(lock(&limiter.full_at).len() <= Limiter::CAPACITY);
        assert!(lock(&limiter.valid).len() <= Limiter::CAPACITY);
    }
}
