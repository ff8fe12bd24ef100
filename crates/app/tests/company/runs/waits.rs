//! What agents wait for whose runs failed (docs/heartbeats.md#back-off).

use std::convert::Infallible;
use std::time::Duration;

use workforce_app::wakes::{self, WakeRequest};
use workforce_app::{Failure, agents, runs};
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::{AdapterType, Agent};
use workforce_domain::id::{CompanyId, IssueId};
use workforce_domain::run::{Run, RunErrorCode, RunOutcome};
use workforce_domain::session::FailureClass;
use workforce_domain::time::Timestamp;
use workforce_domain::wake::{WakeReason, WakeSource};
use workforce_testkit::world::{World, done, new_agent};

use crate::support::{cancel, count, ended, invoke, pause, resume, running, working};

const FAILED: RunOutcome = RunOutcome::Failed(RunErrorCode::AdapterFailed);
const LIMITED: RunOutcome = RunOutcome::Failed(RunErrorCode::ProviderLimit);

fn claude(world: &World, company: CompanyId, name: &str) -> Agent {
    let mut command = new_agent(name);
    command.adapter_type = Some(AdapterType::ClaudeLocal);
    world.hired_with(company, &command)
}

/// Workforce itself asks for a run.
fn ask(world: &World, agent: &Agent, issue: IssueId) {
    done(world.system().write(|tx, ctx| {
        let (source, reason) = (WakeSource::Automation, WakeReason::ChildrenCompleted);
        let request = WakeRequest::about(agent, issue, source, reason);
        wakes::request(tx, ctx, request).map_err(Failure::<Infallible>::from)
    }));
}

/// Ends a run whose provider refused it, as the engine does.
fn refuse(world: &World, run: &Run, outcome: RunOutcome, retry_at: Option<Timestamp>) {
    let mut end = ended(outcome);
    end.retry_at = retry_at;
    let agent = world.stored_agent(run.agent);
    let account = agent
        .provider_account()
        .and_then(|account| account.key(agent.id, false));
    done(world.system().write(|tx, ctx| {
        let written = runs::finish(tx, ctx, run.scope(), run.id, run.fence, end.clone(), None)?;
        assert!(written.is_some());
        runs::heed_refusal(tx, ctx, run.scope(), run.id, account.as_ref())?;
        Ok::<_, Failure<Infallible>>(())
    }));
}

fn state(world: &World, agent: &Agent) -> agents::RuntimeState {
    done(
        world
            .board()
            .read(|reads, ctx| agents::runtime_state(reads, ctx, agent.id)),
    )
}

fn lift(world: &World, agent: &Agent) -> agents::RuntimeState {
    done(
        world
            .board()
            .write(|tx, ctx| agents::lift_wait(tx, ctx, agent.id)),
    )
}

#[test]
fn a_failure_delays_the_next_automatic_run_and_each_further_one_twice_as_long() {
    let world = World::sqlite();
    let agent = world.hired(world.company("Acme").id, "Worker");
    let (issue, mut started) = working(&world, &agent, "Work");
    for wait in [30, 60, 120, 240, 480, 960, 1800, 1800] {
        assert!(world.finish_as(&started.run, &ended(FAILED)));
        ask(&world, &agent, issue.id);
        world.advance(Duration::from_secs(wait - 1));
        assert!(world.start_next().is_none(), "before {wait} seconds");
        world.advance(Duration::from_secs(1));
        started = world.start_next().expect("the wait is over");
    }
    assert!(world.finish(&started.run));
    assert_eq!(world.stored_agent(agent.id).backoff_until, None);
    ask(&world, &agent, issue.id);
    assert!(world.start_next().is_some(), "a success ends it");
}

#[test]
fn the_board_does_not_wait_for_an_agent_whose_runs_fail() {
    let world = World::sqlite();
    let agent = world.hired(world.company("Acme").id, "Worker");
    let (issue, started) = working(&world, &agent, "Work");
    assert!(world.finish_as(&started.run, &ended(FAILED)));
    // Its word is added to what waits, and releases it.
    ask(&world, &agent, issue.id);
    done(invoke(world.board(), agent.id));
    let manual = world.start_next().expect("the board asked");
    assert_eq!(manual.run.issue, None);
    assert!(world.finish_as(&manual.run, &ended(FAILED)));
    assert!(world.start_next().is_none());
    assert!(lift(&world, &agent).agent.backoff_until.is_none());
    assert!(world.start_next().is_some());
    assert_eq!(count(&world, agent.company, Action::AgentWaitLifted), 1);
    // Where nothing waits, nothing is lifted.
    lift(&world, &agent);
    assert_eq!(count(&world, agent.company, Action::AgentWaitLifted), 1);
}

