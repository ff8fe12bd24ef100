//! Pausing, resuming and terminating agents (docs/lifecycles.md#agents).

use std::time::Duration;

use workforce_app::agents::{self, AgentError};
use workforce_app::{Code, Refusal};
use workforce_domain::activity::Action;
use workforce_domain::agent::{AgentLifecycle, AgentStatus};
use workforce_domain::company::PauseReason;
use workforce_domain::id::IssueId;
use workforce_domain::issue::{Comment, IssueStatus};
use workforce_domain::page::{Order, PageRequest};
use workforce_domain::run::{RunErrorCode, RunStatus};
use workforce_testkit::world::{World, done, key_name, refused};

use crate::support::{
    agent_detail, begin_next_month, count, invoke, limit_agent, look, make_draft, pause,
    pause_reason, resume, running, scope, spend, terminate, working,
};

fn comments(
    world: &World,
    company: workforce_domain::id::CompanyId,
    issue: IssueId,
) -> Vec<Comment> {
    look(world, |reads| {
        Ok(reads
            .comments()
            .list(
                scope(company),
                issue,
                Order::Ascending,
                &PageRequest::first(),
            )?
            .items)
    })
}

#[test]
fn a_pause_stops_the_runs_and_keeps_the_wakes() {
    let world = World::sqlite();
    let agent = world.hired(world.company("Acme").id, "Worker");
    let (issue, run) = working(&world, &agent, "Work");
    world.todo_for(&agent, "More");
    world.take_signal();
    let paused = done(pause(world.board(), agent.id)).view;
    assert_eq!(paused.status, AgentStatus::Paused);
    assert_eq!(pause_reason(&paused.agent), Some(PauseReason::Manual));
    assert!(world.take_signal());
    let stopped = world.stored_run(run.run.id);
    assert_eq!(stopped.status, RunStatus::Running);
    assert_eq!(stopped.stop_requested_at, Some(world.now()));
    assert_eq!(stopped.stop_reason, Some(RunErrorCode::CancelRequested));
    assert!(world.finish(&run.run));
    assert_eq!(world.pending_wakes(&agent).len(), 1);
    assert!(world.start_next().is_none());
    assert_eq!(
        world.stored_issue(issue.id).assignee.agent(),
        Some(agent.id)
    );
    done(resume(world.board(), agent.id));
    assert!(world.take_signal());
    assert_eq!(world.start_all().len(), 1);
}

#[test]
fn pausing_and_resuming_again_change_nothing() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Worker");
    assert_eq!(done(resume(world.board(), agent.id)).view.agent, agent);
    let paused = done(pause(world.board(), agent.id)).view.agent;
    world.advance(Duration::from_secs(60));
    assert_eq!(done(pause(world.board(), agent.id)).view.agent, paused);
    assert_eq!(count(&world, company, Action::AgentPaused), 1);
    done(resume(world.board(), agent.id));
    let run = running(&world, &agent).run;
    let still = done(resume(world.board(), agent.id)).view;
    assert_eq!(still.status, AgentStatus::Running);
    assert_eq!(world.stored_run(run.id).stop_requested_at, None);
    assert_eq!(count(&world, company, Action::AgentResumed), 1);
}

#[test]
fn an_agent_over_its_budget_is_not_resumed_until_the_budget_allows_it() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Worker");
    limit_agent(&world, agent.id, 100);
    spend(&world, &agent, "150");
    assert_eq!(
        pause_reason(&world.stored_agent(agent.id)),
        Some(PauseReason::Budget)
    );
    // The board's own pause outlives a raise, so that only it can be refused.
    done(pause(world.board(), agent.id));
    assert_eq!(
        pause_reason(&world.stored_agent(agent.id)),
        Some(PauseReason::Manual)
    );
    let told = refused(resume(world.board(), agent.id));
    assert!(matches!(told, AgentError::BudgetExhausted { .. }));
    assert_eq!(told.code(), Code::BudgetExhausted);
    assert!(
        told.details().unwrap()["utilizationPercent"]
            .as_str()
            .unwrap()
            .starts_with("150")
    );
    assert_eq!(
        pause_reason(&world.stored_agent(agent.id)),
        Some(PauseReason::Manual)
    );
    limit_agent(&world, agent.id, 200);
    assert_eq!(
        pause_reason(&world.stored_agent(agent.id)),
        Some(PauseReason::Manual)
    );
    assert!(resume(world.board(), agent.id).is_ok());
}

#[test]
fn an_agent_over_its_budget_is_resumed_in_the_next_month() {
    let world = World::sqlite();
    let agent = world.hired(world.company("Acme").id, "Worker");
    limit_agent(&world, agent.id, 100);
    spend(&world, &agent, "100");
    assert_eq!(
        refused(resume(world.board(), agent.id)).code(),
        Code::BudgetExhausted
    );
    begin_next_month(&world);
    let resumed = done(resume(world.board(), agent.id)).view.agent;
    assert_eq!(resumed.lifecycle, AgentLifecycle::ENABLED);
}

