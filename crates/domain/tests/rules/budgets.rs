//! What budgets ask for.

use proptest::prelude::*;
use workforce_domain::agent::AgentLifecycle;
use workforce_domain::budget::{
    AgentPause, BudgetUsage, OccurrenceError, RaisedAlerts, Threshold, check_occurrence,
    decide_agent, decide_company,
};
use workforce_domain::company::PauseReason;
use workforce_domain::money::{Budget, Cents};
use workforce_domain::time::Timestamp;

use crate::table::table;

fn usage(spent: &str, budget: i64) -> BudgetUsage {
    BudgetUsage {
        spent: spent.parse().unwrap(),
        budget: Budget::from_cents(budget).unwrap(),
    }
}

const NONE: RaisedAlerts = RaisedAlerts {
    soft: false,
    hard: false,
};

fn printed(alerts: &[Threshold], pause: bool, resume: bool) -> String {
    let mut words: Vec<String> = alerts.iter().map(ToString::to_string).collect();
    words.extend(pause.then(|| "PAUSE".into()));
    words.extend(resume.then(|| "RESUME".into()));
    if words.is_empty() {
        "-".into()
    } else {
        words.join("+")
    }
}

fn spends() -> Vec<(String, BudgetUsage)> {
    [
        ("0", 100),
        ("79.999999", 100),
        ("80", 100),
        ("99.999999", 100),
        ("100", 100),
        ("250", 100),
    ]
    .into_iter()
    .chain([("250", 0)])
    .map(|(spent, budget)| (format!("{spent} of {budget}"), usage(spent, budget)))
    .collect()
}