#[test]
fn stops_and_lost_servers_make_nobody_wait_and_a_resumed_agent_begins_anew() {
    let world = World::sqlite();
    let agent = world.hired(world.company("Acme").id, "Worker");
    for outcome in [
        RunOutcome::Stopped(RunErrorCode::CancelRequested),
        RunOutcome::Lost(RunErrorCode::ProcessLost),
    ] {
        let run = running(&world, &agent).run;
        if matches!(outcome, RunOutcome::Stopped(_)) {
            done(cancel(world.board(), &run));
        }
        assert!(world.finish_as(&run, &ended(outcome)));
        assert_eq!(world.stored_agent(agent.id).backoff_until, None);
    }
    let run = world
        .start_next()
        .expect("what was lost is tried again")
        .run;
    assert!(world.finish_as(&run, &ended(FAILED)));
    assert!(world.stored_agent(agent.id).backoff_until.is_some());
    done(pause(world.board(), agent.id));
    done(resume(world.board(), agent.id));
    assert_eq!(world.stored_agent(agent.id).backoff_until, None);
}

#[test]
fn a_provider_that_names_a_time_is_left_alone_until_then_by_all_of_the_account() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let (one, two) = (
        claude(&world, company, "One"),
        claude(&world, company, "Two"),
    );
    let other = world.hired(company, "Other");
    let (issue, started) = working(&world, &one, "Work");
    let opens = world.now().plus(Duration::from_secs(5 * 60 * 60));
    refuse(&world, &started.run, LIMITED, Some(opens));
    assert_eq!(world.stored_agent(one.id).backoff_until, None);
    // Nobody passes, whoever asks.
    done(invoke(world.board(), one.id));
    done(invoke(world.board(), two.id));
    assert!(world.start_next().is_none());
    done(invoke(world.board(), other.id));
    assert_eq!(
        world.start_next().expect("it asks no model").run.agent,
        other.id
    );
    let gate = state(&world, &two).gate.expect("a gate");
    assert_eq!(gate.blocked_until, opens);
    assert_eq!(
        (gate.reason, gate.run),
        (FailureClass::ProviderLimit, Some(started.run.id))
    );
    world.advance(Duration::from_secs(5 * 60 * 60 - 1));
    assert!(world.start_next().is_none());
    world.advance(Duration::from_secs(1));
    let again: Vec<_> = world.start_all().into_iter().map(|next| next.run).collect();
    assert_eq!(again.len(), 2, "one of each agent: {again:?}");
    assert_eq!(state(&world, &two).gate, None);
    for run in again.iter().filter(|run| run.agent == one.id) {
        assert!(world.finish(run));
    }
    // The refused work is among what waited.
    let retried = again
        .iter()
        .cloned()
        .chain(world.start_all().into_iter().map(|next| next.run));
    let retried: Vec<_> = retried.filter(|run| run.issue == Some(issue.id)).collect();
    assert_eq!(retried.len(), 1);
    assert_eq!(retried[0].reason, WakeReason::ProviderRetry);
}

#[test]
fn a_gate_is_lifted_for_all_of_the_account() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let (one, two) = (
        claude(&world, company, "One"),
        claude(&world, company, "Two"),
    );
    let run = running(&world, &one).run;
    refuse(
        &world,
        &run,
        RunOutcome::Failed(RunErrorCode::ProviderOverloaded),
        None,
    );
    done(invoke(world.board(), two.id));
    assert!(world.start_next().is_none());
    assert_eq!(lift(&world, &two).gate, None);
    let started: Vec<_> = world
        .start_all()
        .into_iter()
        .map(|next| next.run.agent)
        .collect();
    assert_eq!(started.len(), 2);
    assert!(started.contains(&one.id) && started.contains(&two.id));
}

#[test]
fn a_provider_that_names_no_time_is_asked_less_and_less_often() {
    let world = World::sqlite();
    let agent = claude(&world, world.company("Acme").id, "One");
    let (_, mut started) = working(&world, &agent, "Work");
    for wait in [30, 60, 120, 240, 480, 960, 1800, 1800] {
        refuse(&world, &started.run, LIMITED, None);
        world.advance(Duration::from_secs(wait - 1));
        assert!(world.start_next().is_none(), "before {wait} seconds");
        world.advance(Duration::from_secs(1));
        started = world.start_next().expect("its work is tried again");
        assert_eq!(started.run.reason, WakeReason::ProviderRetry);
    }
}

#[test]
fn refused_work_is_not_tried_for_ever() {
    let world = World::sqlite();
    let agent = claude(&world, world.company("Acme").id, "One");
    let (_, started) = working(&world, &agent, "Work");
    let mut next = Some(started);
    let mut runs = 0;
    while let Some(started) = next {
        runs += 1;
        assert!(runs <= 50);
        refuse(&world, &started.run, LIMITED, None);
        world.advance(Duration::from_secs(30 * 60));
        next = world.start_next();
    }
    assert_eq!(runs, 50);
}
