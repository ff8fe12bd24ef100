//! Whether an agent may be woken: shared by those who wake it, taken away by those who stop it.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use diesel::sql_types::BigInt;
use diesel::{Connection, PgConnection, QueryableByName, RunQueryDsl, sql_query};
use workforce_domain::actor::Scope;
use workforce_domain::agent::{Agent, AgentLifecycle};
use workforce_domain::company::{CompanyStatus, PauseReason};
use workforce_domain::id::RunId;
use workforce_domain::port::{Shared, StopScope, StoreError, Tx};
use workforce_testkit::on_both_databases;
use workforce_testkit::store::{TestStore, postgres_store};

use crate::world::{World, later, lock_agent, now, wake, write};

/// Whether an agent may be woken now.
fn may_be_woken(world: &World<'_>, agent: &Agent) -> bool {
    world.write(|tx| {
        let wakeable = tx.runs_mut().share_wakeability(world.scope(), agent.id)?;
        if let Some(wakeable) = wakeable {
            assert_eq!(
                (wakeable.company(), wakeable.agent()),
                (world.scope(), agent.id)
            );
        }
        Ok(wakeable.is_some())
    })
}

on_both_databases! {
    #![beneath_the_rules]

    fn the_employed_of_a_working_company_may_be_woken(store: &TestStore) {
        let (world, other) = (World::new(store), World::new(store));
        for (lifecycle, expected) in [
            (AgentLifecycle::ENABLED.pause(PauseReason::Manual, now()).unwrap(), true),
            (AgentLifecycle::DRAFT, false),
            (AgentLifecycle::ENABLED.terminate(now()).unwrap(), false),
            (AgentLifecycle::ENABLED, true),
        ] {
            world.change_agent(&world.agent, |agent| agent.lifecycle = lifecycle);
            assert_eq!(may_be_woken(&world, &world.agent), expected, "{lifecycle:?}");
        }
        for (status, expected) in [
            (CompanyStatus::Paused, false),
            (CompanyStatus::Archived, false),
            (CompanyStatus::Active, true),
        ] {
            world.change_company(|company| {
                company.lifecycle = company.lifecycle.transition_to(status, now()).unwrap();
            });
            assert_eq!(may_be_woken(&world, &world.agent), expected, "{status:?}");
        }
        assert!(!may_be_woken(&world, &other.agent), "it is of another company");
    }
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    n: i64,
}

