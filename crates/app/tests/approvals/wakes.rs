//! Whoever asked hears of the decision, in the transaction of the decision.

use serde_json::{Value, json};
use workforce_app::approvals::{self, Decide};
use workforce_domain::approval::ApprovalType;
use workforce_domain::change::Replace;
use workforce_domain::issue::IssueStatus;
use workforce_domain::run::RunKind;
use workforce_domain::wake::{Wake, WakeReason};
use workforce_testkit::on_both_databases;
use workforce_testkit::world::{World, done};

use crate::desk::{Desk, Verb, decided, saying};

/// Answers what Ada was woken for so far, and ends the runs.
fn settle(desk: &Desk) {
    loop {
        let started = desk.world.start_all();
        if started.is_empty() {
            return;
        }
        // What is left undone is followed up.
        for started in started {
            desk.world.finish(&started.run);
        }
    }
}

/// The one wake that is pending for Ada.
#[track_caller]
fn wake(desk: &Desk) -> Wake {
    let wakes = desk.world.pending_wakes(&desk.ada);
    assert_eq!(wakes.len(), 1, "{wakes:?}");
    wakes.into_iter().next().unwrap()
}

on_both_databases! {
    fn each_decision_wakes_with_its_reason_and_note(store: &TestStore) {
        let desk = Desk::in_world(World::on(store));
        let verbs: [(Verb, WakeReason, &str); 3] = [
            (approvals::request_revision, WakeReason::ApprovalRevisionRequested, "revision_requested"),
            (approvals::approve, WakeReason::ApprovalApproved, "approved"),
            (approvals::reject, WakeReason::ApprovalRejected, "rejected"),
        ];
        for (verb, reason, status) in verbs {
            settle(&desk);
            let asked = desk.asks(ApprovalType::ApproveIssuePlan);
            desk.world.take_signal();
            done(decided(desk.world.board(), verb, asked.id, &saying("because")));
            assert!(desk.world.take_signal(), "the engine is told");
            let wake = wake(&desk);
            assert_eq!(wake.reasons, [reason]);
            assert_eq!(wake.issue, Some(desk.issue.id));
            assert_eq!(wake.kind, RunKind::Execution);
            assert_eq!(Value::from(wake.payload.clone()), json!({
                "approvalId": asked.id,
                "approvalType": "approve_issue_plan",
                "approvalStatus": status,
                "decisionNote": "because",
                "issueIds": [desk.issue.id],
            }));
            let started = desk.world.start_next().unwrap();
            assert_eq!(started.run.reason, reason);
            desk.world.finish(&started.run);
            if status == "revision_requested" {
                done(decided(desk.world.board(), approvals::approve, asked.id, &Decide::default()));
            }
            done(desk.world.board().write(|tx, ctx| {
                let command = workforce_app::issues::UpdateIssue {
                    status: Replace::Set(IssueStatus::Todo),
                    ..workforce_testkit::world::no_change()
                };
                workforce_app::issues::update(tx, ctx, &desk.issue.id.into(), command)
            }));
        }
    }

    fn an_agent_cannot_begin_while_its_plan_waits(store: &TestStore) {
        let desk = Desk::in_world(World::on(store));
        settle(&desk);
        let asked = desk.asks(ApprovalType::ApproveIssuePlan);
        let board = desk.world.board();
        done(board.write(|tx, ctx| {
            let said = workforce_app::issues::AddComment {
                body: workforce_domain::text::CommentBody::parse("hurry").unwrap(),
                reopen: Some(false),
                interrupt: Some(false),
            };
            workforce_app::issues::add_comment(tx, ctx, &desk.issue.id.into(), said)
        }));
        assert_eq!(desk.world.start_next().map(|started| started.run.id), None);
        done(decided(board, approvals::approve, asked.id, &Decide::default()));
        assert!(desk.world.start_next().is_some());
    }

    fn a_long_note_is_quoted_in_part(store: &TestStore) {
        let desk = Desk::in_world(World::on(store));
        settle(&desk);
        let asked = desk.asks(ApprovalType::AgentQuestion);
        let note = "ä".repeat(8 * 1024);
        done(decided(desk.world.board(), approvals::reject, asked.id, &saying(&note)));
        let wake = wake(&desk);
        let quoted = wake.payload["decisionNote"].as_str().unwrap();
        assert_eq!(quoted.len(), 4 * 1024);
        let stored = desk.now(asked.id).approval.state;
        assert_eq!(stored.decision().unwrap().note.as_deref(), Some(&*note));
        assert_eq!(wake.comments.len(), 1, "the comment has it all");
    }

    fn what_the_board_asked_for_itself_wakes_nobody(store: &TestStore) {
        let desk = Desk::in_world(World::on(store));
        settle(&desk);
        let asked = desk.asks(ApprovalType::AgentQuestion);
        done(desk.world.agent(desk.ada.id).write(|tx, ctx| approvals::cancel(tx, ctx, asked.id)));
        assert!(desk.world.pending_wakes(&desk.ada).is_empty());
    }
}
