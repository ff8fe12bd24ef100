//! How runs end, well, badly, or with their server
//! (docs/heartbeats.md#outcomes).

use std::convert::Infallible;
use std::time::Duration;

use serde_json::json;
use workforce_app::Failure;
use workforce_app::activity_log::document;
use workforce_app::runs;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::{Agent, AgentStatus};
use workforce_domain::run::{
    CompletionReport, CompletionStatus, Run, RunEnd, RunErrorCode, RunOutcome, RunStart, RunStatus,
};
use workforce_domain::wake::WakeReason;
use workforce_testkit::world::{World, done};

use crate::support::{agent_detail, cancel, count, ended, look, running, working};

fn hired(world: &World) -> Agent {
    world.hired(world.company("Acme").id, "Worker")
}

const FAILED: RunOutcome = RunOutcome::Failed(RunErrorCode::AdapterFailed);

/// The engine finds a run whose server is gone.
#[track_caller]
fn lose(world: &World, run: &Run) -> bool {
    let outcome: Result<_, Failure<Infallible>> = world.system().write(|tx, ctx| {
        let lost = RunOutcome::Lost(RunErrorCode::LeaseExpired);
        let end = RunEnd::without_exit(lost, "its server is gone");
        runs::finish(tx, ctx, run.scope(), run.id, run.fence, end, None)
    });
    done(outcome).is_some()
}

/// The program of a run may execute from now on.
#[track_caller]
fn begin(world: &World, run: &Run) {
    let start = RunStart {
        containment: Some(String::new()),
        ..RunStart::default()
    };
    let noted: Result<bool, Failure<Infallible>> = world.system().write(|tx, _| {
        let engine = tx.engine_mut();
        Ok(engine.note_run_start(run.scope(), run.id, run.fence, &start)?)
    });
    assert!(done(noted));
}

fn has_token(world: &World, token: &str) -> bool {
    use workforce_domain::port::Tokens;
    let digest = world.tokens().digest(token);
    look(world, |reads| reads.credentials().run_token(&digest)).is_some()
}

#[test]
fn the_end_of_a_run_ends_its_token_and_its_leases() {
    let world = World::sqlite();
    let agent = hired(&world);
    let (issue, started) = working(&world, &agent, "Work");
    assert!(has_token(&world, &started.token));
    let other = Run {
        fence: started.run.fence + 1,
        ..started.run.clone()
    };
    for end in [RunOutcome::Succeeded, FAILED] {
        assert!(!world.finish_as(&other, &ended(end)));
    }
    assert_eq!(world.stored_run(started.run.id).status, RunStatus::Running);
    assert!(has_token(&world, &started.token) && world.stored_lease(&issue).is_some());
    assert!(world.finish(&started.run));
    assert!(!has_token(&world, &started.token));
    assert_eq!(world.stored_lease(&issue), None);
    let over = world.stored_run(started.run.id);
    assert_eq!(
        (over.token_digest, over.instance, over.lease_expires_at),
        (None, None, None)
    );
    assert_eq!(over.finished_at, Some(world.now()));
    assert_eq!(
        world.stored_agent(agent.id).last_heartbeat_at,
        Some(world.now())
    );
    // Whoever ends it again, or late, changes nothing.
    assert!(!world.finish_as(&started.run, &ended(FAILED)));
    assert_eq!(world.stored_run(started.run.id), over);
    assert_eq!(count(&world, agent.company, Action::HeartbeatFinished), 1);
}

#[test]
fn failures_in_a_row_are_counted_and_stops_are_not() {
    let world = World::sqlite();
    let agent = hired(&world);
    let after = |outcome: RunOutcome| {
        let run = running(&world, &agent).run;
        assert!(world.finish_as(&run, &ended(outcome)));
        let failures = world.stored_agent(agent.id).consecutive_failures;
        (failures, agent_detail(world.board(), agent.id).view.status)
    };
    assert_eq!(after(FAILED), (1, AgentStatus::Idle));
    assert_eq!(
        after(RunOutcome::TimedOut(RunErrorCode::WallLimit)),
        (2, AgentStatus::Idle)
    );
    assert_eq!(
        after(RunOutcome::Stopped(RunErrorCode::CancelRequested)),
        (2, AgentStatus::Idle)
    );
    assert_eq!(after(FAILED), (3, AgentStatus::Error));
    assert_eq!(after(RunOutcome::Succeeded), (0, AgentStatus::Idle));
}