/// Waits until another transaction waits for a lock.
fn wait_for_a_waiter(store: &TestStore) {
    let mut connection = PgConnection::establish(store.connection()).unwrap();
    let limit = Instant::now() + Duration::from_secs(60);
    loop {
        let waiting: Count = sql_query(
            "SELECT count(*) AS n FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock'",
        )
        .get_result(&mut connection)
        .unwrap();
        if waiting.n > 0 {
            return;
        }
        assert!(Instant::now() < limit, "nobody waits");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Runs `first` in a transaction, and `second` in another that begins meanwhile and must wait for
/// the end of it; what each found.
pub(crate) fn one_after_the_other<A: Send, B: Send>(
    store: &TestStore,
    mut first: impl FnMut(&mut dyn Tx) -> Result<A, StoreError>,
    second: impl FnMut(&mut dyn Tx) -> Result<B, StoreError> + Send,
) -> (A, B) {
    let (begun, has_begun) = mpsc::channel();
    thread::scope(|scope| {
        let later = scope.spawn(move || {
            has_begun.recv().expect("the first begins");
            write(&**store, second)
        });
        let before = write(&**store, |tx| {
            let found = first(tx)?;
            begun.send(()).expect("the second waits for it");
            wait_for_a_waiter(store);
            Ok(found)
        });
        (before, later.join().expect("it ends well"))
    })
}

/// Stops an agent or all of its company, and cancels what waits.
fn stop(tx: &mut dyn Tx, world: &World<'_>, stop: StopScope) -> Result<Vec<RunId>, StoreError> {
    if stop == StopScope::Company {
        let company = tx.companies_mut().lock(Scope::SYSTEM, world.company.id)?;
        let mut company = company.expect("it exists");
        company.lifecycle = company
            .lifecycle
            .transition_to(CompanyStatus::Paused, later(1))
            .unwrap();
        tx.companies_mut().save(&company)?;
    } else {
        let mut agent = lock_agent(tx, &world.agent)?;
        agent.lifecycle = AgentLifecycle::ENABLED.terminate(later(1)).unwrap();
        tx.agents_mut().save(&agent)?;
    }
    tx.runs_mut().cancel_pending(world.scope(), stop, later(1))
}

/// Each way in which the agent of a world can be stopped.
fn stops(world: &World<'_>) -> [StopScope; 2] {
    [StopScope::Agent(world.agent.id), StopScope::Company]
}

#[test]
fn who_stops_an_agent_waits_for_who_wakes_it_and_finds_the_wake() {
    let Some(store) = postgres_store() else {
        return;
    };
    store.is_beneath_the_rules();
    for way in 0..2 {
        let world = World::new(&store);
        let way = stops(&world)[way];
        let (wake, run) = wake(&world.agent, None);
        let ((), cancelled) = one_after_the_other(
            &store,
            |tx| crate::world::queue(tx, &wake, &run),
            |tx| stop(tx, &world, way),
        );
        assert_eq!(cancelled, [run.id], "{way:?}");
        assert!(!may_be_woken(&world, &world.agent), "{way:?}");
    }
}

#[test]
fn nobody_wakes_an_agent_that_is_being_stopped() {
    let Some(store) = postgres_store() else {
        return;
    };
    store.is_beneath_the_rules();
    for way in 0..2 {
        let world = World::new(&store);
        let way = stops(&world)[way];
        let (_, pending) = world.queue(&world.agent, None);
        let (cancelled, wakeable) = one_after_the_other(
            &store,
            |tx| stop(tx, &world, way),
            |tx| {
                tx.runs_mut()
                    .share_wakeability(world.scope(), world.agent.id)
            },
        );
        assert_eq!(cancelled, [pending.id], "{way:?}");
        assert_eq!(wakeable, None, "{way:?}");
    }
}

#[test]
fn many_wake_an_agent_at_once_and_others_while_it_is_stopped() {
    let Some(store) = postgres_store() else {
        return;
    };
    store.is_beneath_the_rules();
    let (world, other) = (World::new(&store), World::new(&store));
    let colleague = world.hire();
    let shared = world.write(|tx| {
        let wakeable = tx
            .runs_mut()
            .share_wakeability(world.scope(), world.agent.id)?;
        Ok(wakeable.is_some() && may_be_woken(&world, &world.agent))
    });
    assert!(shared, "neither waits for the other");
    world.write(|tx| {
        stop(tx, &world, StopScope::Agent(world.agent.id))?;
        assert!(may_be_woken(&world, &colleague));
        Ok(())
    });
    world.write(|tx| {
        stop(tx, &world, StopScope::Company)?;
        assert!(may_be_woken(&other, &other.agent));
        Ok(())
    });
}

#[test]
fn who_changes_an_agent_waits_for_who_shares_it() {
    let Some(store) = postgres_store() else {
        return;
    };
    store.is_beneath_the_rules();
    let world = World::new(&store);
    let share = |tx: &mut dyn Tx| -> Result<bool, StoreError> {
        let shared = tx.agents_mut().share(world.scope(), world.agent.id)?;
        Ok(shared.and_then(Shared::employed).is_some())
    };
    let terminate = |tx: &mut dyn Tx| -> Result<(), StoreError> {
        let mut held = lock_agent(tx, &world.agent)?;
        held.lifecycle = AgentLifecycle::ENABLED.terminate(later(1)).unwrap();
        tx.agents_mut().save(&held)
    };
    let together = world.write(|tx| Ok(share(tx)? && write(&*store, share)));
    assert!(together, "neither waits for the other");
    let (employed, ()) = one_after_the_other(&store, share, terminate);
    assert!(employed);

    let world = World::new(&store);
    let report = world.hire();
    world.change_agent(&report, |agent| agent.reports_to = Some(world.agent.id));
    let (locked, employed) = one_after_the_other(
        &store,
        |tx| {
            let manager = lock_agent(tx, &world.agent)?;
            let mut reports = tx.agents_mut().lock_reports_of(&manager)?;
            for report in &mut reports {
                report.lifecycle = AgentLifecycle::ENABLED.terminate(later(1)).unwrap();
                tx.agents_mut().save(report)?;
            }
            Ok(reports.len())
        },
        |tx| {
            let shared = tx.agents_mut().share(world.scope(), report.id)?;
            Ok(shared.expect("it exists").employed().is_some())
        },
    );
    assert_eq!((locked, employed), (1, false));
}
