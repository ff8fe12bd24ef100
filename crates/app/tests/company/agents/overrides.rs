//! Letting an agent work although its budget is used up, and removing agents
//! (docs/budgets.md#forced-resumption).

use workforce_app::agents::{self, AgentDetail, AgentError};
use workforce_app::{Code, Failure, Refusal};
use workforce_domain::activity::Action;
use workforce_domain::agent::{Agent, AgentLifecycle};
use workforce_domain::company::PauseReason;
use workforce_domain::id::AgentId;
use workforce_domain::wake::WakeReason;
use workforce_testkit::world::{Acting, World, done, refused};

use crate::support::{
    agent_detail, begin_next_month, count, happened, limit_agent, make_draft, pause, pause_reason,
    resume, spend, working,
};

fn force(who: Acting<'_>, id: AgentId) -> Result<AgentDetail, Failure<AgentError>> {
    who.write(|tx, ctx| agents::resume(tx, ctx, id, true))
}

fn delete(who: Acting<'_>, id: AgentId) -> Result<(), Failure<AgentError>> {
    who.write(|tx, ctx| agents::delete(tx, ctx, id))
}

/// An agent that its budget of 100 cents stopped.
fn overspent(world: &World) -> Agent {
    let agent = world.hired(world.company("Acme").id, "Worker");
    limit_agent(world, agent.id, 100);
    spend(world, &agent, "120");
    let agent = world.stored_agent(agent.id);
    assert_eq!(pause_reason(&agent), Some(PauseReason::Budget));
    agent
}

#[test]
fn the_board_lets_an_agent_work_on_for_the_month() {
    let world = World::sqlite();
    let agent = overspent(&world);
    assert_eq!(
        refused(resume(world.board(), agent.id)).code(),
        Code::BudgetExhausted
    );
    assert_eq!(
        refused(force(world.agent(agent.id), agent.id)).code(),
        Code::BoardRequired
    );
    let forced = done(force(world.board(), agent.id)).view.agent;
    assert_eq!(forced.lifecycle, AgentLifecycle::ENABLED);
    assert_eq!(forced.budget_override, Some(world.month()));
    let row = happened(&world, agent.company)
        .into_iter()
        .rfind(|row| row.action == Action::AgentResumed)
        .unwrap();
    assert_eq!(row.details["override"], true);
    assert_eq!(row.details["month"], world.month().to_string());
    // What it spends now stops it no more, and its work begins.
    spend(&world, &agent, "500");
    assert_eq!(
        world.stored_agent(agent.id).lifecycle,
        AgentLifecycle::ENABLED
    );
    world.todo_for(&agent, "Work");
    assert!(world.start_next().is_some());
    // The board's own pause and resumption need no second override.
    done(pause(world.board(), agent.id));
    done(resume(world.board(), agent.id));
}

#[test]
fn an_override_ends_with_its_month() {
    let world = World::sqlite();
    let agent = overspent(&world);
    done(force(world.board(), agent.id));
    begin_next_month(&world);
    spend(&world, &agent, "100");
    assert_eq!(
        pause_reason(&world.stored_agent(agent.id)),
        Some(PauseReason::Budget)
    );
    world.todo_for(&agent, "Work");
    assert!(world.start_next().is_none());
}

#[test]
fn an_override_ends_when_the_budget_is_changed() {
    let world = World::sqlite();
    let agent = overspent(&world);
    done(force(world.board(), agent.id));
    // The same limit once more is no change.
    assert!(limit_agent(&world, agent.id, 100).budget_override.is_some());
    let raised = limit_agent(&world, agent.id, 200);
    assert_eq!(raised.budget_override, None);
    spend(&world, &agent, "80");
    assert_eq!(
        pause_reason(&world.stored_agent(agent.id)),
        Some(PauseReason::Budget)
    );
    done(force(world.board(), agent.id));
    let lowered = limit_agent(&world, agent.id, 150);
    assert_eq!(lowered.budget_override, None);
    assert_eq!(pause_reason(&lowered), Some(PauseReason::Budget));
}

#[test]
fn force_changes_nothing_where_nothing_is_in_the_way() {
    let world = World::sqlite();
    let agent = world.hired(world.company("Acme").id, "Worker");
    done(force(world.board(), agent.id));
    done(pause(world.board(), agent.id));
    let resumed = done(force(world.board(), agent.id)).view.agent;
    assert_eq!(resumed.budget_override, None);
    assert_eq!(count(&world, agent.company, Action::AgentResumed), 1);
}

#[test]
fn a_forced_agent_hears_of_the_work_its_budget_stopped() {
    let world = World::sqlite();
    let agent = world.hired(world.company("Acme").id, "Worker");
    let (issue, run) = working(&world, &agent, "Work");
    limit_agent(&world, agent.id, 100);
    spend(&world, &agent, "120");
    assert!(world.finish(&run.run));
    done(force(world.board(), agent.id));
    let wakes = world.pending_wakes(&agent);
    assert_eq!(wakes.len(), 1);
    assert_eq!(wakes[0].issue, Some(issue.id));
    assert_eq!(wakes[0].reasons, [WakeReason::BudgetResumed]);
}

#[test]
fn an_agent_that_did_nothing_can_be_removed() {
    let world = World::sqlite();
    let boss = world.hired(world.company("Acme").id, "Boss");
    let agent = world.hired_below(&boss, "Mistake");
    let report = world.hired_below(&agent, "Report");
    assert_eq!(
        refused(delete(world.agent(boss.id), agent.id)).code(),
        Code::BoardRequired
    );
    done(delete(world.board(), agent.id));
    assert_eq!(
        refused(delete(world.board(), agent.id)).code(),
        Code::NotFound
    );
    let chain = agent_detail(world.board(), report.id).chain_of_command;
    assert_eq!(
        chain.iter().map(|link| link.id).collect::<Vec<_>>(),
        [boss.id]
    );
    assert_eq!(count(&world, boss.company, Action::AgentDeleted), 1);
}

#[test]
fn an_agent_with_a_history_stays() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let [assigned, spender, draft] =
        ["Assigned", "Spender", "Draft"].map(|name| world.hired(company, name));
    world.todo_for(&assigned, "Work");
    spend(&world, &spender, "1");
    for agent in [&assigned, &spender] {
        assert_eq!(
            refused(delete(world.board(), agent.id)).code(),
            Code::AgentHasHistory
        );
    }
    make_draft(&world, draft.id);
    assert_eq!(
        refused(delete(world.board(), draft.id)).code(),
        Code::AgentPendingApproval
    );
}
