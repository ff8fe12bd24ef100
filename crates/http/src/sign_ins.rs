//! How often an address may try to sign in to the board.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use workforce_domain::time::Timestamp;

use crate::rate_limit::network;

/// So many tries may fail before the next one has to wait.
const FREE: u32 = 5;
/// So long it waits then.
const PAUSE: Duration = Duration::from_secs(60);
/// After so long without a try, failures are forgotten.
const REMEMBERED: Duration = Duration::from_secs(15 * 60);

/// The tries that failed, by the network they came from.
#[derive(Debug, Default)]
pub(crate) struct SignIns(Mutex<HashMap<Option<u64>, Tries>>);

#[derive(Debug)]
struct Tries {
    failed: u32,
    last: Timestamp,
}

impl SignIns {
    /// So many networks are remembered at most.
    const CAPACITY: usize = 10_000;

    /// Counts a try as failed, until it is told to have succeeded: of many at
    /// once no more are free.
    ///
    /// # Errors
    /// For how long to wait.
    pub(crate) fn begin(&self, address: Option<IpAddr>, now: Timestamp) -> Result<(), Duration> {
        let mut all = self.lock();
        let is_fresh = |tries: &Tries| now.since(tries.last) < REMEMBERED;
        if all.len() >= Self::CAPACITY {
            all.retain(|_, tries| is_fresh(tries));
            // From so many networks at once, nobody is kept waiting by others.
            if all.len() >= Self::CAPACITY {
                all.clear();
            }
        }
        let tries = all.entry(address.map(network)).or_insert(Tries {
            failed: 0,
            last: now,
        });
        if !is_fresh(tries) {
            tries.failed = 0;
        }
        let waited = now.since(tries.last);
        if tries.failed >= FREE && waited < PAUSE {
            return Err(PAUSE.saturating_sub(waited));
        }
        tries.failed = tries.failed.saturating_add(1);
        tries.last = now;
        Ok(())
    }

    /// Forgets the failures of an address from which somebody signed in.
    pub(crate) fn succeeded(&self, address: Option<IpAddr>) {
        self.lock().remove(&address.map(network));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Option<u64>, Tries>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_failed_five_times_tries_once_a_minute() {
        let (tries, start) = (SignIns::default(), Timestamp::from_micros(0));
        let at = |seconds| start.plus(Duration::from_secs(seconds));
        let (one, other) = (
            Some(IpAddr::from([10, 0, 0, 1])),
            Some(IpAddr::from([10, 0, 0, 2])),
        );
        for _ in 0..5 {
            assert_eq!(tries.begin(one, at(0)), Ok(()));
        }
        assert_eq!(tries.begin(one, at(20)), Err(Duration::from_secs(40)));
        assert_eq!(tries.begin(other, at(20)), Ok(()));
        assert_eq!(tries.begin(one, at(60)), Ok(()));
        assert!(tries.begin(one, at(61)).is_err());
        assert_eq!(tries.begin(one, at(60 + 15 * 60)), Ok(()), "forgotten");
        assert_eq!(tries.begin(one, at(61 + 15 * 60)), Ok(()));
        for _ in 0..10 {
            tries.succeeded(one);
            assert_eq!(tries.begin(one, at(2000)), Ok(()));
        }
    }
}
