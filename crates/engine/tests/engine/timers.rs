use std::time::Duration;

use serde_json::json;
use workforce_app::Failure;
use workforce_app::activity_log::document;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::id::AgentId;
use workforce_domain::timer::{Timer, TimerSetting};
use workforce_domain::wake::{WakeReason, WakeSource};

use crate::support::{House, eventually, shell};

fn timer(house: &House, agent: AgentId) -> Timer {
    house.act(|tx, _| {
        let Some(found) = tx.agents().find(House::scope(), agent)? else {
            return Err(Failure::Refused(()));
        };
        Ok(tx.agents().timer(found.scope(), agent)?.unwrap_or_default())
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timer_is_set_and_a_due_one_starts_a_run() {
    let house = House::new();
    let agent = house.hire_with(shell("true"), |command| {
        command.runtime_config =
            document(json!({ "heartbeat": { "intervalSec": 3600, "alwaysRun": true } }));
    });
    let engine = house.start();
    let next = eventually("the next beat", || timer(&house, agent).next).await;
    assert!(next > house.ports.clock.now());
    // As if the interval had passed.
    house.act(|tx, ctx| {
        let Some(held) = tx.agents_mut().lock(House::scope(), agent)? else {
            return Err(Failure::Refused(()));
        };
        let past = ctx.now.minus(Duration::from_secs(1));
        let due = TimerSetting {
            next: Some(past),
            ..TimerSetting::default()
        };
        Ok(tx.engine_mut().set_timer(&held, &due)?)
    });
    let runs = eventually("a run", || {
        Some(house.runs(&[])).filter(|runs| !runs.is_empty())
    })
    .await;
    assert_eq!(
        (runs[0].agent, runs[0].source, runs[0].reason),
        (agent, WakeSource::Timer, WakeReason::HeartbeatTimer)
    );
    house.all_ended().await;
    assert_eq!(house.runs(&[]).len(), 1);
    assert!(
        timer(&house, agent)
            .next
            .is_some_and(|next| next > house.ports.clock.now())
    );
    engine.shutdown().await;
}
