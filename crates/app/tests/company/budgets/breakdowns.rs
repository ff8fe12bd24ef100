//! What costs add up to, by agent and by project (docs/budgets.md#sums).

use std::time::Duration;

use workforce_app::costs::{self, AgentCost, CostSummary, ReportCost, WindowQuery};
use workforce_domain::agent::Agent;
use workforce_domain::company::Company;
use workforce_domain::cost::Window;
use workforce_domain::money::Cents;
use workforce_domain::port::ProjectCost;
use workforce_domain::time::{Month, Timestamp};
use workforce_testkit::world::{World, done, new_project, report_of};

use crate::support::{cents, limit_agent, limit_company, report, spend, terminate};

fn hired(world: &World) -> (Company, [Agent; 3]) {
    let company = world.company("Acme");
    let agents = ["Ada", "Bob", "Cleo"].map(|name| world.hired(company.id, name));
    (company, agents)
}

fn summary(world: &World, company: &Company, window: WindowQuery) -> CostSummary {
    done(
        world
            .board()
            .read(|reads, ctx| costs::summary(reads, ctx, company.id, window)),
    )
}

fn by_agent(world: &World, company: &Company) -> Vec<AgentCost> {
    let window = WindowQuery::default();
    done(
        world
            .board()
            .read(|reads, ctx| costs::by_agent(reads, ctx, company.id, window)),
    )
}

fn by_project(world: &World, company: &Company) -> Vec<ProjectCost> {
    let window = WindowQuery::default();
    done(
        world
            .board()
            .read(|reads, ctx| costs::by_project(reads, ctx, company.id, window)),
    )
}

#[track_caller]
fn sum(amounts: impl IntoIterator<Item = Cents>) -> Cents {
    amounts
        .into_iter()
        .fold(Cents::ZERO, |sum, cost| sum.checked_add(cost).unwrap())
}

#[test]
fn the_rows_add_up_to_the_summary() {
    let world = World::sqlite();
    let (company, [ada, bob, _]) = hired(&world);
    let project = world
        .project_with(company.id, &new_project("Site"))
        .project
        .id;
    limit_company(&world, company.id, 200);
    for (agent, amount, project) in [
        (&ada, "10.5", Some(project)),
        (&bob, "39.5", None),
        (&ada, "0.000001", None),
    ] {
        let command = ReportCost {
            project,
            ..report_of(agent.id, amount)
        };
        done(report(world.board(), company.id, &command));
    }
    let all = summary(&world, &company, WindowQuery::default());
    assert_eq!(all.total.cost, cents("50.000001"));
    assert_eq!(all.total.tokens.input, 30);
    assert_eq!(all.total.tokens.output, 15);
    assert_eq!(all.usage.utilization().to_string(), "25.00");
    let agents = by_agent(&world, &company);
    assert_eq!(sum(agents.iter().map(|row| row.total.cost)), all.total.cost);
    let projects = by_project(&world, &company);
    assert_eq!(
        sum(projects.iter().map(|row| row.total.cost)),
        all.total.cost
    );
    assert_eq!(
        projects
            .iter()
            .map(|row| row.total.tokens.input)
            .sum::<i64>(),
        30
    );
}

#[test]
fn the_dearest_agent_comes_first_and_nobody_is_left_out() {
    let world = World::sqlite();
    let (company, [ada, bob, cleo]) = hired(&world);
    limit_agent(&world, bob.id, 40);
    spend(&world, &ada, "1");
    spend(&world, &bob, "10");
    let rows = by_agent(&world, &company);
    let order: Vec<_> = rows.iter().map(|row| row.agent.id).collect();
    assert_eq!(order, [bob.id, ada.id, cleo.id]);
    assert_eq!(rows[0].usage.utilization().to_string(), "25.00");
    assert_eq!(rows[2].total.cost, Cents::ZERO);
    assert_eq!(rows[2].total.tokens.input, 0);
}

#[test]
fn what_a_terminated_agent_spent_stays_in_the_sum() {
    let world = World::sqlite();
    let (company, [ada, ..]) = hired(&world);
    spend(&world, &ada, "5");
    done(terminate(world.board(), ada.id));
    let rows = by_agent(&world, &company);
    assert_eq!(rows[0].agent.id, ada.id);
    assert_eq!(rows[0].total.cost, cents("5"));
}

#[test]
fn costs_without_a_project_have_a_row_of_their_own() {
    let world = World::sqlite();
    let (company, [ada, ..]) = hired(&world);
    let project = world.project_with(company.id, &new_project("Site")).project;
    spend(&world, &ada, "3");
    let booked = ReportCost {
        project: Some(project.id),
        ..report_of(ada.id, "7")
    };
    done(report(world.board(), company.id, &booked));
    let rows: Vec<_> = by_project(&world, &company)
        .into_iter()
        .filter(|row| row.total.cost > Cents::ZERO)
        .map(|row| (row.project, row.total.cost))
        .collect();
    let named = Some((project.id, project.name));
    assert_eq!(rows, [(named, cents("7")), (None, cents("3"))]);
}

#[test]
fn a_window_ends_before_its_end() {
    let world = World::sqlite();
    let (company, [ada, ..]) = hired(&world);
    let bit = Duration::from_micros(1);
    let (start, end) = (world.now().minus(Duration::from_secs(60)), world.now());
    for at in [start.minus(bit), start, end.minus(bit), end] {
        let command = ReportCost {
            occurred_at: Some(at),
            ..report_of(ada.id, "1")
        };
        done(report(world.board(), company.id, &command));
    }
    let within = WindowQuery {
        from: Some(start),
        to: Some(end),
    };
    assert_eq!(summary(&world, &company, within).total.cost, cents("2"));
    assert_eq!(
        summary(&world, &company, WindowQuery::default()).total.cost,
        cents("4")
    );
}

#[test]
fn a_window_with_only_an_end_is_the_month_that_ends_there() {
    let world = World::sqlite();
    let (company, [ada, ..]) = hired(&world);
    let turn = world.month().start();
    let last = turn.minus(Duration::from_micros(1));
    for (at, amount) in [(last, "7"), (turn, "100")] {
        let command = ReportCost {
            occurred_at: Some(at),
            ..report_of(ada.id, amount)
        };
        done(report(world.board(), company.id, &command));
    }
    let until = |to: Timestamp| {
        summary(
            &world,
            &company,
            WindowQuery {
                from: None,
                to: Some(to),
            },
        )
    };
    let past = until(turn);
    assert_eq!(
        past.window,
        Window {
            start: Month::of(last).start(),
            end: turn
        }
    );
    assert_eq!(past.total.cost, cents("7"));
    let present = until(world.now());
    assert_eq!(
        present.window,
        Window {
            start: turn,
            end: world.now()
        }
    );
    assert_eq!(present.total.cost, cents("100"));
}

#[test]
fn a_window_with_only_a_start_lasts_until_the_month_ends() {
    let world = World::sqlite();
    let (company, _) = hired(&world);
    let end = world.month().end();
    let since = |from| {
        summary(
            &world,
            &company,
            WindowQuery {
                from: Some(from),
                to: None,
            },
        )
        .window
    };
    let earlier = world.month().start().minus(Duration::from_secs(60));
    assert_eq!(
        since(earlier),
        Window {
            start: earlier,
            end
        }
    );
    let later = end.plus(Duration::from_secs(60));
    assert_eq!(
        since(later),
        Window {
            start: later,
            end: later
        }
    );
}
