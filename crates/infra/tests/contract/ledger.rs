use std::thread;

use workforce_domain::actor::Scope;
use workforce_domain::budget::Threshold;
use workforce_domain::cost::{BillingType, CostEvent, CostTotal, TokenUse, Window};
use workforce_domain::money::Cents;
use workforce_domain::port::{ModelCost, ProjectCost, Spender, StoreError};
use workforce_domain::text::Name;
use workforce_domain::time::{Month, Timestamp};
use workforce_testkit::on_both_databases;

use crate::engine::cost;
use crate::world::{World, claim, goal, heartbeat, id, later, now, project, try_write};

fn november() -> Window {
    let month = Month::of(now());
    Window {
        start: month.start(),
        end: month.end(),
    }
}

fn spent(world: &World<'_>, spender: Spender) -> Cents {
    world
        .read(|reads| {
            reads
                .ledger()
                .spent(world.scope(), spender, Month::of(now()))
        })
        .actual
}

fn whole(cents: i64) -> Cents {
    Cents::from_cents(cents).unwrap()
}

on_both_databases! {
    #![beneath_the_rules]
    fn a_thousand_thirds_of_a_cent_add_up(store: &TestStore) {
        let world = World::new(store);
        world.write(|tx| {
            for _ in 0..1000 {
                tx.ledger_mut().record(&cost(&world, "0.3"))?;
            }
            Ok(())
        });
        assert_eq!(spent(&world, Spender::Company), whole(300));
        assert_eq!(spent(&world, Spender::Agent(world.agent.id)), whole(300));
        let total = world.read(|reads| reads.ledger().total(world.scope(), november()));
        assert_eq!(total.cost, whole(300));
    }

    fn costs_recorded_at_once_all_count(store: &TestStore) {
        let world = World::new(store);
        thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    for _ in 0..25 {
                        let event = cost(&world, "1.5");
                        world.write(|tx| {
                            tx.companies_mut().lock(Scope::SYSTEM, world.company.id)?;
                            tx.agents_mut().lock(Scope::SYSTEM, world.agent.id)?;
                            tx.ledger_mut().record(&event)
                        });
                    }
                });
            }
        });
        assert_eq!(spent(&world, Spender::Company), whole(300));
        assert_eq!(spent(&world, Spender::Agent(world.agent.id)), whole(300));
    }

    fn a_total_never_wraps(store: &TestStore) {
        let world = World::new(store);
        let huge = CostEvent { cost: Cents::from_micros(i64::MAX - 1), ..cost(&world, "1") };
        let small = CostEvent { cost: Cents::from_micros(1), ..cost(&world, "1") };
        world.write(|tx| tx.ledger_mut().record(&huge));
        world.write(|tx| tx.ledger_mut().record(&small));
        let refused = try_write(&**store, |tx| {
            tx.ledger_mut().record(&CostEvent { id: id(), ..small.clone() })
        });
        assert!(matches!(refused, Err(StoreError::Constraint { .. })), "{refused:?}");
        assert_eq!(spent(&world, Spender::Company), Cents::from_micros(i64::MAX));
    }

    fn months_and_spenders_are_counted_apart(store: &TestStore) {
        let (world, other) = (World::new(store), World::new(store));
        let colleague = world.hire();
        let last_month = Timestamp::parse("2026-10-31T23:59:59.999999Z").unwrap();
        let next_month = Timestamp::parse("2026-12-01").unwrap();
        world.write(|tx| {
            let ledger = tx.ledger_mut();
            ledger.record(&CostEvent { occurred_at: last_month, ..cost(&world, "1") })?;
            ledger.record(&CostEvent { occurred_at: next_month, ..cost(&world, "2") })?;
            ledger.record(&CostEvent { occurred_at: november().start, ..cost(&world, "4") })?;
            ledger.record(&CostEvent { agent: colleague.id, ..cost(&world, "8") })?;
            ledger.record(&CostEvent { counted: false, ..cost(&world, "16") })?;
            ledger.record(&cost(&other, "32"))
        });
        assert_eq!(spent(&world, Spender::Company), whole(12));
        assert_eq!(spent(&world, Spender::Agent(world.agent.id)), whole(4));
        assert_eq!(spent(&world, Spender::Agent(colleague.id)), whole(8));
        let total = world.read(|reads| reads.ledger().total(world.scope(), november()));
        assert_eq!(total.cost, whole(12));
        let by = world.read(|reads| {
            reads.ledger().spent_by(
                world.scope(),
                &[world.agent.id, colleague.id, other.agent.id],
                Month::of(now()),
            )
        });
        let mut by: Vec<_> = by.into_iter().map(|(agent, spend)| (agent, spend.actual)).collect();
        by.sort_unstable();
        assert_eq!(by, [(world.agent.id, whole(4)), (colleague.id, whole(8))]);
        let idle = World::new(store);
        let companies = world.read(|reads| {
            reads.ledger().spent_by_companies(
                &[world.scope(), other.scope(), idle.scope()],
                Month::of(now()),
            )
        });
        let mut companies: Vec<_> =
            companies.into_iter().map(|(company, spend)| (company, spend.actual)).collect();
        companies.sort_by_key(|(_, spent)| *spent);
        assert_eq!(companies, [(world.scope(), whole(12)), (other.scope(), whole(32))]);
    }

    fn sums_tell_tokens_and_distinct_runs(store: &TestStore) {
        let world = World::new(store);
        let colleague = world.hire();
        world.change_agent(&world.agent, |agent| agent.runtime_config = heartbeat(3));
        let runs = [None, Some(&world.issue)].map(|issue| {
            world.queue(&world.agent, issue);
            claim(store).expect("it may start").run.id
        });
        let project = project(&world.company);
        world.write(|tx| tx.projects_mut().insert(project.clone()));
        let tokens = TokenUse { input: 1, output: 10, cached_input: 100, cache_write: 1000 };
        let other = Name::parse("n").unwrap();
        let event = |run: usize, billing_type, cents| CostEvent {
            run: Some(runs[run]),
            billing_type,
            tokens,
            ..cost(&world, cents)
        };
        world.write(|tx| {
            let ledger = tx.ledger_mut();
            ledger.record(&event(0, BillingType::Api, "1"))?;
            ledger.record(&event(0, BillingType::Api, "2"))?;
            ledger.record(&CostEvent {
                project: Some(project.id),
                ..event(1, BillingType::Api, "4")
            })?;
            ledger.record(&event(1, BillingType::Subscription, "0"))?;
            ledger.record(&CostEvent {
                counted: false,
                ..event(1, BillingType::Subscription, "0")
            })?;
            let theirs = |cents| CostEvent {
                agent: colleague.id,
                model: other.clone(),
                ..cost(&world, cents)
            };
            ledger.record(&theirs("100"))?;
            // Of a model without a price, and nobody told the amount.
            ledger.record(&theirs("0"))
        });
        let own = CostTotal {
            cost: whole(7),
            estimated: Cents::ZERO,
            tokens: TokenUse { input: 4, output: 40, cached_input: 400, cache_write: 4000 },
            api_runs: 2,
            subscription_runs: 1,
            subscription_input: 1,
            subscription_output: 10,
            unknown: 0,
        };
        let others = CostTotal { cost: whole(100), unknown: 1, ..CostTotal::default() };
        let total = world.read(|reads| reads.ledger().total(world.scope(), november()));
        assert_eq!(total, CostTotal { cost: whole(107), unknown: 1, ..own });
        let by_agent = world.read(|reads| reads.ledger().by_agent(world.scope(), november()));
        assert_eq!(by_agent, [(colleague.id, others), (world.agent.id, own)]);
        let by_model = world.read(|reads| reads.ledger().by_model(world.scope(), november()));
        let of = |model, total| ModelCost {
            provider: Name::parse("anthropic").unwrap(),
            model,
            total,
        };
        let usual = Name::parse("m").unwrap();
        assert_eq!(by_model, [of(other, others), of(usual, own)]);
        let by_project = world.read(|reads| reads.ledger().by_project(world.scope(), november()));
        let in_project =
            CostTotal { cost: whole(4), tokens, api_runs: 1, ..CostTotal::default() };
        assert_eq!(
            by_project,
            [
                ProjectCost {
                    project: None,
                    total: CostTotal {
                        cost: whole(103),
                        tokens: TokenUse { input: 3, output: 30, cached_input: 300, cache_write: 3000 },
                        api_runs: 1,
                        unknown: 1,
                        ..own
                    },
                },
                ProjectCost {
                    project: Some((project.id, project.name)),
                    total: in_project,
                },
            ]
        );
        let nothing = Window { start: later(1), end: later(2) };
        let total = world.read(|reads| reads.ledger().total(world.scope(), nothing));
        assert_eq!(total, CostTotal::default());
    }

    fn an_event_is_recorded_once_per_key_of_its_agent(store: &TestStore) {
        let world = World::new(store);
        let (project, goal) = (project(&world.company), goal(&world.company));
        world.write(|tx| {
            tx.projects_mut().insert(project.clone())?;
            tx.goals_mut().insert(goal.clone())
        });
        let first = CostEvent {
            issue: Some(world.issue.id),
            project: Some(project.id),
            goal: Some(goal.id),
            billing_code: Some(workforce_domain::text::Label::parse("b").unwrap()),
            idempotency_key: Some("k".into()),
            ..cost(&world, "3")
        };
        world.write(|tx| tx.ledger_mut().record(&first));
        let again = CostEvent { id: id(), ..first.clone() };
        let refused = try_write(&**store, |tx| tx.ledger_mut().record(&again));
        assert!(matches!(refused, Err(StoreError::Contended)), "{refused:?}");
        assert_eq!(spent(&world, Spender::Company), whole(3));
        let find = |key: &str| {
            world.read(|reads| reads.ledger().find_by_key(world.scope(), world.agent.id, key))
        };
        assert_eq!(find("k"), Some(first));
        assert_eq!(find("K"), None);
        let colleague = world.hire();
        let other = CostEvent { id: id(), agent: colleague.id, ..again };
        world.write(|tx| tx.ledger_mut().record(&other));
    }

    fn an_alert_is_raised_once_a_month(store: &TestStore) {
        let world = World::new(store);
        let month = Month::of(now());
        let raise = |spender, month, threshold| {
            world.write(|tx| {
                tx.ledger_mut().raise_alert(world.scope(), spender, month, threshold, now())
            })
        };
        let own = Spender::Agent(world.agent.id);
        assert!(raise(own, month, Threshold::Soft));
        assert!(!raise(own, month, Threshold::Soft));
        assert!(raise(own, month, Threshold::Hard));
        assert!(raise(own, month.next(), Threshold::Soft));
        assert!(raise(Spender::Company, month, Threshold::Soft));
        let alerts = |spender| {
            let mut alerts =
                world.read(|reads| reads.ledger().alerts(world.scope(), spender, month));
            alerts.sort_unstable();
            alerts
        };
        assert_eq!(alerts(own), [Threshold::Soft, Threshold::Hard]);
        assert_eq!(alerts(Spender::Company), [Threshold::Soft]);
    }
}
