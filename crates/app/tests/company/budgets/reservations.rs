//! What live runs hold of the budgets, and what their programs tell while they run
//! (docs/budgets.md#reservations, docs/budgets.md#metering).

use std::convert::Infallible;

use workforce_app::companies::UpdateCompany;
use workforce_app::costs::{self, ModelUse, RunUse};
use workforce_app::runs;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::Agent;
use workforce_domain::budget::{BudgetBasis, Spend};
use workforce_domain::change::Replace;
use workforce_domain::cost::{BillingType, TokenUse};
use workforce_domain::money::Cents;
use workforce_domain::port::Failure;
use workforce_domain::run::{Run, RunErrorCode, RunOutcome};
use workforce_testkit::on_both_databases;
use workforce_testkit::world::{World, done, name, new_project, report_of};

use super::projects::{issue_in, limit_project};
use crate::support::{
    agent_detail, cents, change_company, company_view, ended, limit_agent, limit_company, put,
    report, running,
};

/// A model with a price: a token that it writes costs 1,500 millionths of a cent.
pub(super) const MODEL: &str = "claude-sonnet-4-5";
/// So many of these tokens cost a cent.
pub(super) const TOKENS_OF_A_CENT: i64 = 667;

fn spend_of(world: &World, agent: &Agent) -> Spend {
    agent_detail(world.board(), agent.id).view.spend
}

pub(super) fn use_of(tokens: i64, cost: Option<Cents>) -> ModelUse {
    ModelUse {
        provider: name("anthropic"),
        model: name(MODEL),
        tokens: TokenUse {
            output: tokens,
            ..TokenUse::default()
        },
        cost,
    }
}

/// What its program tells that a live run used: the uses with these numbers, from one.
pub(super) fn tell(
    world: &World,
    run: &Run,
    billing: BillingType,
    tells_cost: bool,
    uses: &[ModelUse],
) {
    let numbered: Vec<(i64, ModelUse)> = (1..).zip(uses.iter().cloned()).collect();
    done(world.system().write(|tx, ctx| {
        costs::meter(tx, ctx, run.scope(), run.id, billing, tells_cost, &numbered)
    }));
}

pub(super) fn finish(world: &World, run: &Run, used: Option<&RunUse>) {
    let end = ended(RunOutcome::Succeeded);
    let written =
        done(world.system().write(|tx, ctx| {
            runs::finish(tx, ctx, run.scope(), run.id, run.fence, end.clone(), used)
        }));
    assert!(written.is_some());
}

/// Lets a company have many live runs.
fn uncap(world: &World, company: workforce_domain::id::CompanyId) {
    put(world, |tx| {
        let scope = workforce_domain::actor::Scope::SYSTEM;
        let mut held = tx.companies_mut().lock(scope, company)?.unwrap();
        held.max_concurrent_runs = 100;
        tx.companies_mut().save(&held)
    });
}

/// A company with a limit of so many cents, and agents with an issue each.
pub(super) fn crowd(world: &World, limit: i64, size: usize) -> Vec<Agent> {
    let company = world.company("Acme").id;
    uncap(world, company);
    limit_company(world, company, limit);
    let hire = |number| world.hired(company, &format!("Worker {number}"));
    let agents: Vec<Agent> = (0..size).map(hire).collect();
    for agent in &agents {
        world.todo_for(agent, "Work");
    }
    agents
}

