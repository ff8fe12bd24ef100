//! What this server does outside of the store it does under a lease, which it renews
//! meanwhile. Once it cannot be sure of the lease, it takes no step until it is.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use workforce_app::approvals::execution::{LEASE, RENEW_EVERY};
use workforce_domain::port::StoreError;

use crate::steps::patience;

/// How long leases last, and how they are renewed.
#[derive(Clone, Copy, Debug)]
pub(in crate::tickets) struct Terms {
    /// Others may take over what was not renewed for so long.
    lease: Duration,
    /// How often it is renewed.
    renew_every: Duration,
    /// A renewal that failed is tried again after so long.
    retry: Duration,
}

impl Terms {
    /// Those of all that is done outside of the store.
    pub(in crate::tickets) const USUAL: Self = Self {
        lease: LEASE,
        renew_every: RENEW_EVERY,
        retry: Duration::from_secs(1),
    };
}

/// Why work came to no end.
#[derive(Debug)]
pub(in crate::tickets) enum Lost {
    /// Somebody else has the lease, or it was ended.
    Overtaken,
    /// The work was to be broken off. The lease is this server's, to be given up.
    Stopped,
    /// The store did not answer for as long as the lease lasted.
    Store(StoreError),
}

/// Does `work` while `renew` says that the lease is this server's, and until `stop` is
/// cancelled. It is renewed first: the server may have stood still since the lease was
/// taken.
///
/// # Errors
/// [`Lost`]; then the work has stopped where it was, with all processes that it started.
pub(in crate::tickets) async fn under_lease<T, R>(
    terms: Terms,
    stop: &CancellationToken,
    mut renew: impl FnMut() -> R,
    work: impl Future<Output = T>,
) -> Result<T, Lost>
where
    R: Future<Output = Result<bool, StoreError>>,
{
    let mut work = pin!(work);
    let mut due = Instant::now();
    let (mut sure_until, mut over) = (due, due + terms.lease);
    loop {
        // A renewal that was begun is waited for: whoever gives the lease up has to know it.
        let renewal = async {
            stop.run_until_cancelled(sleep_until(due)).await?;
            let begun = Instant::now();
            let renewed = timeout(terms.renew_every, renew()).await;
            Some((begun, renewed))
        };
        // A server that stood still must not go on before it has asked.
        let sure_work = poll_fn(|cx| match Instant::now() < sure_until {
            true => work.as_mut().poll(cx),
            false => Poll::Pending,
        });
        let renewal = tokio::select! {
            biased;
            renewal = renewal => renewal,
            done = sure_work => return Ok(done),
        };
        let Some((begun, renewed)) = renewal else {
            return Err(Lost::Stopped);
        };
        match renewed {
            Ok(Ok(true)) => {
                sure_until = begun + patience(terms.lease, terms.renew_every);
                over = begun + terms.lease;
                due = begun + terms.renew_every;
            }
            Ok(Ok(false)) => return Err(Lost::Overtaken),
            Ok(Err(error)) if Instant::now() >= over => return Err(Lost::Store(error)),
            Err(_elapsed) if Instant::now() >= over => {
                let error = StoreError::Failed("a lease is not renewed in time".into());
                return Err(Lost::Store(error));
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "a lease is not renewed");
                due = Instant::now() + terms.retry;
            }
            Err(_elapsed) => due = Instant::now(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::pending;

    use super::*;

    const MOMENT: Duration = Duration::from_millis(1);
    /// What is renewed all the time, and lasts for longer than any test.
    const LONG: Terms = Terms {
        lease: Duration::from_secs(3600),
        renew_every: MOMENT,
        retry: MOMENT,
    };
    /// What is over at once.
    const OVER: Terms = Terms {
        lease: Duration::ZERO,
        ..LONG
    };

    /// Nothing is broken off.
    fn never() -> CancellationToken {
        CancellationToken::new()
    }

    fn broken() -> StoreError {
        StoreError::Failed("broken".into())
    }

    /// Renews as these tell, one after the other, and then for ever.
    fn renewals<'a>(
        count: &'a Cell<usize>,
        told: &'a [Result<bool, ()>],
    ) -> impl FnMut() -> std::future::Ready<Result<bool, StoreError>> + 'a {
        || {
            let told = told.get(count.replace(count.get() + 1));
            let told = told.copied().unwrap_or(Ok(true));
            std::future::ready(told.map_err(|()| broken()))
        }
    }

    /// Work that goes on until the lease was renewed so often.
    async fn until(count: &Cell<usize>, renewed: usize) {
        assert!(count.get() > 0, "the lease is renewed first");
        while count.get() < renewed {
            tokio::time::sleep(MOMENT).await;
        }
    }

    #[tokio::test]
    async fn work_goes_on_for_as_long_as_its_lease_is_renewed() {
        let count = Cell::new(0);
        let done = under_lease(LONG, &never(), renewals(&count, &[]), until(&count, 5)).await;
        assert!(done.is_ok());
    }

    #[tokio::test]
    async fn work_stops_when_its_lease_is_lost() {
        let count = Cell::new(0);
        let told = [Ok(true), Ok(true), Ok(false)];
        let lost = under_lease(LONG, &never(), renewals(&count, &told), until(&count, 4)).await;
        assert!(matches!(lost, Err(Lost::Overtaken)));
        assert_eq!(count.get(), 3);
    }

    #[tokio::test]
    async fn nothing_is_done_under_a_lease_that_is_over() {
        let count = Cell::new(0);
        let told = [Ok(true), Ok(false)];
        let work = async { panic!("a step is taken") };
        let lost = under_lease::<(), _>(OVER, &never(), renewals(&count, &told), work).await;
        assert!(matches!(lost, Err(Lost::Overtaken)));
    }

    #[tokio::test]
    async fn a_store_that_fails_for_a_while_stops_nothing() {
        let count = Cell::new(0);
        let told = [Ok(true), Err(()), Err(()), Err(())];
        let done = under_lease(LONG, &never(), renewals(&count, &told), until(&count, 6)).await;
        assert!(done.is_ok());
    }

    #[tokio::test]
    async fn a_store_that_fails_or_hangs_for_longer_ends_the_work() {
        let count = Cell::new(0);
        let told = [Err(())];
        let failing =
            under_lease::<(), _>(OVER, &never(), renewals(&count, &told), pending()).await;
        assert!(matches!(failing, Err(Lost::Store(_))));
        let hanging = under_lease::<(), _>(OVER, &never(), pending, pending()).await;
        assert!(matches!(hanging, Err(Lost::Store(_))));
    }

    #[tokio::test]
    async fn work_is_broken_off_once_its_renewal_has_come_to_an_end() {
        let (stop, count) = (never(), Cell::new(0));
        let renew = || async {
            // The second renewal goes on while the work is stopped.
            if count.replace(count.get() + 1) == 1 {
                stop.cancel();
                tokio::time::sleep(MOMENT).await;
                count.set(10);
            }
            Ok(true)
        };
        let lost = under_lease::<(), _>(LONG, &stop, renew, pending()).await;
        assert!(matches!(lost, Err(Lost::Stopped)));
        assert_eq!(count.get(), 10);
    }
}
