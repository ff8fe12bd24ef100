use std::time::Duration;

use workforce_app::Failure;
use workforce_app::activity_log::document;
use workforce_domain::activity::{Event, EventKind};
use workforce_domain::actor::{Actor, InstanceScope};
use workforce_domain::port::NumberedEvent;

use crate::support::{House, eventually};

fn events(house: &House) -> Vec<NumberedEvent> {
    let scope = Actor::System.enter(house.company).expect("a company");
    house.act(|tx, _| Ok::<_, Failure<()>>(tx.activity().events(scope, 0, 10_000)?))
}

#[tokio::test(flavor = "multi_thread")]
async fn output_is_told_of_by_where_it_begins() {
    let house = House::new();
    let done = house.path("go");
    let script = format!(
        "echo 0123456789; while [ ! -e {0} ]; do sleep 0.05; done; echo more",
        done.display()
    );
    let agent = house.hire_shell(&script);
    let engine = house.start();
    let run = house.invoke(agent).run;
    let told = eventually("the event of its output", || {
        events(&house)
            .into_iter()
            .find(|told| told.event.kind == EventKind::RunLog)
    })
    .await;
    assert_eq!(told.event.payload["runId"], run.id.to_string());
    assert_eq!(told.event.payload["offset"], 0);
    assert_eq!(told.event.payload.len(), 2);
    house.go();
    house.ended(run.id).await;
    let count = |house: &House| {
        events(house)
            .iter()
            .filter(|told| told.event.kind == EventKind::RunLog)
            .count()
    };
    assert!(
        count(&house) <= 2,
        "it is told of output, not of looking at it"
    );
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_kept_for_a_week() {
    let house = House::new();
    let now = house.ports.clock.now();
    house.act(|tx, _| {
        // That of the company itself is young.
        tx.engine_mut()
            .delete_events(InstanceScope::SYSTEM, now, 0, 100)?;
        Ok::<_, Failure<()>>(())
    });
    house.act(|tx, _| {
        for days in [9, 8, 6] {
            tx.journal().event(Event {
                company: house.company,
                kind: EventKind::BudgetAlert,
                payload: document(serde_json::json!({ "days": days })),
                created_at: now.minus(Duration::from_secs(days * 24 * 3600)),
            });
        }
        Ok::<_, Failure<()>>(())
    });
    let engine = house.start();
    let kept = eventually("the end of the old ones", || {
        let kept = events(&house);
        (kept.len() == 1).then_some(kept)
    })
    .await;
    assert_eq!(kept[0].event.payload["days"], 6);
    engine.shutdown().await;
}
