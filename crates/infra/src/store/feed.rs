//! Who is told of new events on this server.

use core::fmt;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use workforce_domain::id::CompanyId;
use workforce_domain::port::{EventFeed, EventListener, EventSubscription};

/// The listeners of this server. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Listeners {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    /// How many there are. Most of the time none, and then a write need not
    /// take the lock.
    count: AtomicUsize,
    table: Mutex<Table>,
}

/// Listeners with the numbers by which they leave.
type Numbered = Vec<(u64, Arc<dyn EventListener>)>;

#[derive(Default)]
struct Table {
    last_number: u64,
    of_companies: HashMap<CompanyId, Numbered>,
}

impl Inner {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listeners {
    /// True while somebody listens.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(dead_code, reason = "only a relay between servers asks")
    )]
    pub(super) fn is_any(&self) -> bool {
        self.inner.count.load(Ordering::SeqCst) > 0
    }

    /// Notifies the listeners of these companies.
    pub(super) fn notify(&self, companies: &[CompanyId]) {
        if companies.is_empty() || self.inner.count.load(Ordering::SeqCst) == 0 {
            return;
        }
        let table = self.inner.table();
        for company in companies {
            for (_, listener) in table.of_companies.get(company).into_iter().flatten() {
                listener.notify();
            }
        }
    }

    /// Notifies everybody: something may have been missed.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(dead_code, reason = "only a relay between servers loses anything")
    )]
    pub(super) fn notify_all(&self) {
        let table = self.inner.table();
        for (_, listener) in table.of_companies.values().flatten() {
            listener.notify();
        }
    }
}

impl EventFeed for Listeners {
    fn subscribe(
        &self,
        company: CompanyId,
        listener: Arc<dyn EventListener>,
    ) -> Box<dyn EventSubscription> {
        let mut table = self.inner.table();
        table.last_number += 1;
        let number = table.last_number;
        let listeners = table.of_companies.entry(company).or_default();
        listeners.push((number, listener));
        self.inner.count.fetch_add(1, Ordering::SeqCst);
        Box::new(Subscription {
            inner: Arc::clone(&self.inner),
            company,
            number,
        })
    }
}

impl fmt::Debug for Listeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listeners")
            .field("count", &self.inner.count)
            .finish_non_exhaustive()
    }
}

/// One listener's place.
struct Subscription {
    inner: Arc<Inner>,
    company: CompanyId,
    number: u64,
}

impl EventSubscription for Subscription {}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut table = self.inner.table();
        if let Some(listeners) = table.of_companies.get_mut(&self.company) {
            listeners.retain(|(number, _)| *number != self.number);
            if listeners.is_empty() {
                table.of_companies.remove(&self.company);
            }
        }
        self.inner.count.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[derive(Default)]
    struct Counted(AtomicUsize);

    impl EventListener for Counted {
        fn notify(&self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn company(number: u128) -> CompanyId {
        CompanyId::from(Uuid::from_u128(number))
    }

    #[test]
    fn listeners_hear_of_their_own_company_until_they_leave() {
        let feed = Listeners::default();
        let [own, other] = [1, 2].map(company);
        let heard = Arc::new(Counted::default());
        let count = || heard.0.load(Ordering::SeqCst);
        feed.notify(&[own]);
        let subscription = feed.subscribe(own, heard.clone());
        let second = feed.subscribe(own, heard.clone());
        feed.notify(&[other]);
        assert_eq!(count(), 0);
        feed.notify(&[other, own]);
        assert_eq!(count(), 2);
        drop(second);
        feed.notify_all();
        assert_eq!(count(), 3);
        drop(subscription);
        feed.notify(&[own]);
        feed.notify_all();
        assert_eq!(count(), 3);
        assert!(!feed.is_any());
    }
}
