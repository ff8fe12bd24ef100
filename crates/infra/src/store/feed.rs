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
    /// How many of them listen to one company.
    of_one: AtomicUsize,
    table: Mutex<Table>,
}

/// Listeners with the numbers by which they leave.
type Numbered = Vec<(u64, Arc<dyn EventListener>)>;

#[derive(Default)]
struct Table {
    last_number: u64,
    of_companies: HashMap<CompanyId, Numbered>,
    of_all: Numbered,
}

impl Table {
    /// The listeners of a company, or those of all.
    fn listeners_of(&mut self, company: Option<CompanyId>) -> &mut Numbered {
        match company {
            Some(company) => self.of_companies.entry(company).or_default(),
            None => &mut self.of_all,
        }
    }
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

    /// True while somebody listens to one company, and waits for its events.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(dead_code, reason = "only a relay between servers asks")
    )]
    pub(super) fn is_any_of_one(&self) -> bool {
        self.inner.of_one.load(Ordering::SeqCst) > 0
    }

    /// Notifies the listeners of these companies.
    pub(super) fn notify(&self, companies: &[CompanyId]) {
        if companies.is_empty() || self.inner.count.load(Ordering::SeqCst) == 0 {
            return;
        }
        let table = self.inner.table();
        let own = companies.iter().filter_map(|it| table.of_companies.get(it));
        for (_, listener) in own.flatten().chain(&table.of_all) {
            listener.notify();
        }
    }

    fn add(
        &self,
        company: Option<CompanyId>,
        listener: Arc<dyn EventListener>,
    ) -> Box<dyn EventSubscription> {
        let mut table = self.inner.table();
        table.last_number += 1;
        let number = table.last_number;
        table.listeners_of(company).push((number, listener));
        self.inner.count.fetch_add(1, Ordering::SeqCst);
        let of_one = usize::from(company.is_some());
        self.inner.of_one.fetch_add(of_one, Ordering::SeqCst);
        Box::new(Subscription {
            inner: Arc::clone(&self.inner),
            company,
            number,
        })
    }

    /// Notifies everybody: something may have been missed.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(dead_code, reason = "only a relay between servers loses anything")
    )]
    pub(super) fn notify_all(&self) {
        let table = self.inner.table();
        let own = table.of_companies.values();
        for (_, listener) in own.flatten().chain(&table.of_all) {
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
        self.add(Some(company), listener)
    }

    fn subscribe_to_all(&self, listener: Arc<dyn EventListener>) -> Box<dyn EventSubscription> {
        self.add(None, listener)
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
    company: Option<CompanyId>,
    number: u64,
}

impl EventSubscription for Subscription {}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut table = self.inner.table();
        let listeners = table.listeners_of(self.company);
        listeners.retain(|(number, _)| *number != self.number);
        let is_empty = listeners.is_empty();
        if let Some(company) = self.company {
            if is_empty {
                table.of_companies.remove(&company);
            }
            self.inner.of_one.fetch_sub(1, Ordering::SeqCst);
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

    #[test]
    fn who_listens_to_all_hears_of_each_company_once() {
        let feed = Listeners::default();
        let [one, other] = [1, 2].map(company);
        let heard = Arc::new(Counted::default());
        let count = || heard.0.load(Ordering::SeqCst);
        let subscription = feed.subscribe_to_all(heard.clone());
        assert!(feed.is_any() && !feed.is_any_of_one());
        feed.notify(&[one]);
        assert_eq!(count(), 1);
        feed.notify(&[one, other]);
        assert_eq!(count(), 2);
        feed.notify_all();
        assert_eq!(count(), 3);
        let of_one = feed.subscribe(one, heard.clone());
        assert!(feed.is_any_of_one());
        drop((subscription, of_one));
        feed.notify(&[one]);
        assert_eq!(count(), 3);
        assert!(!feed.is_any() && !feed.is_any_of_one());
    }
}
