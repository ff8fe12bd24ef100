//! That a cost counts once and exactly, and what no report may say.

use std::time::Duration;

use workforce_app::access::FieldFault;
use workforce_app::costs::{self, CostError, ReportCost};
use workforce_app::{Code, Refusal};
use workforce_domain::activity::Action;
use workforce_domain::agent::Agent;
use workforce_domain::budget::{MAX_AGE, MAX_AHEAD, OccurrenceError};
use workforce_domain::company::Company;
use workforce_domain::cost::TokenUse;
use workforce_domain::page::PageRequest;
use workforce_domain::port::Spender;
use workforce_testkit::world::{World, done, name, refused, report_of};

use crate::support::{cents, company_view, count, report, spend, spent, spent_in};

fn hired(world: &World) -> (Company, Agent) {
    let company = world.company("Acme");
    let agent = world.hired(company.id, "Worker");
    (company, agent)
}

fn pointer(refusal: &CostError) -> String {
    let details = refusal.details().unwrap();
    details[0]["pointer"].as_str().unwrap().to_owned()
}

#[test]
fn a_thousand_fractions_of_a_cent_add_up_exactly() {
    let world = World::sqlite();
    let (company, agent) = hired(&world);
    for _ in 0..1_000 {
        spend(&world, &agent, "0.3");
    }
    assert_eq!(spent(&world, &agent), cents("300"));
    assert_eq!(
        company_view(&world, company.id).spend.actual.to_string(),
        "300"
    );
}

#[test]
fn a_report_with_a_key_counts_once() {
    let world = World::sqlite();
    let (company, agent) = hired(&world);
    let keyed = ReportCost {
        idempotency_key: Some("call-1".into()),
        ..report_of(agent.id, "7")
    };
    let first = done(report(world.board(), company.id, &keyed));
    let again = done(report(world.agent(agent.id), company.id, &keyed));
    assert!(first.created);
    assert!(!again.created);
    assert_eq!(first.event, again.event);
    assert_eq!(spent(&world, &agent), cents("7"));
    assert_eq!(count(&world, company.id, Action::CostReported), 1);
}

#[test]
fn another_report_under_a_used_key_is_refused() {
    let world = World::sqlite();
    let (company, agent) = hired(&world);
    let keyed = ReportCost {
        idempotency_key: Some("call-1".into()),
        ..report_of(agent.id, "7")
    };
    done(report(world.board(), company.id, &keyed));
    let other = [
        ReportCost {
            cost: cents("8"),
            ..keyed.clone()
        },
        ReportCost {
            tokens: TokenUse {
                input: 11,
                ..keyed.tokens
            },
            ..keyed.clone()
        },
        ReportCost {
            model: name("other"),
            ..keyed
        },
    ];
    for command in other {
        let refusal = refused(report(world.board(), company.id, &command));
        assert_eq!(refusal, CostError::KeyReused);
        assert_eq!(refusal.code(), Code::IdempotencyKeyReused);
    }
    assert_eq!(spent(&world, &agent), cents("7"));
}

#[test]
fn a_key_stands_for_the_reports_of_one_agent() {
    let world = World::sqlite();
    let (company, agent) = hired(&world);
    let other = world.hired(company.id, "Other");
    for (spender, amount) in [(&agent, "7"), (&other, "8")] {
        let key = Some("call-1".into());
        let keyed = ReportCost {
            idempotency_key: key,
            ..report_of(spender.id, amount)
        };
        assert!(done(report(world.board(), company.id, &keyed)).created);
    }
    assert_eq!(company_view(&world, company.id).spend.actual, cents("15"));
}

