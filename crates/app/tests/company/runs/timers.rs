//! The timers of agents (docs/heartbeats.md#timers).

use std::time::Duration;

use serde_json::{Value, json};
use workforce_app::activity_log::document;
use workforce_app::agents::{CreateAgent, UpdateAgent};
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::Agent;
use workforce_domain::timer::Timer;
use workforce_domain::wake::{WakeReason, WakeSource};
use workforce_testkit::world::{World, done, new_agent};

use crate::support::{archive, cancel, change_agent, look, pause, resume, role};

const MINUTE: Duration = Duration::from_secs(60);

fn hired(world: &World, heartbeat: &Value) -> Agent {
    let command = CreateAgent {
        runtime_config: document(json!({ "heartbeat": heartbeat })),
        ..new_agent("Ada")
    };
    world.hired_with(world.company("Acme").id, &command)
}

fn timer(world: &World, agent: &Agent) -> Timer {
    look(world, |reads| reads.agents().timer(agent.scope(), agent.id)).unwrap()
}

/// Longer than the interval with its jitter.
fn a_beat_later(world: &World) {
    world.advance(MINUTE + MINUTE / 5);
    world.check_timers();
}

#[test]
fn a_beat_wakes_an_agent_that_has_work() {
    let world = World::sqlite();
    let agent = hired(&world, &json!({ "intervalSec": 60 }));
    world.todo_for(&agent, "Work");
    let run = world.stored_run(world.pending_wakes(&agent)[0].run);
    done(cancel(world.board(), &run));
    world.take_signal();
    world.check_timers();
    let next = timer(&world, &agent).next.unwrap();
    let wait = next.since(world.now());
    assert!(
        wait >= MINUTE * 9 / 10 && wait <= MINUTE * 11 / 10,
        "{wait:?}"
    );
    world.advance(MINUTE / 2);
    world.check_timers();
    assert!(world.pending_wakes(&agent).is_empty());
    world.advance(MINUTE);
    assert!(world.now() > next);
    world.check_timers();
    world.check_timers();
    let wakes = world.pending_wakes(&agent);
    assert_eq!(wakes.len(), 1);
    let wake = &wakes[0];
    assert_eq!(
        (wake.source, wake.issue, wake.count),
        (WakeSource::Timer, None, 1)
    );
    assert_eq!(wake.reasons, [WakeReason::HeartbeatTimer]);
    assert!(world.take_signal());
    // A server that was away for a day misses no beat and makes up for none.
    world.advance(MINUTE * 60 * 24);
    world.check_timers();
    assert_eq!(world.pending_wakes(&agent)[0].count, 2);
    assert_eq!(timer(&world, &agent).suppressed, 0);
}

#[test]
fn a_beat_of_an_idle_agent_is_counted_and_no_row_is_made() {
    let world = World::sqlite();
    let agent = hired(&world, &json!({ "intervalSec": 60 }));
    world.check_timers();
    for beats in 1..=3 {
        a_beat_later(&world);
        assert_eq!(timer(&world, &agent).suppressed, beats);
    }
    assert!(world.pending_wakes(&agent).is_empty());
    let keen = hired(&world, &json!({ "intervalSec": 60, "alwaysRun": true }));
    let ceo = CreateAgent {
        role: Some(role("ceo")),
        runtime_config: document(json!({ "heartbeat": { "intervalSec": 60 } })),
        ..new_agent("Chief")
    };
    let ceo = world.hired_with(agent.company, &ceo);
    let lazy = CreateAgent {
        role: Some(role("ceo")),
        runtime_config: document(json!({
            "heartbeat": { "intervalSec": 60, "alwaysRun": false }
        })),
        ..new_agent("Chief")
    };
    let lazy = world.hired_with(agent.company, &lazy);
    world.check_timers();
    a_beat_later(&world);
    for (agent, wakes) in [(&keen, 1), (&ceo, 1), (&lazy, 0)] {
        assert_eq!(world.pending_wakes(agent).len(), wakes, "{}", agent.name);
    }
}

#[test]
fn no_timer_beats_for_who_may_not_run() {
    let world = World::sqlite();
    let agent = hired(&world, &json!({ "intervalSec": 60, "alwaysRun": true }));
    let off = hired(
        &world,
        &json!({ "intervalSec": 60, "enabled": false, "alwaysRun": true }),
    );
    world.check_timers();
    assert_eq!(timer(&world, &off), Timer::default());
    done(pause(world.board(), agent.id));
    a_beat_later(&world);
    assert_eq!(timer(&world, &agent), Timer::default());
    done(resume(world.board(), agent.id));
    world.check_timers();
    assert!(
        timer(&world, &agent)
            .next
            .is_some_and(|next| next > world.now())
    );
    assert!(world.pending_wakes(&agent).is_empty());
    let change = UpdateAgent {
        runtime_config: Some(document(json!({ "heartbeat": { "intervalSec": 0 } }))),
        ..UpdateAgent::default()
    };
    let other = hired(&world, &json!({ "intervalSec": 60, "alwaysRun": true }));
    world.check_timers();
    done(change_agent(world.board(), other.id, &change));
    done(archive(world.board(), agent.company));
    a_beat_later(&world);
    assert_eq!(timer(&world, &other).next, None);
    assert!(world.pending_wakes(&other).is_empty() && world.pending_wakes(&agent).is_empty());
}
