//! Budgets hold although two servers start runs and book at the same time.

use std::sync::{Arc, Barrier};
use std::thread;

use workforce_domain::cost::BillingType;
use workforce_domain::money::Cents;
use workforce_domain::run::Run;
use workforce_testkit::on_both_databases;
use workforce_testkit::store::TestStore;
use workforce_testkit::world::World;

use super::reservations::{TOKENS_OF_A_CENT, crowd, tell, use_of};
use crate::support::{cents, company_view};

/// What one message costs at most, in cents.
const MESSAGE: i64 = 11;

/// Two servers on one database. SQLite lets only one have it, which then does both at once.
fn rivals(store: &TestStore) -> [World; 2] {
    let beside = if store.connection().starts_with("postgres") {
        store.beside()
    } else {
        store.shared()
    };
    [World::on(store), World::over(beside)]
}

/// Lets each server do something at the same time.
fn at_once<T: Send>(worlds: &[World; 2], deed: impl Fn(&World) -> T + Sync) -> Vec<T> {
    let barrier = Arc::new(Barrier::new(worlds.len()));
    thread::scope(|scope| {
        let threads: Vec<_> = worlds
            .iter()
            .map(|world| {
                let (barrier, deed) = (Arc::clone(&barrier), &deed);
                scope.spawn(move || {
                    barrier.wait();
                    deed(world)
                })
            })
            .collect();
        let joined = threads.into_iter().map(|thread| thread.join().unwrap());
        joined.collect()
    })
}

/// Lets runs use ten messages more than their budget has, each until it is asked to stop.
fn spend_all(world: &World, runs: &[Run]) {
    let message = use_of(10 * TOKENS_OF_A_CENT, None);
    let mut told = vec![Vec::new(); runs.len()];
    for _ in 0..20 {
        for (run, told) in runs.iter().zip(&mut told) {
            if world.stored_run(run.id).stop_reason.is_none() {
                told.push(message.clone());
                tell(world, run, BillingType::Api, false, told);
            }
        }
    }
}

on_both_databases! {
    fn twenty_runs_that_two_servers_start_at_once_never_overshoot(store: &TestStore) {
        let worlds = rivals(store);
        let company = crowd(&worlds[0], 125, 20)[0].company;
        let started = at_once(&worlds, |world| {
            let runs = world.start_all().into_iter();
            runs.map(|started| started.run).collect::<Vec<_>>()
        });
        assert_eq!(started.iter().map(Vec::len).sum::<usize>(), 5, "of {started:?}");
        let spend = company_view(&worlds[0], company).spend;
        assert_eq!((spend.actual, spend.held), (Cents::ZERO, cents("125")));

        let mut halves = started.into_iter().flatten().collect::<Vec<_>>();
        let other = halves.split_off(2);
        thread::scope(|scope| {
            scope.spawn(|| spend_all(&worlds[0], &halves));
            scope.spawn(|| spend_all(&worlds[1], &other));
        });
        let spend = company_view(&worlds[0], company).spend;
        let bound = cents(&(125 + 5 * MESSAGE).to_string());
        assert!(spend.actual >= cents("125") && spend.actual <= bound, "{spend:?}");
        for run in halves.iter().chain(&other) {
            assert!(worlds[0].stored_run(run.id).stop_reason.is_some(), "{run:?}");
        }
        assert!(at_once(&worlds, |world| world.start_all().len()).iter().all(|more| *more == 0));
    }
}