#[test]
fn more_tokens_than_any_call_uses_are_refused() {
    const MOST: i64 = 1_000_000_000_000;
    let world = World::sqlite();
    let (company, agent) = hired(&world);
    let none = TokenUse::default();
    let cases = [
        (
            "/inputTokens",
            TokenUse {
                input: MOST + 1,
                ..none
            },
        ),
        (
            "/outputTokens",
            TokenUse {
                output: MOST + 1,
                ..none
            },
        ),
        (
            "/cachedInputTokens",
            TokenUse {
                cached_input: MOST + 1,
                ..none
            },
        ),
        (
            "/cacheWriteTokens",
            TokenUse {
                cache_write: MOST + 1,
                ..none
            },
        ),
    ];
    for (at, tokens) in cases {
        let command = ReportCost {
            tokens,
            ..report_of(agent.id, "1")
        };
        let refusal = refused(report(world.board(), company.id, &command));
        assert_eq!(refusal.code(), Code::InvalidField);
        assert_eq!(pointer(&refusal), at);
        assert!(matches!(refusal, CostError::Field(FieldFault { .. })));
    }
    let most = TokenUse {
        input: MOST,
        output: MOST,
        cached_input: MOST,
        cache_write: MOST,
    };
    let command = ReportCost {
        tokens: most,
        ..report_of(agent.id, "1")
    };
    assert_eq!(
        done(report(world.board(), company.id, &command))
            .event
            .tokens,
        most
    );
}

#[test]
fn a_cost_arises_neither_in_the_future_nor_long_ago() {
    let world = World::sqlite();
    let (company, agent) = hired(&world);
    let (now, bit) = (world.now(), Duration::from_micros(1));
    let at = |at| ReportCost {
        occurred_at: Some(at),
        ..report_of(agent.id, "1")
    };
    for near in [now.plus(MAX_AHEAD), now.minus(MAX_AGE)] {
        let reported = done(report(world.board(), company.id, &at(near)));
        assert_eq!(reported.event.occurred_at, near);
    }
    let refusals = [
        (now.plus(MAX_AHEAD).plus(bit), OccurrenceError::Future),
        (now.minus(MAX_AGE).minus(bit), OccurrenceError::TooOld),
    ];
    for (far, error) in refusals {
        let refusal = refused(report(world.board(), company.id, &at(far)));
        assert_eq!(refusal, CostError::Occurrence(error));
        assert_eq!(refusal.code(), Code::InvalidField);
        assert_eq!(pointer(&refusal), "/occurredAt");
    }
    assert_eq!(spent(&world, &agent), cents("1"));
}

#[test]
fn a_month_that_could_not_be_counted_exactly_is_refused() {
    let world = World::sqlite();
    let (company, agent) = hired(&world);
    spend(&world, &agent, "9000000000000");
    let more = report_of(agent.id, "9000000000000");
    let refusal = refused(report(world.board(), company.id, &more));
    assert_eq!(refusal, CostError::TooLarge);
    assert_eq!(spent(&world, &agent), cents("9000000000000"));
}

#[test]
fn the_newest_event_is_listed_first() {
    let world = World::sqlite();
    let (company, agent) = hired(&world);
    let first = spend(&world, &agent, "1");
    world.advance(Duration::from_secs(1));
    let second = spend(&world, &agent, "2");
    let page = PageRequest::first();
    let listed = done(
        world
            .board()
            .read(|reads, ctx| costs::list(reads, ctx, company.id, &page)),
    )
    .items;
    assert_eq!(listed, [second, first]);
}

workforce_testkit::on_both_databases! {
    fn reports_at_the_same_time_lose_nothing(store: &TestStore) {
        const EACH: usize = 25;
        let world = World::on(store);
        let company = world.company("Acme").id;
        let agents: Vec<Agent> =
            (0..2).map(|n| world.hired(company, &format!("Worker {n}"))).collect();
        std::thread::scope(|threads| {
            for number in 0..8 {
                let (world, agent) = (&world, &agents[number % 2]);
                threads.spawn(move || (0..EACH).for_each(|_| { spend(world, agent, "0.3"); }));
            }
        });
        for agent in &agents {
            assert_eq!(spent(&world, agent), cents("30"));
        }
        let all = spent_in(&world, company, Spender::Company, world.month());
        assert_eq!(all, cents("60"));
    }
}
