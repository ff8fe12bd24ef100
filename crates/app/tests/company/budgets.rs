//! What an agent's spend of the month does to it (docs/budgets.md#stops).

mod breakdowns;
mod company;
mod costs;
mod limits;
mod projects;
mod reporters;
mod reservations;
mod rival_servers;

use std::time::Duration;

use serde_json::json;
use workforce_app::Code;
use workforce_app::Refusal;
use workforce_app::costs::ReportCost;
use workforce_domain::activity::Action;
use workforce_domain::agent::{Agent, AgentLifecycle};
use workforce_domain::budget::Threshold;
use workforce_domain::company::PauseReason;
use workforce_domain::port::Spender;
use workforce_domain::run::{RunErrorCode, RunOutcome, RunStatus};
use workforce_domain::time::Month;
use workforce_domain::wake::WakeReason;
use workforce_testkit::world::{World, done, refused, report_of};

use crate::support::{
    alerts, begin_next_month, cents, count, ended, happened, invoke, lift_stops, limit_agent,
    pause, pause_reason, report, resume, running, spend, spent, spent_in, working,
};

fn limited(world: &World, cents: i64) -> Agent {
    let company = world.company("Acme");
    let agent = world.hired(company.id, "Worker");
    limit_agent(world, agent.id, cents)
}

fn reason(world: &World, agent: &Agent) -> Option<PauseReason> {
    pause_reason(&world.stored_agent(agent.id))
}

#[test]
fn four_fifths_of_the_budget_raise_one_alert_a_month() {
    let world = World::sqlite();
    let agent = limited(&world, 100);
    spend(&world, &agent, "79.999999");
    assert_eq!(count(&world, agent.company, Action::BudgetSoftAlert), 0);
    spend(&world, &agent, "0.000001");
    spend(&world, &agent, "1");
    let rows = happened(&world, agent.company);
    let told: Vec<_> = rows
        .iter()
        .filter(|row| row.action == Action::BudgetSoftAlert)
        .collect();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].entity_id, agent.id.to_string());
    assert_eq!(told[0].details["utilizationPercent"], json!("80.00"));
    assert_eq!(reason(&world, &agent), None);
    assert_eq!(count(&world, agent.company, Action::BudgetHardStop), 0);
}

#[test]
fn the_whole_budget_pauses_and_asks_live_runs_to_stop() {
    let world = World::sqlite();
    let agent = limited(&world, 100);
    let run = running(&world, &agent).run;
    spend(&world, &agent, "99.999999");
    assert_eq!(world.stored_run(run.id).stop_requested_at, None);
    world.take_signal();
    spend(&world, &agent, "0.000001");
    assert_eq!(reason(&world, &agent), Some(PauseReason::Budget));
    let stopped = world.stored_run(run.id);
    assert_eq!(stopped.status, RunStatus::Running);
    assert_eq!(stopped.stop_requested_at, Some(world.now()));
    assert_eq!(stopped.stop_reason, Some(RunErrorCode::BudgetExhausted));
    assert!(world.take_signal());
    assert_eq!(count(&world, agent.company, Action::BudgetHardStop), 1);
    assert_eq!(count(&world, agent.company, Action::AgentPaused), 1);
}

#[test]
fn a_paused_agent_spends_on_and_is_not_told_twice() {
    let world = World::sqlite();
    let agent = limited(&world, 100);
    spend(&world, &agent, "100");
    spend(&world, &agent, "5");
    assert_eq!(spent(&world, &agent), cents("105"));
    assert_eq!(count(&world, agent.company, Action::BudgetHardStop), 1);
    assert_eq!(count(&world, agent.company, Action::AgentPaused), 1);
    let refusal = refused(invoke(world.board(), agent.id));
    assert_eq!(refusal.code(), Code::AgentPaused);
    assert_eq!(
        refused(resume(world.board(), agent.id)).code(),
        Code::BudgetExhausted
    );
}

#[test]
fn one_large_cost_raises_both_alerts() {
    let world = World::sqlite();
    let agent = limited(&world, 100);
    spend(&world, &agent, "250");
    let noted = alerts(
        &world,
        agent.company,
        Spender::Agent(agent.id),
        world.month(),
    );
    assert_eq!(noted, [Threshold::Soft, Threshold::Hard]);
    assert_eq!(count(&world, agent.company, Action::BudgetSoftAlert), 1);
    assert_eq!(count(&world, agent.company, Action::BudgetHardStop), 1);
}

#[test]
fn without_a_limit_nobody_is_stopped() {
    let world = World::sqlite();
    let agent = limited(&world, 0);
    spend(&world, &agent, "1000000");
    assert_eq!(reason(&world, &agent), None);
    assert_eq!(count(&world, agent.company, Action::BudgetSoftAlert), 0);
}

#[test]
fn a_manual_pause_stays_manual() {
    let world = World::sqlite();
    let agent = limited(&world, 100);
    done(pause(world.board(), agent.id));
    spend(&world, &agent, "100");
    assert_eq!(reason(&world, &agent), Some(PauseReason::Manual));
    assert_eq!(count(&world, agent.company, Action::BudgetHardStop), 1);
    limit_agent(&world, agent.id, 500);
    assert_eq!(reason(&world, &agent), Some(PauseReason::Manual));
    begin_next_month(&world);
    lift_stops(&world);
    assert_eq!(reason(&world, &agent), Some(PauseReason::Manual));
}

