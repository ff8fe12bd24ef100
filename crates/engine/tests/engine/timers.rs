use std::time::Duration;

use serde_json::json;
use workforce_app::Failure;
use workforce_app::activity_log::document;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::id::AgentId;
use workforce_domain::timer::{Timer, TimerSetting};
use workforce_domain::wake::{WakeReason, WakeSource};
use workforce_engine::EngineConfig;

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

/// An engine that looks where something changed, or comes to be due, and not again for an hour.
fn patient(house: &House) -> EngineConfig {
    let mut config = house.config();
    config.poll_every = Duration::from_secs(3600);
    config
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timer_rests_until_something_waits_and_nobody_has_to_say_so() {
    let house = House::new();
    let engine = house.start_with(patient(&house));
    let agent = house.hire_with(shell("true"), |command| {
        command.runtime_config =
            document(json!({ "heartbeat": { "intervalSec": 3600, "wakeOnDemand": false } }));
    });
    let resting = eventually("a timer that rests", || {
        Some(timer(&house, agent)).filter(|timer| timer.rests)
    })
    .await;
    house.assign(agent, |_| ());
    let awake = eventually("a timer that beats", || {
        Some(timer(&house, agent)).filter(|timer| !timer.rests)
    })
    .await;
    assert_eq!(
        awake,
        Timer {
            rests: false,
            ..resting
        }
    );
    engine.shutdown().await;
    assert!(house.runs(&[]).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_beat_comes_at_its_instant_though_nothing_changes() {
    let house = House::new();
    let agent = house.hire_with(shell("true"), |command| {
        command.runtime_config =
            document(json!({ "heartbeat": { "intervalSec": 3600, "alwaysRun": true } }));
    });
    let due = house.act(|tx, ctx| {
        let Some(held) = tx.agents_mut().lock(House::scope(), agent)? else {
            return Err(Failure::Refused(()));
        };
        let setting = TimerSetting {
            next: Some(ctx.now.plus(Duration::from_secs(2))),
            ..TimerSetting::default()
        };
        tx.engine_mut().set_timer(&held, &setting)?;
        Ok(setting.next)
    });
    let engine = house.start_with(patient(&house));
    let runs = eventually("a run", || {
        Some(house.runs(&[])).filter(|runs| !runs.is_empty())
    })
    .await;
    assert!(Some(runs[0].created_at) >= due);
    house.all_ended().await;
    engine.shutdown().await;
}
