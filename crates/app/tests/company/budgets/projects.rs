//! What the budget of a project holds against agents (docs/budgets.md#projects).

use std::time::Duration;

use workforce_app::costs::{CostError, ReportCost};
use workforce_app::issues::{self, CheckOut, UpdateIssue, UpdatedIssue};
use workforce_app::projects::{self, UpdateProject};
use workforce_app::{Code, Failure, Refusal};
use workforce_domain::agent::Agent;
use workforce_domain::budget::{MAX_AHEAD, OccurrenceError};
use workforce_domain::change::{Change, Replace};
use workforce_domain::cost::{BillingType, TokenUse};
use workforce_domain::id::{CompanyId, ProjectId};
use workforce_domain::issue::{Issue, IssueStatus};
use workforce_domain::money::{Budget, Cents};
use workforce_domain::port::Spender;
use workforce_domain::run::{Run, RunErrorCode};
use workforce_testkit::on_both_databases;
use workforce_testkit::world::{
    Acting, World, done, name, new_issue, new_project, no_change, refused, report_of,
};

use super::reservations::{MODEL, TOKENS_OF_A_CENT, finish, tell, use_of};
use crate::support::{begin_next_month, cents, report, running, spent_in};

pub(super) fn project(world: &World, company: CompanyId, called: &str) -> ProjectId {
    world.project_with(company, &new_project(called)).project.id
}

pub(super) fn limit_project(world: &World, project: ProjectId, limit: i64) {
    let change = UpdateProject {
        budget_total_cents: Replace::Set(Budget::from_cents(limit).unwrap()),
        ..UpdateProject::default()
    };
    done(
        world
            .board()
            .write(|tx, ctx| projects::update(tx, ctx, project, change.clone())),
    );
}

pub(super) fn issue_in(world: &World, agent: &Agent, project: Option<ProjectId>) -> Issue {
    let mut command = new_issue("Work");
    command.assignee_agent_id = Some(agent.id);
    command.project_id = project;
    command.status = Some(IssueStatus::Todo);
    world.issue_with(agent.company, &command)
}

/// Moves an issue to a project, or out of any.
pub(super) fn move_issue(
    who: Acting<'_>,
    issue: &Issue,
    project: Option<ProjectId>,
) -> Result<UpdatedIssue, Failure<issues::IssueError>> {
    let change = UpdateIssue {
        project_id: project.map_or(Change::Clear, Change::Set),
        ..no_change()
    };
    who.write(|tx, ctx| issues::update(tx, ctx, &issue.id.into(), change.clone()))
}

/// What was spent on a project this month.
pub(super) fn spent_on(world: &World, company: CompanyId, project: ProjectId) -> Cents {
    spent_in(world, company, Spender::Project(project), world.month())
}

/// An agent with an issue in a project that may spend so many cents.
fn limited(world: &World, limit: i64) -> (Agent, ProjectId, Issue) {
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Ada");
    let house = project(world, company, "House");
    limit_project(world, house, limit);
    let issue = issue_in(world, &agent, Some(house));
    (agent, house, issue)
}

fn start(world: &World, issue: &Issue) -> Run {
    let run = world.start_next().unwrap().run;
    assert_eq!(run.issue, Some(issue.id));
    run
}