fn alerts() -> [(&'static str, RaisedAlerts); 3] {
    [
        ("nothing raised", NONE),
        (
            "soft raised",
            RaisedAlerts {
                soft: true,
                hard: false,
            },
        ),
        (
            "both raised",
            RaisedAlerts {
                soft: true,
                hard: true,
            },
        ),
    ]
}

#[test]
fn every_decision_about_an_agent() {
    let pauses = [
        AgentPause::Running,
        AgentPause::Manual,
        AgentPause::Budget,
        AgentPause::Inactive,
    ];
    let mut columns = Vec::new();
    for (name, raised) in alerts() {
        for pause in pauses {
            columns.push((format!("{pause:?}, {name}"), (pause, raised)));
        }
    }
    let text = table("", &columns, &spends(), |(pause, raised), usage| {
        let decision = decide_agent(usage, raised, pause);
        printed(&decision.alerts, decision.pause, decision.resume)
    });
    insta::assert_snapshot!(text);
}

#[test]
fn every_decision_about_a_company() {
    let mut columns = Vec::new();
    for (name, raised) in alerts() {
        for pause in [None, Some(PauseReason::Manual), Some(PauseReason::Budget)] {
            let reason = pause.map_or("no pause".into(), |reason| reason.to_string());
            columns.push((format!("{reason}, {name}"), (pause, raised)));
        }
    }
    let text = table("", &columns, &spends(), |(pause, raised), usage| {
        let decision = decide_company(usage, raised, pause);
        printed(&decision.alerts, decision.pause, decision.resume)
    });
    insta::assert_snapshot!(text);
}

#[test]
fn both_alerts_are_raised_when_one_cost_crosses_both() {
    let decision = decide_agent(usage("100", 100), NONE, AgentPause::Running);
    assert_eq!(decision.alerts, [Threshold::Soft, Threshold::Hard]);
    assert!(decision.pause);
}

#[test]
fn shares_print_with_two_decimals_and_never_too_early() {
    let percent = |spent, budget| usage(spent, budget).utilization().to_string();
    assert_eq!(percent("0", 100), "0.00");
    assert_eq!(percent("0.3", 100), "0.30");
    assert_eq!(percent("79.999999", 100), "79.99");
    assert_eq!(percent("80", 100), "80.00");
    assert_eq!(percent("1", 3), "33.33");
    assert_eq!(percent("2", 3), "66.66");
    assert_eq!(percent("1234", 100), "1234.00");
    assert_eq!(percent("5", 0), "0.00");
}

#[test]
fn the_largest_amounts_are_counted_exactly() {
    let budget = Budget::from_cents(Budget::MAX_CENTS).unwrap();
    let full = BudgetUsage {
        spent: budget.limit().unwrap(),
        budget,
    };
    assert_eq!(full.reached(), Some(Threshold::Hard));
    let almost = BudgetUsage {
        spent: Cents::from_micros(full.spent.micros() - 1),
        budget,
    };
    assert_eq!(almost.reached(), Some(Threshold::Soft));
    assert_eq!(almost.remaining(), Some(Cents::from_micros(1)));
    let spent = Cents::from_micros(i64::MAX);
    let tiny = BudgetUsage {
        spent,
        budget: Budget::from_cents(1).unwrap(),
    };
    assert_eq!(
        tiny.utilization_percent_hundredths(),
        92_233_720_368_547_758
    );
    assert_eq!(tiny.remaining(), Some(Cents::ZERO));
    assert_eq!(usage("5", 0).remaining(), None);
}

#[test]
fn only_a_pause_by_the_budget_counts_as_one() {
    let at = Timestamp::from_micros(0);
    let paused = |reason| AgentPause::from(AgentLifecycle::ENABLED.pause(reason, at).unwrap());
    assert_eq!(paused(PauseReason::Budget), AgentPause::Budget);
    assert_eq!(paused(PauseReason::Manual), AgentPause::Manual);
    assert_eq!(paused(PauseReason::System), AgentPause::Manual);
    assert_eq!(
        AgentPause::from(AgentLifecycle::ENABLED),
        AgentPause::Running
    );
    assert_eq!(
        AgentPause::from(AgentLifecycle::DRAFT),
        AgentPause::Inactive
    );
    assert_eq!(
        AgentPause::from(AgentLifecycle::ENABLED.terminate(at).unwrap()),
        AgentPause::Inactive
    );
}

#[test]
fn a_cost_belongs_to_the_month_in_which_it_arose() {
    let now = Timestamp::parse("2026-11-01T00:02:00Z").unwrap();
    let month = |at: &str| {
        check_occurrence(now, Timestamp::parse(at).unwrap()).map(|month| month.to_string())
    };
    assert_eq!(month("2026-11-01T00:00:00Z"), Ok("2026-11".into()));
    assert_eq!(month("2026-10-31T23:59:59.999999Z"), Ok("2026-10".into()));
    assert_eq!(month("2026-11-01T01:00:00+02:00"), Ok("2026-10".into()));
    assert_eq!(month("2026-11-01T00:07:00Z"), Ok("2026-11".into()));
    assert_eq!(
        month("2026-11-01T00:07:00.000001Z"),
        Err(OccurrenceError::Future)
    );
    assert_eq!(month("2026-09-17T00:02:00Z"), Ok("2026-09".into()));
    assert_eq!(
        month("2026-09-17T00:01:59.999999Z"),
        Err(OccurrenceError::TooOld)
    );
}

proptest! {
    #[test]
    fn a_month_of_costs_raises_each_alert_once_and_stops_at_the_limit(
        budget in 1_i64..1_000,
        costs in proptest::collection::vec(0_i64..200_000_000, 0..40),
    ) {
        let budget = Budget::from_cents(budget).unwrap();
        let mut usage = BudgetUsage { spent: Cents::ZERO, budget };
        let mut raised = NONE;
        let mut pause = AgentPause::Running;
        let mut total: i128 = 0;
        let mut history = Vec::new();
        for cost in costs {
            total += i128::from(cost);
            usage.spent = usage.spent.checked_add(Cents::from_micros(cost)).unwrap();
            prop_assert_eq!(i128::from(usage.spent.micros()), total);
            let decision = decide_agent(usage, raised, pause);
            for alert in decision.alerts {
                match alert {
                    Threshold::Soft => raised.soft = true,
                    Threshold::Hard => raised.hard = true,
                }
                history.push(alert);
            }
            if decision.pause {
                pause = AgentPause::Budget;
            }
            prop_assert!(!decision.resume, "spend only grows");
            let limit = i128::from(budget.cents()) * 1_000_000;
            prop_assert_eq!(raised.soft, total * 5 >= limit * 4);
            prop_assert_eq!(raised.hard, total >= limit);
            prop_assert_eq!(pause == AgentPause::Budget, total >= limit);
        }
        prop_assert!([Threshold::Soft, Threshold::Hard].starts_with(&history));

        let raise = BudgetUsage { spent: usage.spent, budget: Budget::UNLIMITED };
        let lifted = decide_agent(raise, raised, pause);
        prop_assert_eq!(lifted.resume, pause == AgentPause::Budget);
        prop_assert!(lifted.alerts.is_empty() && !lifted.pause);
    }
}
