//! What holds for every lifecycle, and where agents and companies can go.

use proptest::prelude::*;
use workforce_domain::agent::{AgentLifecycle, AgentLifecycleRecord, AgentState};
use workforce_domain::approval::ApprovalStatus;
use workforce_domain::company::{
    CompanyLifecycle, CompanyLifecycleRecord, CompanyStatus, PauseReason,
};
use workforce_domain::issue::IssueStatus;
use workforce_domain::lifecycle::{IllegalTransition, Lifecycle};
use workforce_domain::run::{RunStatus, WakeStatus};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::time::Timestamp;

use crate::table::{named, table};

const fn at(second: i64) -> Timestamp {
    Timestamp::from_micros(1_700_000_000_000_000 + second * 1_000_000)
}

fn follows_its_table<S: Lifecycle>() {
    for &from in S::ALL {
        assert_eq!(
            from.is_terminal(),
            S::ALL.iter().all(|to| from.transition_to(*to).is_err())
        );
        assert!(
            from.transition_to(from).is_err(),
            "to stay is no step: {from}"
        );
        for &to in S::ALL {
            let leads_there = from.successors().contains(&to);
            assert_eq!(to.predecessors().any(|before| before == from), leads_there);
            let refusal = IllegalTransition {
                from,
                to,
                allowed: from.successors(),
            };
            let expected = if leads_there { Ok(to) } else { Err(refusal) };
            assert_eq!(from.transition_to(to), expected);
        }
    }
}

#[test]
fn every_lifecycle_follows_its_table() {
    follows_its_table::<IssueStatus>();
    follows_its_table::<ApprovalStatus>();
    follows_its_table::<RunStatus>();
    follows_its_table::<WakeStatus>();
    follows_its_table::<AgentState>();
    follows_its_table::<CompanyStatus>();
}

#[test]
fn every_step_of_an_agent() {
    let states = named::<AgentState>();
    let printed = table("", &states, &states, |from, to| {
        from.transition_to(to)
            .map_or(".".into(), |_| "moves".into())
    });
    insta::assert_snapshot!(printed);
}

#[test]
fn every_step_of_a_company() {
    let statuses = named::<CompanyStatus>();
    let printed = table("", &statuses, &statuses, |from, to| {
        from.transition_to(to)
            .map_or(".".into(), |_| "moves".into())
    });
    insta::assert_snapshot!(printed);
}

#[test]
fn only_the_board_takes_a_pause_over() {
    let manual = AgentLifecycle::ENABLED
        .pause(PauseReason::Manual, at(0))
        .unwrap();
    let budget = AgentLifecycle::ENABLED
        .pause(PauseReason::Budget, at(0))
        .unwrap();
    for reason in PauseReason::ALL {
        assert_eq!(manual.pause(*reason, at(1)), Ok(manual));
    }
    assert_eq!(budget.pause(PauseReason::Budget, at(1)), Ok(budget));
    let taken = budget.pause(PauseReason::Manual, at(1)).unwrap();
    assert_eq!(taken.pause_reason(), Some(PauseReason::Manual));
    assert_eq!(taken.paused().map(|pause| pause.at), Some(at(1)));
}

