//! Transactions that meet.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use workforce_domain::actor::Scope;
use workforce_domain::port::{Failure, StoreError};
use workforce_testkit::on_both_databases;
use workforce_testkit::store::postgres_store;

use crate::company::{Never, company, find_company, store_company, store_error};

#[derive(Debug, PartialEq, Eq)]
struct Refusal;

on_both_databases! {
    #![beneath_the_rules]
    fn who_was_answered_sees_what_was_written(store: &TestStore) {
        const WRITERS: u8 = 8;
        const COMPANIES: u8 = 12;
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                scope.spawn(move || {
                    for number in 0..COMPANIES {
                        let letters = [b'A' + writer, b'A' + number, b'X'];
                        let new = company(core::str::from_utf8(&letters).unwrap());
                        match number % 4 {
                            0 => {
                                let outcome = store.write(|tx| {
                                    tx.companies_mut().insert(new.clone())?;
                                    Err::<(), _>(Failure::Refused(Refusal))
                                });
                                assert!(matches!(outcome, Err(Failure::Refused(Refusal))));
                                assert_eq!(find_company(&**store, new.id), None);
                            }
                            1 => {
                                let panics = || {
                                    let _: Result<(), Never> = store.write(|tx| {
                                        tx.companies_mut().insert(new.clone())?;
                                        panic!("the rule is wrong")
                                    });
                                };
                                let panics = std::panic::AssertUnwindSafe(panics);
                                assert!(std::panic::catch_unwind(panics).is_err());
                                assert_eq!(find_company(&**store, new.id), None);
                            }
                            _ => {
                                store_company(&**store, &new).unwrap();
                                assert_eq!(find_company(&**store, new.id), Some(new));
                            }
                        }
                    }
                });
            }
        });
    }

    fn a_transaction_sees_its_own_writes_and_nobody_elses(store: &TestStore) {
        let new = company("ACM");
        let seen: Result<_, Never> = store.write(|tx| {
            tx.companies_mut().insert(new.clone())?;
            assert_eq!(find_company(&**store, new.id), None);
            Ok(tx.reads().companies().find(Scope::SYSTEM, new.id)?)
        });
        assert_eq!(seen.unwrap(), Some(new));
    }

    fn a_read_is_one_picture(store: &TestStore) {
        let new = company("ACM");
        let seen: Result<_, Never> = store.read(|reads| {
            let before = reads.companies().find(Scope::SYSTEM, new.id)?;
            if before.is_none() && find_company(&**store, new.id).is_none() {
                store_company(&**store, &new).unwrap();
            }
            Ok((before, reads.companies().find(Scope::SYSTEM, new.id)?))
        });
        assert_eq!(seen.unwrap(), (None, None));
        assert_eq!(find_company(&**store, new.id), Some(new));
    }

    fn who_always_loses_a_race_is_told_so(store: &TestStore) {
        store_company(&**store, &company("ACM")).unwrap();
        let runs = AtomicUsize::new(0);
        let second = company("ACM");
        let outcome: Result<(), Never> = store.write(|tx| {
            runs.fetch_add(1, Ordering::SeqCst);
            Ok(tx.companies_mut().insert(second.clone()).map(drop)?)
        });
        assert!(matches!(store_error(outcome.unwrap_err()), StoreError::Contended));
        assert!(runs.load(Ordering::SeqCst) > 2);
    }

    fn who_loses_a_race_runs_again_and_wins(store: &TestStore) {
        store_company(&**store, &company("ACM")).unwrap();
        let runs = AtomicUsize::new(0);
        let outcome: Result<(), Never> = store.write(|tx| {
            let is_first = runs.fetch_add(1, Ordering::SeqCst) == 0;
            let second = company(if is_first { "ACM" } else { "ACN" });
            Ok(tx.companies_mut().insert(second).map(drop)?)
        });
        outcome.unwrap();
        assert_eq!(runs.load(Ordering::SeqCst), 2);
    }
}

#[test]
fn two_who_wait_for_each_other_both_end_well() {
    let Some(store) = postgres_store() else {
        return;
    };
    let companies = [company("AAA"), company("BBB")];
    for it in &companies {
        store_company(&*store, it).unwrap();
    }
    let both_hold_one = Barrier::new(2);
    let runs = AtomicUsize::new(0);
    thread::scope(|scope| {
        for order in [[0, 1], [1, 0]] {
            let (store, companies, both_hold_one, runs) =
                (&store, &companies, &both_hold_one, &runs);
            scope.spawn(move || {
                let mut is_first = true;
                let outcome: Result<(), Never> = store.write(|tx| {
                    runs.fetch_add(1, Ordering::SeqCst);
                    for place in order {
                        let id = companies[place].id;
                        let mut held = tx
                            .companies_mut()
                            .lock(Scope::SYSTEM, id)?
                            .expect("it is stored");
                        if core::mem::take(&mut is_first) {
                            both_hold_one.wait();
                        }
                        held.max_concurrent_runs += 1;
                        tx.companies_mut().save(&held)?;
                    }
                    Ok(())
                });
                outcome.unwrap();
            });
        }
    });
    assert!(runs.load(Ordering::SeqCst) > 2, "one side was undone");
    for it in &companies {
        assert_eq!(find_company(&*store, it.id).unwrap().max_concurrent_runs, 6);
    }
}

#[test]
fn a_connection_that_was_closed_meanwhile_is_replaced() {
    let Some(store) = postgres_store() else {
        return;
    };
    let new = company("ACM");
    store_company(&*store, &new).unwrap();
    let mut raw = crate::raw::Raw::of(&store);
    let closed = raw.count(
        "SELECT count(pg_terminate_backend(pid)) AS n FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    assert!(closed > 0);
    assert_eq!(find_company(&*store, new.id), Some(new));
}
