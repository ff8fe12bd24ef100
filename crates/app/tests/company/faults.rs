//! A store that fails at any one of its calls: the failure is passed on as what it is, nothing is
//! written, and the same call succeeds when the store is well again.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use workforce_app::activity_log::document;
use workforce_app::agents::{CreateAgent, UpdateAgent};
use workforce_app::companies::UpdateCompany;
use workforce_app::goals::{self, UpdateGoal};
use workforce_app::runs;
use workforce_app::{Failure, agents, timers};
use workforce_domain::actor::CompanyOwned;
use workforce_domain::change::Replace;
use workforce_domain::port::{ClaimRequest, TokenKind, Tokens};
use workforce_domain::run::{RunEnd, RunErrorCode, RunOutcome};
use workforce_testkit::contents::Contents;
use workforce_testkit::failing::FailingStore;
use workforce_testkit::store::sqlite_store;
use workforce_testkit::world::{World, new_agent, report_of, title};

use crate::support::{
    archive, begin_next_month, budget, cancel, change_agent, change_company, ended, invoke, lifted,
    limit_agent, limit_company, report, running, spend, terminate, working,
};

/// Calls a use case with a store that fails at the first call, at the second, and so on, until it
/// gets through. `prepare` makes what it is called with.
#[track_caller]
fn fails_as_a_whole<P, T: Debug, E: Debug>(
    prepare: impl FnOnce(&World) -> P,
    act: impl Fn(&World, &P) -> Result<T, Failure<E>>,
) {
    let data = sqlite_store();
    let store = FailingStore::over(data.shared());
    let world = World::over(Arc::clone(&store) as Arc<_>);
    let prepared = prepare(&world);
    let before = Contents::of(&data);
    for ctx in 1.. {
        store.fail_at(ctx);
        let outcome = act(&world, &prepared);
        let Some(failed_at) = store.heal() else {
            assert!(outcome.is_ok(), "without a fault: {outcome:?}");
            assert!(ctx > 2, "the store was hardly asked");
            break;
        };
        assert!(
            matches!(&outcome, Err(Failure::Store(error)) if failed_at.is_told_by(error)),
            "call {ctx} failed at {failed_at:?}: {outcome:?}"
        );
        let written = before.differences(&Contents::of(&data));
        assert!(written.is_empty(), "call {ctx} failed: {written:#?}");
    }
    assert_ne!(Contents::of(&data), before, "nothing was ever written");
}

#[test]
fn the_claim_of_a_run() {
    fails_as_a_whole(
        |world| {
            let agent = world.hired(world.company("Acme").id, "Worker");
            world.todo_for(&agent, "Work");
            ClaimRequest {
                instance: world.id(),
                now: world.now(),
                lease_until: world.now().plus(Duration::from_secs(60)),
                token_digest: world.tokens().mint(TokenKind::Run).digest,
                instance_cap: 100,
            }
        },
        |world, request| {
            let claimed = world
                .system()
                .write(|tx, ctx| runs::start(tx, ctx, request));
            assert!(!matches!(claimed, Ok(None)), "there was one to claim");
            claimed
        },
    );
}

#[test]
fn the_end_of_a_run_with_its_leases() {
    let failed = RunOutcome::Failed(RunErrorCode::AdapterFailed);
    for outcome in [RunOutcome::Succeeded, failed] {
        fails_as_a_whole(
            |world| {
                let agent = world.hired(world.company("Acme").id, "Worker");
                working(world, &agent, "Work").1.run
            },
            |world, run| {
                let end = ended(outcome);
                world.system().write(|tx, ctx| {
                    runs::finish(tx, ctx, run.scope(), run.id, run.fence, end.clone(), None)
                })
            },
        );
    }
}

#[test]
fn the_loss_of_a_run_that_is_tried_again() {
    fails_as_a_whole(
        |world| {
            let agent = world.hired(world.company("Acme").id, "Worker");
            working(world, &agent, "Work").1.run
        },
        |world, run| {
            let lost = RunOutcome::Lost(RunErrorCode::LeaseExpired);
            let end = RunEnd::without_exit(lost, "its server is gone");
            world.system().write(|tx, ctx| {
                runs::finish(tx, ctx, run.scope(), run.id, run.fence, end.clone(), None)
            })
        },
    );
}

