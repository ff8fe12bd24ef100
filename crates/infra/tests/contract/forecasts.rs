//! What the forecast of a budget is made from (docs/budgets.md#forecast).

use workforce_domain::budget::{BudgetBasis, Replay};
use workforce_domain::cost::{CostEvent, Window};
use workforce_domain::id::RunId;
use workforce_domain::money::Cents;
use workforce_domain::port::Spender;
use workforce_domain::time::Timestamp;
use workforce_testkit::on_both_databases;

use crate::engine::cost;
use crate::world::{World, claim, heartbeat, project};

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn cents(text: &str) -> Cents {
    text.parse().unwrap()
}

fn between(start: &str, end: &str) -> Window {
    Window {
        start: at(start),
        end: at(end),
    }
}

fn on(world: &World<'_>, instant: &str, amount: &str) -> CostEvent {
    CostEvent {
        occurred_at: at(instant),
        ..cost(world, amount)
    }
}

fn record(world: &World<'_>, events: &[CostEvent]) {
    world.write(|tx| {
        events
            .iter()
            .try_for_each(|event| tx.ledger_mut().record(event))
    });
}

/// What was spent on each day of a window, as `day cost estimate`.
fn by_day(world: &World<'_>, spender: Spender, window: Window) -> Vec<String> {
    let days = world.read(|reads| reads.ledger().by_day(world.scope(), spender, window));
    days.into_iter()
        .map(|(day, total)| format!("{day} {} {}", total.cost, total.estimated))
        .collect()
}

fn first(world: &World<'_>, spender: Spender) -> Option<Timestamp> {
    world.read(|reads| reads.ledger().first_cost(world.scope(), spender))
}

fn replay(world: &World<'_>, spender: Spender, basis: BudgetBasis, limit: &str) -> Replay {
    let november = between("2026-11-01", "2026-12-01");
    let limit = cents(limit);
    world.read(|reads| {
        let ledger = reads.ledger();
        ledger.replay(world.scope(), spender, november, basis, limit)
    })
}

on_both_databases! {
    #![beneath_the_rules]
    fn days_begin_at_midnight_in_utc(store: &TestStore) {
        let (world, other) = (World::new(store), World::new(store));
        let colleague = world.hire();
        let project = project(&world.company);
        world.write(|tx| tx.projects_mut().insert(project.clone()));
        let (own, site) = (Spender::Agent(world.agent.id), Spender::Project(project.id));
        record(&world, &[
            on(&world, "2026-10-30T23:59:59.999999Z", "1"),
            on(&world, "2026-10-31T00:00:00Z", "2"),
            on(&world, "2026-10-31T23:59:59.999999Z", "4.000001"),
            CostEvent {
                agent: colleague.id,
                estimated: Some(cents("3")),
                ..on(&world, "2026-11-01T00:00:00Z", "8")
            },
            CostEvent {
                project: Some(project.id),
                estimated: Some(cents("5")),
                ..on(&world, "2026-11-01T12:00:00Z", "0")
            },
            CostEvent { counted: false, ..on(&world, "2026-11-01T13:00:00Z", "16") },
            on(&world, "2026-11-02T00:00:00Z", "32"),
            on(&other, "2026-10-01T00:00:00Z", "64"),
        ]);
        let window = between("2026-10-31", "2026-11-02");
        assert_eq!(
            by_day(&world, Spender::Company, window),
            ["2026-10-31 6.000001 0", "2026-11-01 8 8"]
        );
        assert_eq!(by_day(&world, own, window), ["2026-10-31 6.000001 0", "2026-11-01 0 5"]);
        assert_eq!(by_day(&world, site, window), ["2026-11-01 0 5"]);
        assert_eq!(first(&world, Spender::Company), Some(at("2026-10-30T23:59:59.999999Z")));
        assert_eq!(first(&world, own), first(&world, Spender::Company));
        assert_eq!(
            first(&world, Spender::Agent(colleague.id)),
            Some(at("2026-11-01T00:00:00Z"))
        );
        assert_eq!(first(&world, site), Some(at("2026-11-01T12:00:00Z")));
        assert_eq!(first(&World::new(store), Spender::Company), None);
        // A late report of an earlier month comes first.
        record(&world, &[on(&world, "2026-09-30T23:00:00Z", "1")]);
        assert_eq!(first(&world, own), Some(at("2026-09-30T23:00:00Z")));
    }

    fn the_order_of_a_days_events_does_not_matter(store: &TestStore) {
        let amounts = ["0.1", "7", "0.000001", "250"];
        let told = [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]].map(|order| {
            let world = World::new(store);
            for (hour, place) in order.into_iter().enumerate() {
                let instant = format!("2026-11-03T{:02}:00:00Z", hour * 7);
                record(&world, &[on(&world, &instant, amounts[place])]);
            }
            by_day(&world, Spender::Company, between("2026-11-01", "2026-11-10"))
        });
        assert_eq!(told[0], ["2026-11-03 257.100001 0"]);
        assert!(told.iter().all(|days| *days == told[0]), "{told:?}");
    }

    fn a_month_is_replayed_under_another_limit(store: &TestStore) {
        let world = World::new(store);
        let colleague = world.hire();
        world.change_agent(&world.agent, |agent| agent.runtime_config = heartbeat(3));
        let runs: [RunId; 2] = [None, Some(&world.issue)].map(|issue| {
            world.queue(&world.agent, issue);
            claim(store).expect("it may start").run.id
        });
        let spent = |run: usize, instant: &str, amount: &str| CostEvent {
            run: Some(runs[run]),
            ..on(&world, instant, amount)
        };
        record(&world, &[
            // Reported out of order; of another month; of another agent.
            spent(1, "2026-11-05T00:00:00Z", "30"),
            spent(0, "2026-11-03T00:00:00Z", "20"),
            spent(0, "2026-11-01T00:00:00Z", "10"),
            spent(0, "2026-10-31T23:59:59.999999Z", "1000"),
            spent(0, "2026-12-01T00:00:00Z", "1000"),
            CostEvent { agent: colleague.id, ..on(&world, "2026-11-02T00:00:00Z", "5") },
            // Two of one instant, which count together.
            spent(0, "2026-11-04T00:00:00Z", "1"),
            CostEvent { estimated: Some(cents("100")), ..spent(1, "2026-11-04T00:00:00Z", "9") },
            CostEvent { counted: false, ..spent(1, "2026-11-06T00:00:00Z", "500") },
        ]);
        let own = Spender::Agent(world.agent.id);
        let actual = BudgetBasis::Actual;
        let stopped = |day: u8, after: &str, events, runs| Replay {
            stopped_at: Some(at(&format!("2026-11-{day:02}"))),
            spend_after: cents(after),
            events_after: events,
            runs_after: runs,
        };
        for (limit, expected) in [
            ("0.000001", stopped(1, "60", 4, 2)),
            ("10", stopped(1, "60", 4, 2)),
            ("10.000001", stopped(3, "40", 3, 2)),
            ("31", stopped(4, "30", 1, 1)),
            ("40.5", stopped(5, "0", 0, 0)),
            ("70", stopped(5, "0", 0, 0)),
            ("70.000001", Replay::default()),
        ] {
            assert_eq!(replay(&world, own, actual, limit), expected, "{limit}");
        }
        // The company spent what its agents did.
        assert_eq!(replay(&world, Spender::Company, actual, "15"), stopped(2, "60", 4, 2));
        // By list only one of them cost anything.
        assert_eq!(
            replay(&world, own, BudgetBasis::Estimated, "100"),
            stopped(4, "0", 1, 1)
        );
    }
}
