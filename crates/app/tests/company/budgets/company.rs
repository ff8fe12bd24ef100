//! What a company's spend of the month does to it (docs/budgets.md#stops).

use std::time::Duration;

use workforce_app::costs::ReportCost;
use workforce_app::issues::{self, CheckOut, UpdateIssue};
use workforce_app::{Code, Refusal};
use workforce_domain::activity::Action;
use workforce_domain::agent::{Agent, AgentLifecycle};
use workforce_domain::budget::Threshold;
use workforce_domain::change::Replace;
use workforce_domain::company::{CompanyStatus, PauseReason};
use workforce_domain::issue::{Issue, IssueStatus};
use workforce_domain::port::Spender;
use workforce_domain::run::{RunErrorCode, RunOutcome, RunStatus};
use workforce_domain::wake::WakeReason;
use workforce_testkit::world::{World, done, refused, report_of};

use crate::support::{
    alerts, begin_next_month, company_view, count, ended, invoke, lift_stops, limit_company,
    report, running, spend, working,
};

/// Two agents of a company with a limit of 100 cents.
fn limited(world: &World) -> [Agent; 2] {
    let company = world.company("Acme").id;
    limit_company(world, company, 100);
    ["Ada", "Bob"].map(|name| world.hired(company, name))
}

fn reason(world: &World, agent: &Agent) -> Option<PauseReason> {
    company_view(world, agent.company)
        .company
        .lifecycle
        .pause_reason()
}

fn take(world: &World, agent: &Agent, issue: &Issue) -> Result<Issue, Code> {
    let command = CheckOut {
        agent: None,
        expected: None,
    };
    let taken = world
        .agent(agent.id)
        .write(|tx, ctx| issues::check_out(tx, ctx, &issue.id.into(), command.clone()));
    match taken {
        Ok(view) => Ok(view.issue),
        Err(failure) => Err(refused::<(), _>(Err(failure)).code()),
    }
}

#[test]
fn the_spend_of_all_agents_pauses_the_company_and_keeps_its_status() {
    let world = World::sqlite();
    let [ada, bob] = limited(&world);
    spend(&world, &ada, "60");
    spend(&world, &bob, "39.999999");
    assert_eq!(reason(&world, &ada), None);
    assert_eq!(count(&world, ada.company, Action::BudgetSoftAlert), 1);
    spend(&world, &bob, "0.000001");
    let company = company_view(&world, ada.company).company;
    assert_eq!(company.lifecycle.pause_reason(), Some(PauseReason::Budget));
    assert_eq!(
        company.lifecycle.paused().map(|it| it.at),
        Some(world.now())
    );
    assert_eq!(company.status(), CompanyStatus::Active);
    for agent in [&ada, &bob] {
        assert_eq!(
            world.stored_agent(agent.id).lifecycle,
            AgentLifecycle::ENABLED
        );
    }
    let noted = alerts(&world, ada.company, Spender::Company, world.month());
    assert_eq!(noted, [Threshold::Soft, Threshold::Hard]);
    assert_eq!(count(&world, ada.company, Action::BudgetHardStop), 1);
    assert_eq!(count(&world, ada.company, Action::CompanyPaused), 1);
}

#[test]
fn live_runs_of_every_agent_are_asked_to_stop() {
    let world = World::sqlite();
    let [ada, bob] = limited(&world);
    let runs = [&ada, &bob].map(|agent| running(&world, agent).run);
    spend(&world, &ada, "100");
    for run in runs {
        let stored = world.stored_run(run.id);
        assert_eq!(stored.stop_reason, Some(RunErrorCode::BudgetExhausted));
        assert_eq!(stored.status, RunStatus::Running);
    }
}

