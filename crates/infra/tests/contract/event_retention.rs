//! Events are kept for a while: the oldest go first, and no gap is left
//! (docs/events.md#retention).

use workforce_domain::Document;
use workforce_domain::activity::{Event, EventKind};
use workforce_domain::actor::InstanceScope;
use workforce_domain::port::EventSpan;
use workforce_domain::time::Timestamp;
use workforce_testkit::on_both_databases;

use crate::world::{World, later, now};

fn publish(world: &World<'_>, at: Timestamp, count: usize) {
    world.write(|tx| {
        for _ in 0..count {
            tx.journal().event(Event {
                company: world.company.id,
                kind: EventKind::ActivityLogged,
                payload: Document::new(),
                created_at: at,
            });
        }
        Ok(())
    });
}

fn span(world: &World<'_>) -> (i64, i64) {
    let EventSpan { oldest, latest } =
        world.read(|reads| reads.activity().event_span(world.scope()));
    (oldest, latest)
}

fn numbers(world: &World<'_>) -> Vec<i64> {
    let events = world.read(|reads| reads.activity().events(world.scope(), 0, 1000));
    events.iter().map(|event| event.sequence).collect()
}

on_both_databases! {
    #![beneath_the_rules]
    fn old_events_are_forgotten_in_batches(store: &TestStore) {
        let world = World::new(store);
        let quiet = World::new(store);
        publish(&world, now(), 5);
        publish(&world, later(100), 3);
        publish(&quiet, now(), 2);
        let forget = |limit| world.write(|tx| {
            tx.engine_mut().delete_events(InstanceScope::SYSTEM, later(50), 1000, limit)
        });
        assert_eq!(span(&world), (1, 8));
        assert_eq!(forget(3), 3);
        assert_eq!(forget(3), 3);
        assert_eq!(forget(3), 1);
        assert_eq!(forget(3), 0);
        assert_eq!((numbers(&world), span(&world)), (vec![6, 7, 8], (6, 8)));
        assert_eq!((numbers(&quiet), span(&quiet)), (vec![], (3, 2)));
        // Numbers go on where they were.
        publish(&quiet, later(60), 1);
        assert_eq!((numbers(&quiet), span(&quiet)), (vec![3], (3, 3)));
    }

    fn of_a_busy_company_only_the_latest_are_kept(store: &TestStore) {
        let world = World::new(store);
        publish(&world, now(), 10);
        let forget = |keep| world.write(|tx| {
            tx.engine_mut().delete_events(InstanceScope::SYSTEM, now(), keep, 100)
        });
        assert_eq!(forget(10), 0);
        assert_eq!(forget(4), 6);
        assert_eq!(numbers(&world), [7, 8, 9, 10]);
    }

    fn what_is_kept_is_told_apart(store: &TestStore) {
        let world = World::new(store);
        let follows = |after| {
            world
                .read(|reads| reads.activity().event_span(world.scope()))
                .follows(after)
        };
        assert!(follows(0) && !follows(1) && !follows(-1));
        publish(&world, now(), 4);
        world.write(|tx| tx.engine_mut().delete_events(InstanceScope::SYSTEM, now(), 2, 100));
        let kept: Vec<_> = (0..=5).filter(|after| follows(*after)).collect();
        assert_eq!(kept, [2, 3, 4]);
    }
}