#[test]
fn the_beat_of_a_timer() {
    for always in [false, true] {
        fails_as_a_whole(
            |world| {
                let heartbeat = json!({ "intervalSec": 60, "alwaysRun": always });
                let command = CreateAgent {
                    runtime_config: document(json!({ "heartbeat": heartbeat })),
                    ..new_agent("Ada")
                };
                let agent = world.hired_with(world.company("Acme").id, &command);
                world.check_timers();
                // Longer than the interval with its jitter.
                world.advance(Duration::from_secs(90));
                if !always {
                    // Or nothing is written: the timer rests.
                    world.todo_for(&agent, "Work");
                }
                agent
            },
            |world, agent| {
                world
                    .system()
                    .write(|tx, ctx| timers::check(tx, ctx, agent.scope(), agent.id, None))
            },
        );
    }
}

#[test]
fn the_lift_of_a_budget_stop_in_a_new_month() {
    fails_as_a_whole(
        |world| {
            let agent = world.hired(world.company("Acme").id, "Worker");
            let run = working(world, &agent, "Work").1.run;
            limit_agent(world, agent.id, 100);
            spend(world, &agent, "100");
            let end = ended(RunOutcome::Stopped(RunErrorCode::BudgetExhausted));
            assert!(world.finish_as(&run, &end));
            begin_next_month(world);
        },
        |world, ()| lifted(world),
    );
}

#[test]
fn a_report_that_uses_up_the_budgets() {
    fails_as_a_whole(
        |world| {
            let agent = world.hired(world.company("Acme").id, "Worker");
            running(world, &agent);
            limit_agent(world, agent.id, 100);
            limit_company(world, agent.company, 100);
            agent
        },
        |world, agent| report(world.board(), agent.company, &report_of(agent.id, "100")),
    );
}

#[test]
fn a_raised_limit_of_an_agent_and_of_a_company() {
    fails_as_a_whole(
        |world| {
            let agent = world.hired(world.company("Acme").id, "Worker");
            world.todo_for(&agent, "Work");
            limit_agent(world, agent.id, 100);
            spend(world, &agent, "100");
            agent
        },
        |world, agent| {
            let change = UpdateAgent {
                budget: Some(budget(1000)),
                ..UpdateAgent::default()
            };
            change_agent(world.board(), agent.id, &change)
        },
    );
    fails_as_a_whole(
        |world| {
            let agent = world.hired(world.company("Acme").id, "Worker");
            world.todo_for(&agent, "Work");
            limit_company(world, agent.company, 100);
            spend(world, &agent, "100");
            agent
        },
        |world, agent| {
            let change = UpdateCompany {
                budget_monthly_cents: Replace::Set(budget(1000)),
                ..UpdateCompany::default()
            };
            change_company(world.board(), agent.company, &change)
        },
    );
}

#[test]
fn the_termination_of_an_agent_with_reports_runs_and_leases() {
    fails_as_a_whole(
        |world| {
            let company = world.company("Acme").id;
            let manager = world.hired(company, "Manager");
            let agent = world.hired_below(&manager, "Worker");
            world.hired_below(&agent, "Report");
            working(world, &agent, "Work");
            world.todo_for(&agent, "More work");
            agent
        },
        |world, agent| terminate(world.board(), agent.id),
    );
}

#[test]
fn the_archiving_of_a_company_that_works() {
    fails_as_a_whole(
        |world| {
            let agent = world.hired(world.company("Acme").id, "Worker");
            working(world, &agent, "Work");
            world.todo_for(&agent, "More work");
            agent
        },
        |world, agent| archive(world.board(), agent.company),
    );
}

#[test]
fn hiring() {
    fails_as_a_whole(
        |world| {
            let company = world.company("Acme").id;
            world.hired(company, "Old");
            company
        },
        |world, company| {
            world
                .board()
                .write(|tx, ctx| agents::create(tx, ctx, *company, new_agent("New")))
        },
    );
}

#[test]
fn an_invocation_and_the_cancelling_of_its_run() {
    fails_as_a_whole(
        |world| world.hired(world.company("Acme").id, "Worker"),
        |world, agent| invoke(world.board(), agent.id),
    );
    fails_as_a_whole(
        |world| {
            let agent = world.hired(world.company("Acme").id, "Worker");
            running(world, &agent).run
        },
        |world, run| cancel(world.board(), run),
    );
}

#[test]
fn the_change_of_a_goal() {
    fails_as_a_whole(
        |world| world.goal(world.company("Acme").id, "Grow").id,
        |world, goal| {
            let change = UpdateGoal {
                title: Replace::Set(title("Shrink")),
                ..UpdateGoal::default()
            };
            world
                .board()
                .write(|tx, ctx| goals::update(tx, ctx, *goal, change.clone()))
        },
    );
}
