//! The lifecycle of issues.

use std::time::Duration;

use proptest::prelude::*;
use workforce_domain::issue::{IssueStatus, Moved, Mover, Priority, Progress, ProgressRecord};
use workforce_domain::lifecycle::{IllegalTransition, Lifecycle};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::time::Timestamp;

use crate::table::{named, table};

const START: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

fn later(seconds: u64) -> Timestamp {
    START.plus(Duration::from_secs(seconds))
}

fn outcome(result: Result<Moved, IllegalTransition<IssueStatus>>) -> String {
    match result {
        Err(_) => ".".into(),
        Ok(moved) if !moved.is_change() => "stays".into(),
        Ok(Moved { reopened: true, .. }) => "reopens".into(),
        Ok(Moved {
            overridden: true, ..
        }) => "overrides".into(),
        Ok(_) => "moves".into(),
    }
}

fn moves(mover: Mover, corner: &str) -> String {
    table(
        corner,
        &named::<IssueStatus>(),
        &named::<IssueStatus>(),
        |from, to| outcome(Progress::begin(from, START).transition_to(mover, to, later(1))),
    )
}

#[test]
fn every_update_of_the_status_by_an_agent() {
    insta::assert_snapshot!(moves(Mover::Agent, "agent"));
}

#[test]
fn every_update_of_the_status_by_the_board() {
    insta::assert_snapshot!(moves(Mover::Board, "board"));
}

#[derive(Clone, Copy, Debug)]
enum Step {
    CheckOut,
    Release,
    Reopen(IssueStatus),
}

#[test]
fn every_other_event() {
    let steps = [
        ("check_out".to_owned(), Step::CheckOut),
        ("release".to_owned(), Step::Release),
        ("reopen to todo".to_owned(), Step::Reopen(IssueStatus::Todo)),
        (
            "reopen to backlog".to_owned(),
            Step::Reopen(IssueStatus::Backlog),
        ),
        ("reopen to done".to_owned(), Step::Reopen(IssueStatus::Done)),
    ];
    let printed = table("", &named::<IssueStatus>(), &steps, |from, step| {
        let progress = Progress::begin(from, START);
        let next = match step {
            Step::CheckOut => progress.check_out(IssueStatus::ALL, later(1)).ok(),
            Step::Release => Some(progress.release(later(1))),
            Step::Reopen(to) => progress
                .reopen(to, later(1))
                .ok()
                .map(|moved| moved.progress),
        };
        next.map_or(".".into(), |next| next.status().to_string())
    });
    insta::assert_snapshot!(printed);
}

#[test]
fn a_refusal_says_what_is_possible() {
    let refused = |from, to| {
        Progress::begin(from, START)
            .transition_to(Mover::Agent, to, later(1))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refused(IssueStatus::Backlog, IssueStatus::Done),
        "an issue cannot go from backlog to done; \
         from backlog it can go to todo, in_progress, cancelled"
    );
    assert_eq!(
        refused(IssueStatus::Done, IssueStatus::Todo),
        "an issue cannot go from done to todo; from done it can go to nothing"
    );
}

#[test]
fn a_new_issue_has_the_instants_that_its_status_implies() {
    let rows = named::<IssueStatus>();
    let columns = ["started", "last started", "completed", "cancelled"];
    let columns: Vec<_> = columns
        .iter()
        .map(|name| ((*name).to_owned(), *name))
        .collect();
    let printed = table("", &rows, &columns, |status, column| {
        let progress = Progress::begin(status, START);
        let instant = match column {
            "started" => progress.started_at(),
            "last started" => progress.last_started_at(),
            "completed" => progress.completed_at(),
            _ => progress.cancelled_at(),
        };
        match instant {
            Some(START) => "now".into(),
            Some(other) => other.to_string(),
            None => "-".into(),
        }
    });
    insta::assert_snapshot!(printed);
}

#[test]
fn rework_keeps_the_first_start_and_records_the_last() {
    let agent = |progress: &Progress, to, seconds| {
        progress
            .transition_to(Mover::Agent, to, later(seconds))
            .unwrap()
            .progress
    };
    let started = Progress::begin(IssueStatus::Todo, START)
        .check_out(&[IssueStatus::Todo], later(10))
        .unwrap();
    let reviewed = agent(&started, IssueStatus::InReview, 20);
    let reworked = agent(&reviewed, IssueStatus::InProgress, 30);
    let done = agent(&reworked, IssueStatus::Done, 40);
    assert_eq!(done.started_at(), Some(later(10)));
    assert_eq!(done.last_started_at(), Some(later(30)));
    assert_eq!(done.completed_at(), Some(later(40)));

    let reopened = done.reopen(IssueStatus::Todo, later(50)).unwrap().progress;
    assert_eq!(reopened.started_at(), Some(later(10)));
    assert_eq!(reopened.completed_at(), None);
    assert_eq!(reopened.workflow_epoch(), 1);
}

#[test]
fn a_checkout_takes_only_an_expected_status() {
    let blocked = Progress::begin(IssueStatus::Blocked, START);
    let refused = blocked
        .check_out(&[IssueStatus::Todo], later(1))
        .unwrap_err();
    assert_eq!(refused.status, IssueStatus::Blocked);
    assert!(blocked.check_out(&[], later(1)).is_err());
}

#[test]
fn a_checkout_of_work_in_progress_is_no_new_start() {
    let started = Progress::begin(IssueStatus::InProgress, START);
    let again = started
        .check_out(&[IssueStatus::InProgress], later(5))
        .unwrap();
    assert_eq!(again, started);
}