on_both_databases! {
    fn the_money_of_a_run_stays_where_it_was_claimed(store: &TestStore) {
        let world = World::on(store);
        let (agent, house, issue) = limited(&world, 30);
        let company = agent.company;
        let garden = project(&world, company, "Garden");
        let run = start(&world, &issue);
        done(move_issue(world.board(), &issue, Some(garden)));

        let mut told = vec![use_of(10 * TOKENS_OF_A_CENT, None)];
        tell(&world, &run, BillingType::Api, false, &told);
        assert_eq!(spent_on(&world, company, house), cents("10.005"));
        let reported = done(report(world.run_of(run.id), company, &report_of(agent.id, "3"))).event;
        assert_eq!((reported.project, reported.issue), (Some(house), Some(issue.id)));
        assert_eq!(world.stored_run(run.id).stop_reason, None);
        told.push(use_of(20 * TOKENS_OF_A_CENT, None));
        tell(&world, &run, BillingType::Api, false, &told);
        let stopped = world.stored_run(run.id).stop_reason;
        assert_eq!(stopped, Some(RunErrorCode::BudgetExhausted));
        finish(&world, &run, None);
        assert_eq!(spent_on(&world, company, garden), Cents::ZERO);
        // The other project has money, and the issue is there now.
        world.todo_for(&agent, "Elsewhere");
        assert!(world.start_next().is_some());
    }

    fn a_project_stops_the_runs_that_spend_on_it(store: &TestStore) {
        let world = World::on(store);
        let (agent, house, issue) = limited(&world, 100);
        let company = agent.company;
        let run = start(&world, &issue);
        let other = world.hired(company, "Bo");
        let garden = project(&world, company, "Garden");
        let elsewhere = issue_in(&world, &other, Some(garden));
        let stranger = start(&world, &elsewhere);
        done(move_issue(world.board(), &issue, None));
        done(move_issue(world.board(), &elsewhere, Some(house)));
        let bill = ReportCost { project: Some(house), ..report_of(other.id, "100") };
        done(report(world.board(), company, &bill));
        let stopped = world.stored_run(run.id).stop_reason;
        assert_eq!(stopped, Some(RunErrorCode::BudgetExhausted));
        assert_eq!(world.stored_run(stranger.id).stop_reason, None);
    }

    fn what_a_run_spends_belongs_to_no_project_once_its_own_is_deleted(store: &TestStore) {
        let world = World::on(store);
        let (agent, house, issue) = limited(&world, 30);
        let run = start(&world, &issue);
        done(world.board().write(|tx, ctx| projects::delete(tx, ctx, house)));
        tell(&world, &run, BillingType::Api, false, &[use_of(TOKENS_OF_A_CENT, None)]);
        let event = done(report(world.run_of(run.id), agent.company, &report_of(agent.id, "3"))).event;
        assert_eq!((event.project, event.issue), (None, Some(issue.id)));
        finish(&world, &run, None);
        let in_all = spent_in(&world, agent.company, Spender::Company, world.month());
        assert_eq!(in_all, cents("4.0005"));
    }

    fn an_agent_takes_no_issue_out_of_a_project_with_a_limit(store: &TestStore) {
        let world = World::on(store);
        let (agent, house, issue) = limited(&world, 30);
        let company = agent.company;
        let garden = project(&world, company, "Garden");
        let bill = ReportCost { project: Some(house), ..report_of(agent.id, "30") };
        done(report(world.board(), company, &bill));
        assert!(world.start_next().is_none());
        for to in [None, Some(garden)] {
            let refusal = refused(move_issue(world.agent(agent.id), &issue, to));
            assert_eq!(refusal.code(), Code::Forbidden);
            assert!(world.start_next().is_none());
        }
        done(move_issue(world.agent(agent.id), &issue, Some(house)));

        let monthly = UpdateProject {
            budget_monthly_cents: Replace::Set(Budget::from_cents(1000).unwrap()),
            budget_total_cents: Replace::Set(Budget::default()),
            ..UpdateProject::default()
        };
        done(world.board().write(|tx, ctx| projects::update(tx, ctx, house, monthly.clone())));
        let refusal = refused(move_issue(world.agent(agent.id), &issue, None));
        assert_eq!(refusal.code(), Code::Forbidden);
        done(move_issue(world.board(), &issue, Some(garden)));
        done(move_issue(world.agent(agent.id), &issue, None));
        assert_eq!(world.start_next().unwrap().run.issue, Some(issue.id));
    }

    fn an_agent_books_on_no_project_of_others(store: &TestStore) {
        let world = World::on(store);
        let (victim, house, issue) = limited(&world, 100);
        let company = victim.company;
        let run = start(&world, &issue);
        let agent = world.hired(company, "Bo");
        let garden = project(&world, company, "Garden");
        let own = issue_in(&world, &agent, Some(garden));
        let own_run = start(&world, &own);
        let named = |issue: Option<&Issue>, project| ReportCost {
            issue: issue.map(|issue| issue.id.into()),
            project,
            ..report_of(agent.id, "100")
        };
        for who in [world.agent(agent.id), world.run_of(own_run.id)] {
            for (issue, project) in [
                (None, Some(house)),
                (Some(&own), Some(house)),
                (Some(&issue), Some(house)),
            ] {
                let refusal = refused(report(who, company, &named(issue, project)));
                assert_eq!(refusal.code(), Code::Forbidden);
            }
        }
        let refusal = refused(report(world.agent(agent.id), company, &named(Some(&issue), None)));
        assert_eq!(refusal.code(), Code::Forbidden);
        assert_eq!(world.stored_run(run.id).stop_reason, None);
        assert_eq!(spent_on(&world, company, house), Cents::ZERO);

        let booked = |who, command: &ReportCost| done(report(who, company, command)).event.project;
        let key = world.agent(agent.id);
        assert_eq!(booked(key, &named(None, Some(garden))), Some(garden));
        assert_eq!(booked(key, &named(Some(&own), None)), Some(garden));
        // What a run says about the issue of somebody else is its own money still.
        assert_eq!(booked(world.run_of(own_run.id), &named(Some(&issue), None)), Some(garden));
        assert_eq!(booked(key, &named(None, None)), None);
        issue_in(&world, &agent, Some(house));
        assert_eq!(booked(key, &named(None, Some(house))), Some(house));
    }

    fn no_agent_begins_work_of_a_project_that_is_used_up(store: &TestStore) {
        let world = World::on(store);
        let (agent, house, issue) = limited(&world, 30);
        let bill = ReportCost { project: Some(house), ..report_of(agent.id, "30") };
        done(report(world.board(), agent.company, &bill));
        let elsewhere = running(&world, &agent).run;
        let take = CheckOut { agent: None, expected: None };
        for who in [world.agent(agent.id), world.run_of(elsewhere.id)] {
            let taken = who.write(|tx, ctx| issues::check_out(tx, ctx, &issue.id.into(), take.clone()));
            assert_eq!(refused(taken).code(), Code::BudgetExhausted);
        }
        limit_project(&world, house, 31);
        let who = world.run_of(elsewhere.id);
        done(who.write(|tx, ctx| issues::check_out(tx, ctx, &issue.id.into(), take.clone())));
    }
}

