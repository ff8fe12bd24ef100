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
    let first = timer(&world, &agent).next.unwrap();
    world.advance(first.since(world.now()));
    for beats in 1..=3 {
        assert_eq!(seen(&world, &agent).suppressed, beats);
        world.advance(MINUTE);
        world.check_timers();
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
        ..new_agent("Lazy")
    };
    let lazy = world.hired_with(agent.company, &lazy);
    world.check_timers();
    a_beat_later(&world);
    for (agent, wakes) in [(&keen, 1), (&ceo, 1), (&lazy, 0)] {
        assert_eq!(world.pending_wakes(agent).len(), wakes, "{}", agent.name);
    }
}

/// The timer as anybody is told.
fn seen(world: &World, agent: &Agent) -> Timer {
    timer(world, agent).seen_at(world.now())
}

#[test]
fn nothing_is_written_about_an_agent_that_rests() {
    let world = World::sqlite();
    let agent = hired(&world, &json!({ "intervalSec": 60 }));
    world.check_timers();
    let stored = timer(&world, &agent);
    assert!(stored.rests && stored.next.is_some_and(|next| next > world.now()));
    // The first beat has a jitter, and the others follow from it.
    world.advance(stored.next.unwrap().since(world.now()));
    for _ in 0..100 {
        let before = seen(&world, &agent);
        world.advance(MINUTE);
        world.check_timers();
        assert_eq!(timer(&world, &agent), stored);
        let after = seen(&world, &agent);
        assert_eq!(after.suppressed, before.suppressed + 1);
        assert_eq!(after.next, before.next.map(|next| next.plus(MINUTE)));
    }
}

#[test]
fn work_that_comes_in_between_makes_the_next_beat_happen() {
    let world = World::sqlite();
    let agent = hired(&world, &json!({ "intervalSec": 60, "wakeOnDemand": false }));
    world.check_timers();
    world.advance(MINUTE * 10 + MINUTE / 4);
    world.check_timers();
    let told = seen(&world, &agent);
    world.todo_for(&agent, "Work");
    assert!(world.pending_wakes(&agent).is_empty());
    world.check_timers();
    assert_eq!(
        seen(&world, &agent),
        Timer {
            rests: false,
            ..told
        }
    );
    let next = told.next.unwrap();
    world.advance(next.since(world.now()) - Duration::from_millis(1));
    world.check_timers();
    assert!(world.pending_wakes(&agent).is_empty());
    world.advance(Duration::from_millis(1));
    world.check_timers();
    world.check_timers();
    let wakes = world.pending_wakes(&agent);
    assert_eq!((wakes.len(), wakes[0].count), (1, 1));
    assert_eq!(timer(&world, &agent).suppressed, told.suppressed);
}

#[test]
fn a_beat_that_came_since_somebody_looked_is_not_lost() {
    let world = World::sqlite();
    let agent = hired(&world, &json!({ "intervalSec": 60, "wakeOnDemand": false }));
    world.check_timers();
    world.advance(MINUTE * 10);
    world.todo_for(&agent, "Work");
    let looked_at = world.now();
    world.advance(MINUTE);
    world.check_timers_since(Some(looked_at));
    world.check_timers_since(Some(looked_at));
    let wakes = world.pending_wakes(&agent);
    assert_eq!((wakes.len(), wakes[0].count), (1, 1));
    // Nor by a server that has just started, and does not beat twice.
    let late = hired(&world, &json!({ "intervalSec": 60, "wakeOnDemand": false }));
    world.check_timers();
    world.advance(MINUTE * 60);
    world.todo_for(&late, "Work");
    for _ in 0..2 {
        world.check_timers_since(None);
        let wakes = world.pending_wakes(&late);
        assert_eq!((wakes.len(), wakes[0].count), (1, 1));
    }
}

#[test]
fn an_agent_that_rests_is_woken_at_its_next_beat_once_it_always_runs() {
    let world = World::sqlite();
    let agent = hired(&world, &json!({ "intervalSec": 60 }));
    world.check_timers();
    world.advance(MINUTE * 10 + MINUTE / 4);
    let told = seen(&world, &agent);
    let change = UpdateAgent {
        runtime_config: Some(document(
            json!({ "heartbeat": { "intervalSec": 60, "alwaysRun": true } }),
        )),
        ..UpdateAgent::default()
    };
    done(change_agent(world.board(), agent.id, &change));
    world.check_timers();
    assert_eq!(
        seen(&world, &agent),
        Timer {
            rests: false,
            ..told
        }
    );
    a_beat_later(&world);
    assert_eq!(world.pending_wakes(&agent).len(), 1);
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