#[test]
fn a_raised_limit_resumes_and_wakes_for_unfinished_work() {
    let world = World::sqlite();
    let agent = limited(&world, 100);
    let (issue, started) = working(&world, &agent, "Work");
    spend(&world, &agent, "100");
    let stopped = ended(RunOutcome::Stopped(RunErrorCode::BudgetExhausted));
    assert!(world.finish_as(&started.run, &stopped));
    limit_agent(&world, agent.id, 100 - 1);
    assert_eq!(reason(&world, &agent), Some(PauseReason::Budget));
    assert!(world.pending_wakes(&agent).is_empty());
    let raised = limit_agent(&world, agent.id, 101);
    assert_eq!(raised.lifecycle, AgentLifecycle::ENABLED);
    let wakes = world.pending_wakes(&agent);
    assert_eq!(wakes.len(), 1);
    assert_eq!(wakes[0].issue, Some(issue.id));
    assert_eq!(wakes[0].reasons, [WakeReason::BudgetResumed]);
    assert_eq!(count(&world, agent.company, Action::AgentResumed), 1);
    assert_eq!(world.start_next().unwrap().run.issue, Some(issue.id));
}

#[test]
fn a_raised_limit_wakes_for_what_was_yet_to_begin() {
    let world = World::sqlite();
    let agent = limited(&world, 100);
    let issue = world.todo_for(&agent, "Work");
    let started = world.start_next().unwrap();
    spend(&world, &agent, "100");
    let stopped = ended(RunOutcome::Stopped(RunErrorCode::BudgetExhausted));
    assert!(world.finish_as(&started.run, &stopped));
    assert!(world.pending_wakes(&agent).is_empty());
    limit_agent(&world, agent.id, 101);
    let wakes = world.pending_wakes(&agent);
    assert_eq!(wakes.len(), 1);
    assert_eq!(wakes[0].issue, Some(issue.id));
    assert_eq!(wakes[0].reasons, [WakeReason::BudgetResumed]);
}

#[test]
fn no_limit_at_all_resumes_too() {
    let world = World::sqlite();
    let agent = limited(&world, 100);
    spend(&world, &agent, "100");
    assert_eq!(
        limit_agent(&world, agent.id, 0).lifecycle,
        AgentLifecycle::ENABLED
    );
}

#[test]
fn a_wake_waits_while_the_budget_is_used_up() {
    let world = World::sqlite();
    let agent = limited(&world, 100);
    spend(&world, &agent, "100");
    let issue = world.todo_for(&agent, "Work");
    assert_eq!(world.pending_wakes(&agent).len(), 1);
    assert!(world.start_next().is_none());
    limit_agent(&world, agent.id, 200);
    assert_eq!(world.start_next().unwrap().run.issue, Some(issue.id));
}

#[test]
fn a_limit_below_the_spend_pauses_on_save() {
    let world = World::sqlite();
    let agent = limited(&world, 0);
    let run = running(&world, &agent).run;
    spend(&world, &agent, "50");
    let lowered = limit_agent(&world, agent.id, 40);
    assert_eq!(pause_reason(&lowered), Some(PauseReason::Budget));
    assert_eq!(reason(&world, &agent), Some(PauseReason::Budget));
    assert_eq!(
        world.stored_run(run.id).stop_reason,
        Some(RunErrorCode::BudgetExhausted)
    );
    assert_eq!(count(&world, agent.company, Action::BudgetHardStop), 1);
}

#[test]
fn a_new_month_resumes_and_alerts_anew() {
    let world = World::sqlite();
    let agent = limited(&world, 100);
    let (issue, started) = working(&world, &agent, "Work");
    spend(&world, &agent, "100");
    assert!(world.finish(&started.run));
    world
        .clock()
        .set(world.month().end().minus(Duration::from_micros(1)));
    lift_stops(&world);
    assert_eq!(reason(&world, &agent), Some(PauseReason::Budget));
    begin_next_month(&world);
    lift_stops(&world);
    assert_eq!(reason(&world, &agent), None);
    assert_eq!(spent(&world, &agent), cents("0"));
    let wakes = world.pending_wakes(&agent);
    assert_eq!(wakes.len(), 1);
    assert_eq!(wakes[0].issue, Some(issue.id));
    spend(&world, &agent, "80");
    assert_eq!(count(&world, agent.company, Action::BudgetSoftAlert), 2);
    spend(&world, &agent, "20");
    assert_eq!(count(&world, agent.company, Action::BudgetHardStop), 2);
    assert_eq!(reason(&world, &agent), Some(PauseReason::Budget));
}

#[test]
fn a_late_report_for_a_past_month_stops_nobody() {
    let world = World::sqlite();
    let agent = limited(&world, 100);
    let past = world.month().start().minus(Duration::from_secs(3600));
    let late = ReportCost {
        occurred_at: Some(past),
        ..report_of(agent.id, "1000")
    };
    done(report(world.board(), agent.company, &late));
    let spender = Spender::Agent(agent.id);
    let month = Month::of(past);
    assert_eq!(
        spent_in(&world, agent.company, spender, month),
        cents("1000")
    );
    assert_eq!(spent(&world, &agent), cents("0"));
    assert_eq!(reason(&world, &agent), None);
    assert!(alerts(&world, agent.company, spender, month).is_empty());
    assert!(alerts(&world, agent.company, spender, world.month()).is_empty());
}
