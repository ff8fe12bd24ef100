//! Asking for runs, stopping them, and how they end (docs/heartbeats.md#invocations).

mod ends;
mod loops;
mod timers;
mod waits;
mod wake_ups;

use std::time::Duration;

use serde_json::json;
use workforce_app::access::Denied;
use workforce_app::activity_log::document;
use workforce_app::runs::{self, RunError};
use workforce_app::{Code, Refusal};
use workforce_domain::activity::Action;
use workforce_domain::agent::Agent;
use workforce_domain::company::{CompanyStatus, PauseReason};
use workforce_domain::run::{RunErrorCode, RunOutcome, RunStatus};
use workforce_testkit::world::{World, done, refused};

use crate::support::{
    archive, cancel, count, ended, invoke, make_draft, pause, resume, running, terminate, working,
};

fn hired(world: &World) -> Agent {
    world.hired(world.company("Acme").id, "Worker")
}

#[test]
fn ten_invocations_while_a_run_is_live_lead_to_one_more() {
    let world = World::sqlite();
    let agent = hired(&world);
    let live = running(&world, &agent).run;
    let asked: Vec<_> = (0..10)
        .map(|_| done(invoke(world.board(), agent.id)))
        .collect();
    assert!(!asked[0].coalesced);
    assert!(
        asked[1..]
            .iter()
            .all(|next| next.coalesced && next.run.id == asked[0].run.id)
    );
    assert_ne!(asked[0].run.id, live.id);
    assert!(world.start_next().is_none());
    assert_eq!(world.pending_wakes(&agent)[0].count, 10);
    assert!(world.finish(&live));
    let started = world.start_all();
    assert_eq!(
        started.iter().map(|next| next.run.id).collect::<Vec<_>>(),
        [asked[0].run.id]
    );
    assert!(world.finish(&started[0].run));
    assert!(world.start_next().is_none());
    assert_eq!(count(&world, agent.company, Action::HeartbeatInvoked), 11);
}

#[test]
fn whoever_cannot_run_is_not_invoked() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let [paused, gone, draft] =
        ["Paused", "Gone", "Draft"].map(|called| world.hired(company, called).id);
    done(pause(world.board(), paused));
    done(terminate(world.board(), gone));
    make_draft(&world, draft);
    let told = refused(invoke(world.board(), paused));
    assert_eq!(
        told,
        RunError::AgentPaused {
            reason: PauseReason::Manual
        }
    );
    assert_eq!(told.details(), Some(json!({ "pauseReason": "manual" })));
    assert_eq!(
        refused(invoke(world.agent(paused), paused)).code(),
        Code::AgentPaused
    );
    assert_eq!(
        refused(invoke(world.board(), gone)),
        RunError::AgentTerminated
    );
    assert_eq!(
        refused(invoke(world.board(), draft)),
        RunError::AgentPendingApproval
    );
    assert!(world.start_next().is_none());
    done(resume(world.board(), paused));
    assert!(invoke(world.board(), paused).is_ok());
}

#[test]
fn nobody_is_invoked_in_an_archived_company() {
    let world = World::sqlite();
    let agent = hired(&world);
    done(archive(world.board(), agent.company));
    for who in [world.board(), world.agent(agent.id)] {
        let told = refused(invoke(who, agent.id));
        let status = CompanyStatus::Archived;
        assert_eq!(told, RunError::Denied(Denied::CompanyNotActive { status }));
    }
}

#[test]
fn an_agent_invokes_itself_only() {
    let world = World::sqlite();
    let chief = hired(&world);
    let below = world.hired_below(&chief, "Below");
    assert_eq!(
        refused(invoke(world.agent(chief.id), below.id)).code(),
        Code::Forbidden
    );
    assert_eq!(
        refused(invoke(world.agent(below.id), chief.id)).code(),
        Code::Forbidden
    );
    assert!(invoke(world.agent(below.id), below.id).is_ok());
}

#[test]
fn a_payload_fits_into_a_variable() {
    let world = World::sqlite();
    let agent = hired(&world);
    let ask = |length: usize| {
        let payload = document(json!({ "note": "x".repeat(length) }));
        let board = world.board();
        board.write(|tx, ctx| runs::invoke(tx, ctx, agent.id, payload.clone()))
    };
    // As JSON, `{"note":""}` surrounds it.
    let most = 16 * 1024 - r#"{"note":""}"#.len();
    let told = refused(ask(most + 1));
    assert_eq!(told.code(), Code::InvalidField);
    assert_eq!(told.details().unwrap()[0]["pointer"], "/payload");
    assert!(world.pending_wakes(&agent).is_empty());
    done(ask(most));
    assert_eq!(
        world.pending_wakes(&agent)[0].payload["note"]
            .as_str()
            .unwrap()
            .len(),
        most
    );
}

#[test]
fn a_queued_run_is_cancelled_at_once_with_its_wake() {
    let world = World::sqlite();
    let agent = hired(&world);
    let queued = done(invoke(world.board(), agent.id)).run;
    let cancelled = done(cancel(world.board(), &queued));
    assert_eq!(cancelled.status, RunStatus::Cancelled);
    assert_eq!(cancelled.finished_at, Some(world.now()));
    assert!(world.start_next().is_none());
    let told = refused(cancel(world.board(), &queued));
    assert_eq!(
        told,
        RunError::NotLive {
            status: RunStatus::Cancelled
        }
    );
    let next = done(invoke(world.board(), agent.id));
    assert!(!next.coalesced);
    assert_eq!(world.start_next().unwrap().run.id, next.run.id);
}

#[test]
fn a_live_run_is_asked_to_stop_and_holds_its_place_until_it_has() {
    let world = World::sqlite();
    let agent = hired(&world);
    let (issue, started) = working(&world, &agent, "Work");
    world.take_signal();
    let asked = done(cancel(world.board(), &started.run));
    assert!(world.take_signal());
    assert_eq!(asked.status, RunStatus::Running);
    assert_eq!(asked.stop_requested_at, Some(world.now()));
    assert_eq!(asked.stop_reason, Some(RunErrorCode::CancelRequested));
    world.advance(Duration::from_secs(5));
    assert_eq!(done(cancel(world.board(), &started.run)), asked);
    assert_eq!(count(&world, agent.company, Action::HeartbeatCancelled), 1);
    done(invoke(world.board(), agent.id));
    assert!(world.start_next().is_none());
    assert!(world.stored_lease(&issue).is_some());
    let end = ended(RunOutcome::Stopped(RunErrorCode::CancelRequested));
    assert!(world.finish_as(&started.run, &end));
    assert!(world.start_next().is_some());
    let told = refused(cancel(world.board(), &started.run));
    assert_eq!(told.code(), Code::RunNotLive);
}

#[test]
fn only_those_above_stop_an_agents_run() {
    let world = World::sqlite();
    let chief = hired(&world);
    let agent = world.hired_below(&chief, "Below");
    let peer = world.hired_below(&chief, "Peer");
    let run = running(&world, &agent).run;
    for who in [&agent, &peer] {
        assert_eq!(
            refused(cancel(world.agent(who.id), &run)).code(),
            Code::Forbidden
        );
    }
    assert_eq!(world.stored_run(run.id).stop_requested_at, None);
    assert!(cancel(world.agent(chief.id), &run).is_ok());
}