on_both_databases! {
    fn twenty_runs_hold_no_more_than_the_budget_of_five(store: &TestStore) {
        let world = World::on(store);
        let agents = crowd(&world, 125, 20);
        let company = agents[0].company;
        let started = world.start_all();
        assert_eq!(started.len(), 5);
        let spend = company_view(&world, company).spend;
        assert_eq!((spend.actual, spend.held), (Cents::ZERO, cents("125")));

        // What one of them does not need is free for others.
        finish(&world, &started[0].run, None);
        assert_eq!(world.start_all().len(), 1);
        // A raise lets the next ones in.
        limit_company(&world, company, 185);
        assert_eq!(world.start_all().len(), 3);
        assert_eq!(company_view(&world, company).spend.held, cents("185"));
        for run in world.live_runs(&agents[1]) {
            finish(&world, &run, None);
        }
        world.breaks_on_purpose(&[]);
    }

    fn what_is_told_is_booked_once_and_settled_to_the_last_millionth(store: &TestStore) {
        let world = World::on(store);
        let agent = world.hired(world.company("Acme").id, "Ada");
        let run = running(&world, &agent).run;
        let calls = [use_of(1000, None), use_of(2000, None)];
        tell(&world, &run, BillingType::Api, true, &calls[..1]);
        tell(&world, &run, BillingType::Api, true, &calls);
        tell(&world, &run, BillingType::Api, true, &calls);
        let live = spend_of(&world, &agent);
        // Its program tells the cost at its end; until then the list counts.
        assert_eq!((live.actual, live.estimated), (Cents::ZERO, cents("4.5")));
        assert_eq!(live.held, cents("25"));
        let used = RunUse {
            billing: BillingType::Api,
            models: vec![use_of(3100, Some(cents("4.700001")))],
        };
        finish(&world, &run, Some(&used));
        let settled = spend_of(&world, &agent);
        assert_eq!((settled.actual, settled.held), (cents("4.700001"), Cents::ZERO));
        // Its server may write the end down twice.
        done(world.system().write(|tx, ctx| {
            costs::settle(tx, ctx, run.scope(), run.id, Some(&used))
        }));
        assert_eq!(spend_of(&world, &agent), settled);
        let tokens = world.board().read(|reads, _| {
            Ok::<_, Failure<Infallible>>(reads.ledger().metered(run.scope(), run.id)?)
        });
        let [metered] = &*done(tokens) else { panic!("one model") };
        assert_eq!((metered.tokens.output, metered.cost), (3100, cents("4.700001")));
    }

    fn a_run_that_is_lost_costs_what_it_told(store: &TestStore) {
        let world = World::on(store);
        let agent = world.hired(world.company("Acme").id, "Ada");
        for (tells_cost, cost) in [(true, None), (false, None), (true, Some(cents("3")))] {
            let before = spend_of(&world, &agent).actual;
            let run = running(&world, &agent).run;
            tell(&world, &run, BillingType::Api, tells_cost, &[use_of(2000, cost)]);
            finish(&world, &run, None);
            let after = spend_of(&world, &agent).actual;
            assert_eq!(after.saturating_sub(before), cents("3"), "{tells_cost} {cost:?}");
        }
    }

    fn a_flat_plan_costs_nothing_but_what_the_board_counts(store: &TestStore) {
        let world = World::on(store);
        let company = world.company("Acme").id;
        let agent = world.hired(company, "Ada");
        limit_agent(&world, agent.id, 100);
        let run = running(&world, &agent).run;
        let calls: Vec<ModelUse> = (0..4).map(|_| use_of(25 * TOKENS_OF_A_CENT, None)).collect();
        tell(&world, &run, BillingType::Subscription, true, &calls[..2]);
        let spend = spend_of(&world, &agent);
        assert_eq!((spend.actual, spend.estimated), (Cents::ZERO, cents("50.025")));
        assert_eq!(world.stored_run(run.id).stop_reason, None);

        let change = UpdateCompany {
            budget_basis: Replace::Set(BudgetBasis::Estimated),
            ..UpdateCompany::default()
        };
        done(change_company(world.board(), company, &change));
        assert_eq!(world.stored_run(run.id).stop_reason, None);
        tell(&world, &run, BillingType::Subscription, true, &calls);
        assert_eq!(world.stored_run(run.id).stop_reason, Some(RunErrorCode::BudgetExhausted));
        let paused = world.stored_agent(agent.id);
        assert!(paused.lifecycle.pause_reason().is_some());
        assert_eq!(spend_of(&world, &agent).actual, Cents::ZERO);
        finish(&world, &run, None);
    }

    fn a_project_that_is_used_up_stops_its_own_work_alone(store: &TestStore) {
        let world = World::on(store);
        let company = world.company("Acme").id;
        let agent = world.hired(company, "Ada");
        let project = world.project_with(company, &new_project("House")).project.id;
        limit_project(&world, project, 30);
        let inside = issue_in(&world, &agent, Some(project));
        let run = world.start_next().unwrap().run;
        let mut cost = report_of(agent.id, "12");
        cost.run = Some(run.id);
        done(report(world.run_of(run.id), company, &cost));
        assert_eq!(world.stored_run(run.id).stop_reason, None);
        done(report(world.run_of(run.id), company, &cost));
        assert_eq!(world.stored_run(run.id).stop_reason, None, "within what it reserved");
        done(report(world.run_of(run.id), company, &cost));
        assert_eq!(world.stored_run(run.id).stop_reason, Some(RunErrorCode::BudgetExhausted));
        finish(&world, &run, None);
        assert_eq!(world.stored_agent(agent.id).lifecycle.pause_reason(), None);

        let other = issue_in(&world, &agent, Some(project));
        assert!(world.start_next().is_none(), "{} {}", inside.id, other.id);
        let outside = issue_in(&world, &agent, None);
        let started = world.start_next().unwrap().run;
        assert_eq!(started.issue, Some(outside.id));
        finish(&world, &started, None);
        limit_project(&world, project, 100);
        assert_eq!(world.start_next().unwrap().run.issue, Some(other.id));
    }
}