#[test]
fn drafts_and_terminated_agents_are_neither_paused_nor_resumed() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let [draft, gone] = ["Draft", "Gone"].map(|called| world.hired(company, called).id);
    make_draft(&world, draft);
    done(terminate(world.board(), gone));
    for (agent, expected) in [
        (draft, AgentError::PendingApproval),
        (gone, AgentError::Terminated),
    ] {
        assert_eq!(refused(pause(world.board(), agent)), expected);
        assert_eq!(refused(resume(world.board(), agent)), expected);
    }
}

#[test]
fn a_termination_revokes_every_key_once() {
    let world = World::sqlite();
    let agent = world.hired(world.company("Acme").id, "Worker");
    let make = || {
        let board = world.board();
        done(board.write(|tx, ctx| agents::create_key(tx, ctx, agent.id, key_name())))
            .key
            .id
    };
    let (first, _second) = (make(), make());
    let board = world.board();
    let revoked =
        done(board.write(|tx, ctx| agents::revoke_key(tx, ctx, agent.id, first))).revoked_at;
    world.advance(Duration::from_secs(60));
    done(terminate(world.board(), agent.id));
    let page = PageRequest::first();
    let keys = done(board.read(|reads, ctx| agents::keys(reads, ctx, agent.id, &page))).items;
    let ends: Vec<_> = keys.iter().map(|key| key.revoked_at).collect();
    assert_eq!(ends, [revoked, Some(world.now())]);
}

#[test]
fn a_termination_stops_the_runs_and_cancels_the_wakes() {
    let world = World::sqlite();
    let agent = world.hired(world.company("Acme").id, "Worker");
    let other = world.hired(agent.company, "Other");
    let run = running(&world, &agent).run;
    let queued = done(invoke(world.board(), agent.id)).run;
    let untouched = done(invoke(world.board(), other.id)).run;
    world.take_signal();
    done(terminate(world.board(), agent.id));
    assert!(world.take_signal());
    assert_eq!(
        world.stored_run(run.id).stop_reason,
        Some(RunErrorCode::CancelRequested)
    );
    let cancelled = world.stored_run(queued.id);
    assert_eq!(cancelled.status, RunStatus::Cancelled);
    assert_eq!(cancelled.finished_at, Some(world.now()));
    assert!(world.pending_wakes(&agent).is_empty());
    assert_eq!(world.start_next().unwrap().run.id, untouched.id);
    assert!(world.start_next().is_none());
}

#[test]
fn a_termination_gives_the_open_issues_back() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Worker");
    let other = world.hired(company, "Other");
    let (held, _run) = working(&world, &agent, "Locked");
    let waiting = world.todo_for(&agent, "Waiting");
    let elsewhere = world.todo_for(&other, "Elsewhere");
    assert!(world.stored_lease(&held).is_some());
    done(terminate(world.board(), agent.id));
    for issue in [&held, &waiting] {
        let free = world.stored_issue(issue.id);
        assert_eq!(free.status(), IssueStatus::Todo);
        assert_eq!(free.assignee.agent(), None);
        assert_eq!(world.stored_lease(issue), None);
        let told = comments(&world, company, issue.id);
        assert_eq!(told.len(), 1);
        assert!(told[0].body.contains("Worker was terminated"));
        assert_eq!((told[0].author, told[0].run), (Default::default(), None));
    }
    assert_eq!(
        world.stored_issue(elsewhere.id).assignee.agent(),
        Some(other.id)
    );
    assert!(comments(&world, company, elsewhere.id).is_empty());
    assert_eq!(count(&world, company, Action::IssueReleased), 2);
}

#[test]
fn whoever_reports_to_a_terminated_agent_reports_to_its_manager() {
    let world = World::sqlite();
    let chief = world.hired(world.company("Acme").id, "Chief");
    let middle = world.hired_below(&chief, "Middle");
    let low = world.hired_below(&middle, "Low");
    let lowest = world.hired_below(&low, "Lowest");
    done(terminate(world.board(), middle.id));
    assert_eq!(world.stored_agent(low.id).reports_to, Some(chief.id));
    assert_eq!(world.stored_agent(lowest.id).reports_to, Some(low.id));
    done(terminate(world.board(), chief.id));
    assert_eq!(world.stored_agent(low.id).reports_to, None);
    assert!(
        agent_detail(world.board(), low.id)
            .chain_of_command
            .is_empty()
    );
}

#[test]
fn terminating_again_changes_nothing() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Worker");
    let gone = done(terminate(world.board(), agent.id)).view;
    assert_eq!(gone.status, AgentStatus::Terminated);
    assert_eq!(
        gone.agent.lifecycle,
        AgentLifecycle::ENABLED.terminate(world.now()).unwrap()
    );
    world.advance(Duration::from_secs(60));
    assert_eq!(
        done(terminate(world.board(), agent.id)).view.agent,
        gone.agent
    );
    assert_eq!(count(&world, company, Action::AgentTerminated), 1);
}