#[test]
fn an_agent_is_restored_only_as_it_can_be() {
    let instants = [None, Some(at(3))];
    let reasons = [None, Some(PauseReason::Manual), Some(PauseReason::Budget)];
    for state in AgentState::ALL.iter().copied() {
        for (pause_reason, since) in reasons
            .into_iter()
            .flat_map(|reason| instants.map(|since| (reason, since)))
        {
            let record = AgentLifecycleRecord {
                state,
                pause_reason,
                since,
            };
            let has_instant = matches!(state, AgentState::Paused | AgentState::Terminated);
            let fits = pause_reason.is_some() == (state == AgentState::Paused)
                && since.is_some() == has_instant;
            let restored = AgentLifecycle::restore(record);
            assert_eq!(restored.is_ok(), fits, "{record:?}");
            if let Ok(lifecycle) = restored {
                assert_eq!(lifecycle.record(), record);
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum AgentStep {
    Pause(PauseReason),
    Enable,
    Terminate,
}

fn agent_steps() -> impl Strategy<Value = AgentStep> {
    prop_oneof![
        prop::sample::select(PauseReason::ALL).prop_map(AgentStep::Pause),
        Just(AgentStep::Enable),
        Just(AgentStep::Terminate),
    ]
}

#[derive(Clone, Copy, Debug)]
enum CompanyStep {
    Go(CompanyStatus),
    BudgetStop,
    LiftBudgetStop,
}

fn company_steps() -> impl Strategy<Value = CompanyStep> {
    prop_oneof![
        prop::sample::select(CompanyStatus::ALL).prop_map(CompanyStep::Go),
        Just(CompanyStep::BudgetStop),
        Just(CompanyStep::LiftBudgetStop),
    ]
}

proptest! {
    #[test]
    fn an_agent_only_goes_where_its_table_leads(
        draft: bool,
        steps in prop::collection::vec(agent_steps(), 0..20),
    ) {
        let mut agent = if draft { AgentLifecycle::DRAFT } else { AgentLifecycle::ENABLED };
        for (second, step) in (0..).zip(steps) {
            let before = agent;
            let after = match step {
                AgentStep::Pause(reason) => before.pause(reason, at(second)),
                AgentStep::Enable => before.enable(),
                AgentStep::Terminate => before.terminate(at(second)),
            };
            match after {
                Ok(after) => {
                    let (from, to) = (before.state(), after.state());
                    prop_assert!(from == to || from.successors().contains(&to), "{from} {to}");
                    agent = after;
                }
                Err(refused) => {
                    prop_assert!(!before.state().successors().contains(&refused.to));
                    prop_assert_eq!(refused.from, before.state());
                }
            }
            prop_assert_eq!(AgentLifecycle::restore(agent.record()), Ok(agent));
        }
    }

    #[test]
    fn a_company_says_why_it_is_stopped(
        steps in prop::collection::vec(company_steps(), 0..20),
    ) {
        let mut company = CompanyLifecycle::ACTIVE;
        for (second, step) in (0..).zip(steps) {
            let before = company;
            match step {
                CompanyStep::Go(to) => match before.transition_to(to, at(second)) {
                    Ok(after) => {
                        prop_assert_eq!(after.status(), to);
                        company = after;
                    }
                    Err(_) => prop_assert_eq!(before.status(), to),
                },
                CompanyStep::BudgetStop => {
                    company = before.stop_for_budget(at(second));
                    prop_assert!(company.paused().is_some());
                    prop_assert!(before.paused().is_none() || before == company);
                }
                CompanyStep::LiftBudgetStop => {
                    company = before.lift_budget_stop();
                    prop_assert!(company.pause_reason() != Some(PauseReason::Budget));
                }
            }
            let paused = company.status() == CompanyStatus::Paused;
            prop_assert_eq!(paused, company.pause_reason() == Some(PauseReason::Manual));
            prop_assert_eq!(CompanyLifecycle::restore(company.record()), Ok(company));
        }
    }
}

#[test]
fn a_company_whose_facts_disagree_is_not_restored() {
    let whole = CompanyLifecycle::ACTIVE.record();
    for broken in [
        CompanyLifecycleRecord {
            pause_reason: Some(PauseReason::Budget),
            ..whole
        },
        CompanyLifecycleRecord {
            status: CompanyStatus::Paused,
            ..whole
        },
        CompanyLifecycleRecord {
            archived_at: Some(at(1)),
            ..whole
        },
        CompanyLifecycleRecord {
            status: CompanyStatus::Archived,
            ..whole
        },
        CompanyLifecycleRecord {
            pause_reason: Some(PauseReason::Manual),
            paused_at: Some(at(1)),
            ..whole
        },
    ] {
        assert!(CompanyLifecycle::restore(broken).is_err(), "{broken:?}");
    }
}
