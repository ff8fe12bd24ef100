//! Who is told of new events, and when (docs/events.md#numbering).

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use workforce_domain::Document;
use workforce_domain::activity::{Event, EventKind};
use workforce_domain::id::CompanyId;
use workforce_domain::port::EventListener;
use workforce_testkit::on_both_databases;
use workforce_testkit::store::postgres_store;

use crate::world::{World, id, now};

/// Nothing here takes nearly so long.
const PATIENCE: Duration = Duration::from_secs(20);

/// Passes on that it was woken.
struct Bell(Mutex<Sender<()>>);

impl EventListener for Bell {
    fn notify(&self) {
        self.0.lock().unwrap().send(()).ok();
    }
}

fn bell() -> (Arc<Bell>, Receiver<()>) {
    let (sender, receiver) = channel();
    (Arc::new(Bell(Mutex::new(sender))), receiver)
}

fn event(world: &World<'_>) -> Event {
    Event {
        company: world.company.id,
        kind: EventKind::ActivityLogged,
        payload: Document::new(),
        created_at: now(),
    }
}

fn cause(world: &World<'_>) {
    world.write(|tx| {
        tx.journal().event(event(world));
        Ok(())
    });
}

fn last_number(world: &World<'_>) -> usize {
    world
        .read(|reads| reads.activity().events(world.scope(), 0, 1000))
        .len()
}

on_both_databases! {
    #![beneath_the_rules]
    fn a_listener_is_woken_after_the_commit_of_events_of_its_company(store: &TestStore) {
        let world = World::new(store);
        let (listener, rung) = bell();
        let _place = store.feed().subscribe(world.company.id, listener);
        for count in 1..=3 {
            while rung.try_recv().is_ok() {}
            cause(&world);
            rung.try_recv().expect("it is told before the writer goes on");
            assert_eq!(last_number(&world), count);
        }
    }

    fn whoever_listens_to_a_company_that_goes_is_told(store: &TestStore) {
        let world = World::new(store);
        let (listener, rung) = bell();
        let _place = store.feed().subscribe(world.company.id, listener);
        while rung.try_recv().is_ok() {}
        world.write(|tx| {
            let company = tx.companies_mut().lock(world.scope().into(), world.company.id)?.unwrap();
            tx.companies_mut().delete(company)
        });
        rung.try_recv().unwrap();
    }
}

#[test]
fn servers_on_one_database_hear_of_each_other() {
    let Some(first) = postgres_store() else {
        return;
    };
    first.is_beneath_the_rules();
    let second = first.beside();
    let world = World::new(&first);
    let (listener, rung) = bell();
    let _place = second.feed().subscribe(world.company.id, listener);
    // It is woken when it begins to hear, since it may have missed something.
    rung.recv_timeout(PATIENCE).unwrap();
    let elsewhere: CompanyId = id();
    let (stranger, unheard) = bell();
    let _other = second.feed().subscribe(elsewhere, stranger);
    for _ in 0..3 {
        while rung.try_recv().is_ok() {}
        cause(&world);
        rung.recv_timeout(PATIENCE).unwrap();
    }
    assert!(unheard.try_recv().is_err());
}

#[test]
fn who_listens_to_all_hears_of_other_servers() {
    let Some(first) = postgres_store() else {
        return;
    };
    first.is_beneath_the_rules();
    let second = first.beside();
    let (listener, rung) = bell();
    let _place = second.feed().subscribe_to_all(listener);
    rung.recv_timeout(PATIENCE).unwrap();
    for _ in 0..2 {
        let world = World::new(&first);
        while rung.try_recv().is_ok() {}
        cause(&world);
        rung.recv_timeout(PATIENCE).unwrap();
    }
}
