//! Whatever the board and the requester do in whatever order, some things always hold.

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::sample::select;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use proptest::{prop_assert, prop_assert_eq};
use workforce_app::approvals::{self, Decide};
use workforce_app::{Failure, Refusal};
use workforce_domain::approval::{
    ApprovalHistoryKind, ApprovalState, ApprovalStatus, ApprovalType, Decider, Decision,
};
use workforce_domain::board::BoardMember;
use workforce_domain::id::ApprovalId;
use workforce_domain::issue::IssueStatus;
use workforce_domain::lifecycle::Lifecycle;
use workforce_testkit::world::{Acting, World};

use crate::desk::{Desk, Outcome, decided, saying};

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
    Event::RequestRevision,
    Event::Resubmit,
    Event::Resubmit,
    Event::Cancel,
];

fn act(who: Acting<'_>, event: Event, id: ApprovalId, how: &Decide) -> Outcome {
    match event {
        Event::Approve => decided(who, approvals::approve, id, how),
        Event::Reject => decided(who, approvals::reject, id, how),
        Event::RequestRevision => decided(who, approvals::request_revision, id, how),
        Event::Resubmit => who.write(|tx, ctx| approvals::resubmit(tx, ctx, id, None, None)),
        Event::Cancel => who.write(|tx, ctx| approvals::cancel(tx, ctx, id)),
    }
}

const fn told(event: Event) -> ApprovalHistoryKind {
    match event {
        Event::Approve => ApprovalHistoryKind::Approved,
        Event::Reject => ApprovalHistoryKind::Rejected,
        Event::RequestRevision => ApprovalHistoryKind::RevisionRequested,
        Event::Resubmit => ApprovalHistoryKind::Resubmitted,
        Event::Cancel => ApprovalHistoryKind::Cancelled,
    }
}

/// The event as the lifecycle alone has it.
fn expected(state: &ApprovalState, event: Event, world: &World) -> Option<ApprovalState> {
    let decision = Decision {
        by: Decider(BoardMember::Local),
        note: Some("hm".into()),
        at: world.now(),
    };
    match event {
        Event::Approve => state.approve(decision),
        Event::Reject => state.reject(decision),
        Event::RequestRevision => state.request_revision(decision),
        Event::Resubmit => state.resubmit(),
        Event::Cancel => state.cancel(world.now()),
    }
    .ok()
}

fn check(desk: &Desk, kind: ApprovalType, events: &[(Event, bool)]) -> Result<(), TestCaseError> {
    let id = desk.asks(kind).id;
    let mut state = ApprovalState::Pending;
    let mut history = vec![ApprovalHistoryKind::Created];
    for (event, by_agent) in events {
        let who = match by_agent {
            true => desk.world.agent(desk.ada.id),
            false => desk.world.board(),
        };
        let before = desk.now(id);
        let decides = matches!(
            event,
            Event::Approve | Event::Reject | Event::RequestRevision
        );
        let next = expected(&state, *event, &desk.world).filter(|_| !(decides && *by_agent));
        match (act(who, *event, id, &saying("hm")), next) {
            (Ok(view), Some(next)) => {
                state = next;
                history.push(told(*event));
                prop_assert_eq!(&view.approval.state, &state);
                prop_assert_eq!(&desk.now(id).approval.state, &state);
            }
            (Err(Failure::Refused(refusal)), None) => {
                prop_assert!(!refusal.to_string().is_empty());
                prop_assert!(!refusal.code().to_string().is_empty());
                prop_assert_eq!(&desk.now(id), &before);
            }
            (outcome, next) => prop_assert!(false, "{outcome:?} but {next:?}"),
        }
        let stored = desk.now(id);
        let kinds: Vec<_> = stored.events.iter().map(|event| event.kind).collect();
        prop_assert_eq!(&kinds, &history);
        let sent = kinds
            .iter()
            .filter(|it| **it == ApprovalHistoryKind::Resubmitted);
        prop_assert_eq!(stored.approval.resubmit_count as usize, sent.count());
        let issue = desk.world.stored_issue(desk.issue.id);
        if kind == ApprovalType::ApproveIssuePlan {
            let waits = state.status() == ApprovalStatus::Pending;
            prop_assert_eq!(issue.status() == IssueStatus::Blocked, waits);
        }
    }
    if !state.status().is_terminal() {
        let board = desk.world.board();
        prop_assert!(decided(board, approvals::reject, id, &saying("enough")).is_ok());
    }
    Ok(())
}

#[test]
fn a_history_tells_every_step_and_no_other() {
    let kinds = select(std::vec![
        ApprovalType::AgentQuestion,
        ApprovalType::ApproveIssuePlan,
        ApprovalType::RequestBoardApproval,
    ]);
    let events = vec((select(EVENTS), any::<bool>()), 0..12);
    let config = Config {
        cases: 60,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(&(kinds, events), |(kind, events)| {
            // What one history leaves behind must not begin another.
            check(&Desk::in_world(World::sqlite()), kind, &events)
        })
        .unwrap();
}
