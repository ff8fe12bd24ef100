//! Commits whose connection is lost before they are answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use workforce_domain::port::{EventListener, Failure, Store, StoreError};
use workforce_infra::store::{OpenOptions, open};
use workforce_testkit::postgres::{
    Cut, Proxy, Stop, TestDatabase, migrated_database, own_cluster, shared_cluster_url,
};

use crate::company::{Never, company, find_company, store_company, store_error};
use crate::journal::event;

/// A store that reaches its database by a line that can be cut.
struct Reached {
    store: Arc<dyn Store>,
    line: Proxy,
    _database: TestDatabase,
}

impl Reached {
    fn on(cluster_url: &str) -> Self {
        let database = migrated_database(cluster_url);
        let line = Proxy::to(database.url());
        let store = open(&line.url().parse().unwrap(), &OpenOptions::default()).unwrap();
        Self {
            store,
            line,
            _database: database,
        }
    }

    fn shared() -> Option<Self> {
        shared_cluster_url().map(|url| Self::on(&url))
    }
}

#[derive(Default)]
struct Calls(AtomicUsize);

impl EventListener for Calls {
    fn notify(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_commit_that_never_arrived_is_told_as_undone() {
    let Some(reached) = Reached::shared() else {
        return;
    };
    for (prefix, cut) in [("CUT", Cut::BeforeServer), ("OPN", Cut::Unnoticed)] {
        let new = company(prefix);
        reached.line.cut_commit_of(prefix, cut);
        let error = store_error(store_company(&*reached.store, &new).unwrap_err());
        assert!(
            matches!(error, StoreError::Unavailable(_)),
            "{cut:?}: {error:?}"
        );
        assert_eq!(find_company(&*reached.store, new.id), None, "{cut:?}");
        // Nothing holds its locks any more.
        store_company(&*reached.store, &new).unwrap();
        assert_eq!(find_company(&*reached.store, new.id), Some(new), "{cut:?}");
    }
}

#[test]
fn a_commit_whose_answer_was_lost_is_told_as_done() {
    let Some(reached) = Reached::shared() else {
        return;
    };
    let (store, line) = (&*reached.store, &reached.line);
    // Without events, the number of the transaction is asked for.
    let new = company("ONE");
    line.cut_commit_of("ONE", Cut::BeforeClient);
    store_company(store, &new).unwrap();
    assert_eq!(find_company(store, new.id), Some(new.clone()));
    // With events it comes with theirs, and who listens is told.
    let calls = Arc::<Calls>::default();
    let _subscription = store.feed().subscribe(new.id, calls.clone());
    let before = calls.0.load(Ordering::SeqCst);
    line.cut_commit_of("123454321", Cut::BeforeClient);
    let outcome: Result<(), Never> = store.write(|tx| {
        tx.journal().event(event(&new, 123_454_321));
        Ok(())
    });
    outcome.unwrap();
    assert!(calls.0.load(Ordering::SeqCst) > before);
}

#[test]
fn after_a_crash_nobody_knows_and_after_a_restart_somebody_does() {
    let Some(mut cluster) = own_cluster() else {
        return;
    };
    let reached = Reached::on(cluster.url());
    let (store, line) = (&*reached.store, &reached.line);
    for (prefix, cut, stop) in [
        ("AAA", Cut::BeforeClient, Stop::Fast),
        ("BBB", Cut::BeforeServer, Stop::Fast),
        ("CCC", Cut::BeforeClient, Stop::Immediate),
        ("DDD", Cut::BeforeServer, Stop::Immediate),
    ] {
        let new = company(prefix);
        line.cut_off_at_commit_of(prefix, cut);
        let outcome = thread::scope(|scope| {
            let writing = scope.spawn(|| store_company(store, &new));
            line.wait_for_cut();
            cluster.restart(stop).unwrap();
            line.mend();
            writing.join().unwrap()
        });
        let is_stored = cut == Cut::BeforeClient;
        match (stop, outcome.map_err(store_error)) {
            (Stop::Fast, Ok(())) => assert!(is_stored),
            (Stop::Fast, Err(StoreError::Unavailable(_))) => assert!(!is_stored),
            (Stop::Immediate, Err(StoreError::OutcomeUnknown(_))) => {}
            (_, other) => panic!("{cut:?} {stop:?}: {other:?}"),
        }
        assert_eq!(find_company(store, new.id).is_some(), is_stored);
    }
}

#[test]
fn a_transaction_that_goes_on_after_a_failure_is_not_told_as_done() {
    let Some(reached) = Reached::shared() else {
        return;
    };
    let store = &*reached.store;
    let (first, second) = (company("AAA"), company("AAA"));
    store_company(store, &first).unwrap();
    let outcome: Result<(), Never> = store.write(|tx| {
        // The prefix is taken.
        assert!(tx.companies_mut().insert(second.clone()).is_err());
        Ok(())
    });
    assert!(matches!(outcome, Err(Failure::Store(_))), "{outcome:?}");
    assert_eq!(find_company(store, second.id), None);
}
