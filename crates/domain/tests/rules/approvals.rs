//! The lifecycle of approvals.

use proptest::prelude::*;
use uuid::Uuid;
use workforce_domain::approval::{
    ApprovalState, ApprovalStateRecord, ApprovalStatus, Decider, Decision,
};
use workforce_domain::board::BoardMember;
use workforce_domain::lifecycle::{IllegalTransition, Lifecycle};
use workforce_domain::time::Timestamp;

use crate::table::{named, table};

const AT: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

fn decision() -> Decision {
    Decision {
        by: Decider(BoardMember::User(Uuid::from_u128(7).into())),
        note: Some("fine".into()),
        at: AT,
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Approve,
    Reject,
    RequestRevision,
    Resubmit,
    Cancel,
}

const EVENTS: &[Event] = &[
    Event::Approve,
    Event::Reject,
    Event::RequestRevision,
    Event::Resubmit,
    Event::Cancel,
];

fn apply(
    state: &ApprovalState,
    event: Event,
) -> Result<ApprovalState, IllegalTransition<ApprovalStatus>> {
    match event {
        Event::Approve => state.approve(decision()),
        Event::Reject => state.reject(decision()),
        Event::RequestRevision => state.request_revision(decision()),
        Event::Resubmit => state.resubmit(),
        Event::Cancel => state.cancel(AT),
    }
}

fn state(status: ApprovalStatus) -> ApprovalState {
    match status {
        ApprovalStatus::Pending => ApprovalState::Pending,
        ApprovalStatus::Approved => ApprovalState::Approved {
            decision: decision(),
        },
        ApprovalStatus::Rejected => ApprovalState::Rejected {
            decision: decision(),
        },
        ApprovalStatus::Cancelled => ApprovalState::Cancelled { at: AT },
        ApprovalStatus::RevisionRequested => ApprovalState::RevisionRequested {
            decision: decision(),
        },
    }
}

#[test]
fn every_event_in_every_state() {
    let events: Vec<_> = EVENTS
        .iter()
        .map(|event| (format!("{event:?}"), *event))
        .collect();
    let printed = table(
        "",
        &named::<ApprovalStatus>(),
        &events,
        |status, event| match apply(&state(status), event) {
            Ok(next) => next.status().to_string(),
            Err(refused) => {
                assert_eq!(
                    (refused.from, refused.allowed),
                    (status, status.successors())
                );
                ".".into()
            }
        },
    );
    insta::assert_snapshot!(printed);
}

#[test]
fn a_decision_keeps_who_decided_and_why() {
    let approved = ApprovalState::Pending.approve(decision()).unwrap();
    assert_eq!(approved.decision(), Some(&decision()));
    let resubmitted = state(ApprovalStatus::RevisionRequested).resubmit().unwrap();
    assert_eq!(resubmitted.decision(), None);
}

#[test]
fn a_refusal_says_what_is_possible() {
    let refused = state(ApprovalStatus::Approved)
        .approve(decision())
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "an approval cannot go from approved to approved; from approved it can go to nothing"
    );
    let refused = ApprovalState::Pending.resubmit().unwrap_err();
    assert_eq!(
        refused.to_string(),
        "an approval cannot go from pending to pending; \
         from pending it can go to approved, rejected, cancelled, revision_requested"
    );
}

#[test]
fn a_record_that_breaks_a_rule_is_refused() {
    let decided = state(ApprovalStatus::Approved).record();
    assert!(ApprovalState::restore(decided.clone()).is_ok());
    let pending = ApprovalState::Pending.record();
    let broken = [
        ApprovalStateRecord {
            decided_at: None,
            ..decided.clone()
        },
        ApprovalStateRecord {
            decided_by: None,
            ..decided.clone()
        },
        ApprovalStateRecord {
            status: ApprovalStatus::Pending,
            ..decided.clone()
        },
        ApprovalStateRecord {
            status: ApprovalStatus::Pending,
            decided_at: None,
            ..decided
        },
        ApprovalStateRecord {
            status: ApprovalStatus::Cancelled,
            ..pending.clone()
        },
        ApprovalStateRecord {
            status: ApprovalStatus::RevisionRequested,
            ..pending
        },
    ];
    for record in broken {
        assert!(
            ApprovalState::restore(record.clone()).is_err(),
            "{record:?}"
        );
    }
}

proptest! {
    #[test]
    fn every_history_keeps_the_rules(
        events in proptest::collection::vec(proptest::sample::select(EVENTS), 0..30),
    ) {
        let mut current = ApprovalState::Pending;
        for event in events {
            let before = current.clone();
            match apply(&current, event) {
                Ok(next) => {
                    prop_assert!(!before.status().is_terminal());
                    prop_assert!(before.status().successors().contains(&next.status()));
                    current = next;
                }
                Err(_) => prop_assert_eq!(&current, &before),
            }
            let restored = ApprovalState::restore(current.record());
            prop_assert_eq!(restored.as_ref(), Ok(&current));
        }
    }
}