#[test]
fn no_work_begins_until_the_limit_is_raised() {
    let world = World::sqlite();
    let [ada, bob] = limited(&world);
    let issue = world.todo_for(&bob, "Work");
    spend(&world, &ada, "100");
    for who in [world.board(), world.agent(bob.id)] {
        assert_eq!(refused(invoke(who, bob.id)).code(), Code::BudgetExhausted);
    }
    assert_eq!(
        take(&world, &bob, &issue).unwrap_err(),
        Code::BudgetExhausted
    );
    // To set the status is a checkout as well.
    let begin = UpdateIssue {
        status: Replace::Set(IssueStatus::InProgress),
        ..UpdateIssue::default()
    };
    let begun = world
        .agent(bob.id)
        .write(|tx, ctx| issues::update(tx, ctx, &issue.id.into(), begin.clone()));
    assert_eq!(refused(begun).code(), Code::BudgetExhausted);
    assert_eq!(world.stored_issue(issue.id).status(), IssueStatus::Todo);
    assert_eq!(world.pending_wakes(&bob).len(), 1);
    assert!(world.start_next().is_none());

    let raised = limit_company(&world, ada.company, 200);
    assert_eq!(raised.lifecycle.paused(), None);
    assert_eq!(
        take(&world, &bob, &issue).unwrap().status(),
        IssueStatus::InProgress
    );
    assert_eq!(world.start_next().unwrap().run.issue, Some(issue.id));
    done(invoke(world.board(), ada.id));
}

#[test]
fn a_raise_wakes_whoever_left_work_unfinished() {
    let world = World::sqlite();
    let [ada, bob] = limited(&world);
    let work = [&ada, &bob].map(|agent| working(&world, agent, "Work"));
    spend(&world, &ada, "100");
    let stopped = ended(RunOutcome::Stopped(RunErrorCode::BudgetExhausted));
    for (_, started) in &work {
        assert!(world.finish_as(&started.run, &stopped));
    }
    limit_company(&world, ada.company, 200);
    assert_eq!(count(&world, ada.company, Action::CompanyResumed), 1);
    for (agent, (issue, _)) in [&ada, &bob].into_iter().zip(&work) {
        let wakes = world.pending_wakes(agent);
        assert_eq!(wakes.len(), 1);
        assert_eq!(wakes[0].issue, Some(issue.id));
        assert_eq!(wakes[0].reasons, [WakeReason::BudgetResumed]);
    }
}

#[test]
fn a_limit_below_the_spend_pauses_on_save() {
    let world = World::sqlite();
    let [ada, _] = limited(&world);
    spend(&world, &ada, "50");
    let lowered = limit_company(&world, ada.company, 50);
    assert_eq!(lowered.lifecycle.pause_reason(), Some(PauseReason::Budget));
    assert_eq!(reason(&world, &ada), Some(PauseReason::Budget));
}

#[test]
fn a_new_month_lifts_the_stop_and_alerts_anew() {
    let world = World::sqlite();
    let [ada, bob] = limited(&world);
    spend(&world, &ada, "100");
    lift_stops(&world);
    assert_eq!(reason(&world, &ada), Some(PauseReason::Budget));
    begin_next_month(&world);
    lift_stops(&world);
    assert_eq!(reason(&world, &ada), None);
    done(invoke(world.board(), bob.id));
    spend(&world, &bob, "100");
    assert_eq!(reason(&world, &ada), Some(PauseReason::Budget));
    assert_eq!(count(&world, ada.company, Action::BudgetSoftAlert), 2);
    assert_eq!(count(&world, ada.company, Action::BudgetHardStop), 2);
}

#[test]
fn a_late_report_for_a_past_month_stops_no_company() {
    let world = World::sqlite();
    let [ada, _] = limited(&world);
    let past = world.month().start().minus(Duration::from_secs(1));
    let late = ReportCost {
        occurred_at: Some(past),
        ..report_of(ada.id, "1000")
    };
    done(report(world.board(), ada.company, &late));
    assert_eq!(reason(&world, &ada), None);
    assert_eq!(count(&world, ada.company, Action::BudgetHardStop), 0);
}

#[test]
fn one_company_is_not_stopped_by_another() {
    let world = World::sqlite();
    let [ada, _] = limited(&world);
    let other = world.company("Other");
    limit_company(&world, other.id, 100);
    let run = running(&world, &world.hired(other.id, "Cleo")).run;
    spend(&world, &ada, "100");
    assert_eq!(
        company_view(&world, other.id).company.lifecycle.paused(),
        None
    );
    assert_eq!(world.stored_run(run.id).stop_requested_at, None);
}