#[test]
fn lost_work_is_tried_again_once_in_an_hour() {
    let world = World::sqlite();
    let agent = hired(&world);
    let (issue, first) = working(&world, &agent, "Work");
    begin(&world, &first.run);
    assert!(lose(&world, &first.run));
    assert_eq!(world.stored_run(first.run.id).status, RunStatus::Failed);
    assert!(!lose(&world, &first.run));
    let retry = world.start_next().unwrap();
    assert_eq!(retry.run.reason, WakeReason::ProcessLostRetry);
    assert_eq!(retry.run.issue, Some(issue.id));
    begin(&world, &retry.run);
    world.advance(Duration::from_secs(60 * 60 - 1));
    assert!(lose(&world, &retry.run));
    assert!(world.start_next().is_none());
    // Another issue has an hour of its own.
    let (_, other) = working(&world, &agent, "Other");
    assert!(lose(&world, &other.run));
    let other = world.start_next().unwrap();
    assert_eq!(other.run.reason, WakeReason::ProcessLostRetry);
    assert!(world.finish(&other.run));
    let follow_up = world.start_next().unwrap();
    assert_eq!(follow_up.run.reason, WakeReason::IssueLeftUndone);
    assert!(world.finish(&follow_up.run));
    world.advance(Duration::from_secs(1));
    let asked = done(world.system().write(|tx, ctx| {
        use workforce_app::wakes::{self, WakeRequest};
        use workforce_domain::wake::WakeSource;
        let (source, reason) = (WakeSource::Assignment, WakeReason::IssueAssigned);
        let request = WakeRequest::about(&agent, issue.id, source, reason);
        wakes::request(tx, ctx, request).map_err(Failure::<Infallible>::from)
    }));
    assert!(matches!(
        asked,
        workforce_app::wakes::WakeOutcome::Queued(_)
    ));
    let again = world.start_next().unwrap();
    assert!(lose(&world, &again.run));
    assert_eq!(
        world.start_next().unwrap().run.reason,
        WakeReason::ProcessLostRetry
    );
}

#[test]
fn work_that_was_lost_before_it_began_is_always_tried_again() {
    let world = World::sqlite();
    let agent = hired(&world);
    let payload = document(json!({ "what": "the door" }));
    done(
        world
            .board()
            .write(|tx, ctx| runs::invoke(tx, ctx, agent.id, payload.clone())),
    );
    let mut lost = world.start_next().unwrap();
    for number in 0..3 {
        assert!(lose(&world, &lost.run));
        if number > 0 {
            assert!(world.start_next().is_none(), "it begins at once again");
            world.advance(Duration::from_secs(60));
        }
        lost = world.start_next().unwrap();
        assert_eq!(lost.run.reason, WakeReason::ProcessLostRetry);
        assert_eq!(lost.wake.payload, payload, "nobody has heard of it yet");
    }
    begin(&world, &lost.run);
    assert!(lose(&world, &lost.run));
    world.advance(Duration::from_secs(60));
    assert!(world.start_next().is_none());
}

#[test]
fn lost_work_that_was_asked_to_stop_is_not_tried_again() {
    let world = World::sqlite();
    let agent = hired(&world);
    let (_, started) = working(&world, &agent, "Work");
    let stopped = done(cancel(world.board(), &started.run));
    assert!(lose(&world, &stopped));
    assert_eq!(
        world.stored_run(started.run.id).status,
        RunStatus::Cancelled
    );
    assert_eq!(world.stored_agent(agent.id).consecutive_failures, 0);
    assert!(world.pending_wakes(&agent).is_empty());
    assert!(world.start_next().is_none());
}

#[test]
fn what_an_agent_said_goes_before_a_later_stop() {
    let world = World::sqlite();
    let agent = hired(&world);
    let run = running(&world, &agent).run;
    done(world.system().write(|tx, _| {
        tx.runs_mut().await_completion(run.scope(), run.id)?;
        Ok::<_, Failure<Infallible>>(())
    }));
    let report = CompletionReport {
        status: CompletionStatus::Succeeded,
        result: Some("It is built.".into()),
        error: None,
        error_code: None,
    };
    done(
        world
            .board()
            .write(|tx, ctx| runs::complete(tx, ctx, run.id, report.clone())),
    );
    done(cancel(world.board(), &run));
    assert!(world.finish_as(
        &run,
        &ended(RunOutcome::Stopped(RunErrorCode::CancelRequested))
    ));
    let over = world.stored_run(run.id);
    assert_eq!((over.status, over.error_code), (RunStatus::Succeeded, None));
    assert_eq!(over.result_text.as_deref(), Some("It is built."));
}
