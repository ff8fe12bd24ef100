//! The timer of an agent that is hired with the board's approval.

use std::time::Duration;

use serde_json::json;
use workforce_app::activity_log::document;
use workforce_app::agents::{self, CreateAgent};
use workforce_app::approvals::{self, ApprovalView, Decide, HireAgent};
use workforce_app::companies::CreateCompany;
use workforce_domain::agent::Agent;
use workforce_domain::timer::Timer;
use workforce_domain::wake::WakeSource;
use workforce_testkit::on_both_databases;
use workforce_testkit::world::{World, done, new_agent, new_company};

use crate::desk::decided;

const MINUTE: Duration = Duration::from_secs(60);

/// A draft with a timer of a minute, and the approval that decides on it.
fn proposed(world: &World) -> (Agent, ApprovalView) {
    let careful = CreateCompany {
        require_board_approval_for_new_agents: Some(true),
        ..new_company("Acme")
    };
    let company = world.company_with(&careful).id;
    let command = HireAgent {
        agent: CreateAgent {
            runtime_config: document(json!({
                "heartbeat": { "intervalSec": 60, "alwaysRun": true },
            })),
            ..new_agent("Ada")
        },
        source_issues: Vec::new(),
    };
    let hired = done(
        world
            .board()
            .write(|tx, ctx| approvals::hire(tx, ctx, company, command.clone())),
    );
    (hired.agent.view.agent, hired.approval.unwrap())
}

/// The timer as it is shown.
fn timer(world: &World, agent: &Agent) -> Timer {
    done(
        world
            .board()
            .read(|reads, ctx| agents::runtime_state(reads, ctx, agent.id)),
    )
    .timer
}

/// How many beats wait to be answered.
fn beats(world: &World, agent: &Agent) -> usize {
    let wakes = world.pending_wakes(agent);
    let of_timer = wakes.iter().filter(|wake| wake.source == WakeSource::Timer);
    of_timer.count()
}

/// Longer than the interval with its jitter.
fn a_beat_later(world: &World) {
    world.advance(MINUTE + MINUTE / 5);
    world.check_timers();
}

on_both_databases! {
    fn an_approved_draft_gets_its_timer_and_loses_it_with_its_work(store: &TestStore) {
        let world = World::on(store);
        let (ada, approval) = proposed(&world);
        a_beat_later(&world);
        assert_eq!(timer(&world, &ada), Timer::default());

        let board = world.board();
        done(decided(board, approvals::approve, approval.approval.id, &Decide::default()));
        world.check_timers();
        let next = timer(&world, &ada).next_tick().unwrap();
        let wait = next.since(world.now());
        assert!(wait >= MINUTE * 9 / 10 && wait <= MINUTE * 11 / 10, "{wait:?}");
        assert_eq!(beats(&world, &ada), 0);
        a_beat_later(&world);
        assert_eq!(beats(&world, &ada), 1);

        // Nobody has to look for it to be off.
        done(board.write(|tx, ctx| agents::pause(tx, ctx, ada.id)));
        assert_eq!(timer(&world, &ada).next_tick(), None);
        a_beat_later(&world);
        assert_eq!(timer(&world, &ada), Timer::default());
        done(board.write(|tx, ctx| agents::resume(tx, ctx, ada.id, false)));
        world.check_timers();
        assert!(timer(&world, &ada).next_tick().is_some_and(|next| next > world.now()));
        done(board.write(|tx, ctx| agents::terminate(tx, ctx, ada.id)));
        assert_eq!(timer(&world, &ada).next_tick(), None);
        a_beat_later(&world);
        assert_eq!(timer(&world, &ada), Timer::default());
        assert_eq!(beats(&world, &ada), 0);
    }

    fn a_draft_that_is_turned_down_never_has_a_timer(store: &TestStore) {
        let world = World::on(store);
        let (ada, approval) = proposed(&world);
        done(decided(world.board(), approvals::reject, approval.approval.id, &Decide::default()));
        a_beat_later(&world);
        assert_eq!(timer(&world, &ada), Timer::default());
        assert_eq!(beats(&world, &ada), 0);
    }
}
