//! The lifecycles of runs and wakes.

use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::run::{RunStatus, WakeStatus};
use workforce_domain::string_enum::StringEnum;

use crate::table::{named, table};

#[test]
fn every_step_of_a_run() {
    let printed = table(
        "",
        &named::<RunStatus>(),
        &named::<RunStatus>(),
        |from, to| {
            from.transition_to(to)
                .map_or(".".into(), |_| "moves".into())
        },
    );
    insta::assert_snapshot!(printed);
}

#[test]
fn every_step_of_a_wake() {
    let printed = table(
        "",
        &named::<WakeStatus>(),
        &named::<WakeStatus>(),
        |from, to| {
            from.transition_to(to)
                .map_or(".".into(), |_| "moves".into())
        },
    );
    insta::assert_snapshot!(printed);
}

#[test]
fn only_a_running_run_is_live() {
    for status in RunStatus::ALL {
        assert_eq!(status.is_live(), *status == RunStatus::Running);
    }
}

#[test]
fn refusals_say_what_is_possible() {
    let refused = RunStatus::Queued
        .transition_to(RunStatus::Succeeded)
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a run cannot go from queued to succeeded; \
         from queued it can go to running, failed, cancelled"
    );
    let refused = WakeStatus::Dispatched
        .transition_to(WakeStatus::Pending)
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a wake cannot go from dispatched to pending; from dispatched it can go to nothing"
    );
}