#[test]
fn an_agent_reports_what_it_spends_now() {
    let world = World::sqlite();
    let agent = world.hired(world.company("Acme").id, "Ada");
    let bit = Duration::from_micros(1);
    let at = |at, run: Option<&Run>| ReportCost {
        occurred_at: Some(at),
        run: run.map(|run| run.id),
        ..report_of(agent.id, "1")
    };
    let tried = |command: &ReportCost| report(world.agent(agent.id), agent.company, command);
    let not_now = |command: &ReportCost| {
        let refusal = refused(tried(command));
        assert_eq!(refusal, CostError::Occurrence(OccurrenceError::NotNow));
    };
    let recent = world.now().minus(MAX_AHEAD);
    done(tried(&at(recent, None)));
    not_now(&at(recent.minus(bit), None));

    let run = running(&world, &agent).run;
    let begun = world.now();
    world.advance(Duration::from_hours(1));
    done(tried(&at(begun, Some(&run))));
    not_now(&at(begun.minus(bit), Some(&run)));
    not_now(&at(begun, None));
    let keyed = ReportCost {
        idempotency_key: Some("once".into()),
        ..at(begun, Some(&run))
    };
    done(tried(&keyed));

    begin_next_month(&world);
    let month = world.now();
    not_now(&at(month.minus(bit), Some(&run)));
    done(tried(&at(month, Some(&run))));
    assert!(
        !done(tried(&keyed)).created,
        "the answer may have been lost"
    );
    assert!(world.finish(&run));
    world.advance(2 * MAX_AHEAD);
    not_now(&at(month, Some(&run)));
    world.clock().set(world.month().end().minus(bit));
    not_now(&at(world.month().end(), None));
    done(report(world.board(), agent.company, &at(month, None)));
}

#[test]
fn the_higher_of_what_is_told_and_the_list_counts() {
    let world = World::sqlite();
    let agent = world.hired(world.company("Acme").id, "Ada");
    let estimated = |cost, estimated: Option<&str>| {
        let command = ReportCost {
            provider: name("anthropic"),
            model: name(MODEL),
            tokens: TokenUse {
                output: 10 * TOKENS_OF_A_CENT,
                ..TokenUse::default()
            },
            estimated: estimated.map(cents),
            ..report_of(agent.id, cost)
        };
        let who = world.agent(agent.id);
        done(report(who, agent.company, &command)).event.estimated
    };
    let list = Some(cents("10.005"));
    assert_eq!(estimated("0", Some("0")), list);
    assert_eq!(estimated("0", None), list);
    assert_eq!(estimated("0.000001", None), list);
    assert_eq!(estimated("20", Some("1")), list);
    assert_eq!(estimated("20", None), Some(cents("20")));
    assert_eq!(estimated("0", Some("50")), Some(cents("50")));
}