#[test]
fn a_clock_that_lags_behind_breaks_no_order() {
    let started = Progress::begin(IssueStatus::InProgress, later(100));
    let done = started
        .transition_to(Mover::Agent, IssueStatus::Done, START)
        .unwrap()
        .progress;
    assert_eq!(done.completed_at(), Some(later(100)));
    assert!(Progress::restore(done.record()).is_ok());
}

#[test]
fn a_record_that_breaks_a_rule_is_refused() {
    let sound = Progress::begin(IssueStatus::InProgress, START).record();
    assert!(Progress::restore(sound).is_ok());
    let broken = [
        ProgressRecord {
            status: IssueStatus::Done,
            ..sound
        },
        ProgressRecord {
            status: IssueStatus::Cancelled,
            ..sound
        },
        ProgressRecord {
            completed_at: Some(later(1)),
            ..sound
        },
        ProgressRecord {
            cancelled_at: Some(later(1)),
            ..sound
        },
        ProgressRecord {
            started_at: None,
            ..sound
        },
        ProgressRecord {
            last_started_at: None,
            ..sound
        },
        ProgressRecord {
            started_at: None,
            last_started_at: None,
            ..sound
        },
        ProgressRecord {
            started_at: Some(later(1)),
            ..sound
        },
        ProgressRecord {
            workflow_epoch: -1,
            ..sound
        },
        ProgressRecord {
            status: IssueStatus::Done,
            completed_at: Some(START.minus(Duration::from_secs(1))),
            ..sound
        },
    ];
    for record in broken {
        assert!(Progress::restore(record).is_err(), "{record:?}");
    }
}

#[test]
fn priorities_have_ranks_in_their_order() {
    for (priority, rank) in Priority::ALL.iter().zip(0..) {
        assert_eq!(priority.rank(), rank);
        assert_eq!(Priority::from_rank(rank), Some(*priority));
    }
    assert_eq!(Priority::from_rank(4), None);
    assert_eq!(Priority::from_rank(-1), None);
}

#[test]
fn the_tables_are_sound() {
    for from in IssueStatus::ALL {
        for mover in Mover::ALL {
            let successors = from.successors_for(*mover);
            assert!(!successors.contains(from), "{from} to itself");
            for to in IssueStatus::ALL {
                assert!(successors.iter().filter(|next| *next == to).count() <= 1);
            }
        }
        for to in from.successors() {
            assert!(
                from.successors_for(Mover::Board).contains(to),
                "{from} to {to}"
            );
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Go(Mover, IssueStatus),
    CheckOut(IssueStatus),
    Release,
    Reopen(IssueStatus),
}

fn status() -> impl Strategy<Value = IssueStatus> {
    proptest::sample::select(IssueStatus::ALL)
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => (proptest::sample::select(Mover::ALL), status()).prop_map(|(m, s)| Event::Go(m, s)),
        2 => status().prop_map(Event::CheckOut),
        1 => Just(Event::Release),
        1 => status().prop_map(Event::Reopen),
    ]
}

fn apply(progress: &Progress, event: Event, now: Timestamp) -> Option<Progress> {
    match event {
        Event::Go(mover, to) => progress
            .transition_to(mover, to, now)
            .ok()
            .map(|moved| moved.progress),
        Event::CheckOut(expected) => progress.check_out(&[expected], now).ok(),
        Event::Release => Some(progress.release(now)),
        Event::Reopen(to) => progress.reopen(to, now).ok().map(|moved| moved.progress),
    }
}

/// Whether this event may lead out of a terminal status.
fn reopens(event: Event) -> bool {
    matches!(event, Event::Reopen(_) | Event::Go(Mover::Board, _))
}

proptest! {
    #[test]
    fn every_history_keeps_the_rules(
        first in status(),
        // Steps of the clock, some of them backwards.
        steps in proptest::collection::vec((event(), -3_i64..30), 0..60),
    ) {
        let mut now = START;
        let mut progress = Progress::begin(first, now);
        for (event, tick) in steps {
            now = Timestamp::from_micros(now.micros() + tick * 1_000_000);
            let before = progress.clone();
            let Some(after) = apply(&progress, event, now) else {
                prop_assert_eq!(&progress, &before, "a refused event changes nothing");
                continue;
            };
            if before.status().is_terminal() && after.status() != before.status() {
                prop_assert!(reopens(event), "{:?} left {}", event, before.status());
                prop_assert!(IssueStatus::REOPENED.contains(&after.status()));
                prop_assert_eq!(after.workflow_epoch(), before.workflow_epoch() + 1);
            } else {
                prop_assert_eq!(after.workflow_epoch(), before.workflow_epoch());
            }
            if after.status() == before.status() {
                prop_assert_eq!(&after, &before, "to stay is no change");
            }
            if before.started_at().is_some() {
                prop_assert_eq!(after.started_at(), before.started_at(), "set once");
            }
            prop_assert!(before.last_started_at() <= after.last_started_at());
            let restored = Progress::restore(after.record());
            prop_assert_eq!(restored.as_ref(), Ok(&after), "the store gives back what it got");
            progress = after;
        }
    }

    #[test]
    fn an_update_follows_the_table(
        from in status(),
        to in status(),
        mover in proptest::sample::select(Mover::ALL),
    ) {
        let result = Progress::begin(from, START).transition_to(mover, to, later(1));
        let listed = from.successors_for(mover);
        prop_assert_eq!(result.is_ok(), from == to || listed.contains(&to));
        if let Err(refused) = result {
            prop_assert_eq!(refused, IllegalTransition { from, to, allowed: listed });
        }
    }
}
