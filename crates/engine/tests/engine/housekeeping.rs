use std::time::Duration;

use workforce_app::Failure;
use workforce_domain::agent::AgentLifecycle;
use workforce_domain::company::PauseReason;
use workforce_domain::port::KeptAnswer;

use crate::support::{House, eventually};

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_kept_for_a_day() {
    let house = House::new();
    let now = house.ports.clock.now();
    let hours = |hours: u64| now.minus(Duration::from_secs(hours * 3600));
    for (key, created_at) in [("old", hours(25)), ("new", hours(23))] {
        let answer = KeptAnswer {
            caller: "board".into(),
            key: key.into(),
            request_digest: [0; 32],
            status: 200,
            body: b"{}".to_vec(),
            sealed: false,
            created_at,
        };
        house.act(|tx, _| Ok::<_, Failure<()>>(tx.idempotency().keep(&answer)?));
    }
    let engine = house.start();
    let find = |key| {
        house.act(|tx, _| Ok::<_, Failure<()>>(tx.idempotency().find("board", key, hours(100))?))
    };
    eventually("the old answer's end", || {
        find("old").is_none().then_some(())
    })
    .await;
    assert!(find("new").is_some());
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_stop_without_a_reason_in_this_month_is_lifted() {
    let house = House::new();
    let lifecycle = |reason| AgentLifecycle::Paused {
        reason,
        at: house.ports.clock.now(),
    };
    let paused = |reason| {
        let agent = house.hire_shell("true");
        house.act(|tx, _| {
            let Some(mut held) = tx.agents_mut().lock(House::scope(), agent)? else {
                return Err(Failure::Refused(()));
            };
            held.lifecycle = lifecycle(reason);
            Ok(tx.agents_mut().save(&held)?)
        });
        agent
    };
    let (by_budget, by_board) = (paused(PauseReason::Budget), paused(PauseReason::Manual));
    let lifecycle_of = |agent| {
        house
            .act(|tx, _| Ok::<_, Failure<()>>(tx.agents().find(House::scope(), agent)?))
            .expect("an agent")
            .lifecycle
    };
    let engine = house.start();
    eventually("the lifting", || {
        (lifecycle_of(by_budget) == AgentLifecycle::Enabled).then_some(())
    })
    .await;
    assert!(matches!(
        lifecycle_of(by_board),
        AgentLifecycle::Paused { .. }
    ));
    engine.shutdown().await;
}
