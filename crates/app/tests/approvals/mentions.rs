//! Whoever is called by name while a plan waits for the board is asked for
//! advice meanwhile (docs/heartbeats.md#advice).

use workforce_app::approvals::{self, Decide};
use workforce_app::issues::{self, AddComment};
use workforce_domain::approval::{Approval, ApprovalType};
use workforce_domain::run::{RunEnd, RunErrorCode, RunKind, RunOutcome};
use workforce_domain::text::CommentBody;
use workforce_domain::wake::{Wake, WakeReason};
use workforce_testkit::on_both_databases;
use workforce_testkit::store::TestStore;
use workforce_testkit::world::{World, done};

use crate::desk::{Desk, decided};

fn says_on_the_issue(desk: &Desk, words: &str) {
    let said = AddComment {
        body: CommentBody::parse(words).unwrap(),
        reopen: Some(false),
        interrupt: Some(false),
    };
    let issue = desk.issue.id.into();
    done(
        desk.world
            .board()
            .write(|tx, ctx| issues::add_comment(tx, ctx, &issue, said.clone())),
    );
}

fn says_on_the_approval(desk: &Desk, asked: &Approval, words: &str) {
    let body = CommentBody::parse(words).unwrap();
    let board = desk.world.board();
    done(board.write(|tx, ctx| approvals::add_comment(tx, ctx, asked.id, body.clone())));
}

/// Begins the one run that may begin, checks what it may do, and ends it.
#[track_caller]
fn runs(desk: &Desk, kind: RunKind) -> Wake {
    let [started] = &*desk.world.start_all() else {
        panic!("one run begins");
    };
    assert_eq!((started.run.agent, started.run.kind), (desk.ada.id, kind));
    let wake = started.wake.clone();
    desk.world.finish(&started.run);
    // What is left undone is followed up.
    while let [follow_up] = &*desk.world.pending_wakes(&desk.ada)
        && follow_up.reasons == [WakeReason::IssueLeftUndone]
        && let Some(started) = desk.world.start_next()
    {
        desk.world.finish(&started.run);
    }
    wake
}

/// A desk whose Ada has seen her work and waits for the board's word.
fn waiting(store: &TestStore) -> (Desk, Approval) {
    let desk = Desk::in_world(World::on(store));
    runs(&desk, RunKind::Execution);
    let asked = desk.asks(ApprovalType::ApproveIssuePlan);
    (desk, asked)
}

on_both_databases! {
    fn a_mention_on_the_issue_leads_to_advice(store: &TestStore) {
        let (desk, asked) = waiting(store);
        says_on_the_issue(&desk, "@Ada, is this enough?");
        let wake = runs(&desk, RunKind::Consult);
        assert_eq!(wake.reasons, [WakeReason::IssueCommentMentioned]);
        // What else is said is only kept: nobody was called.
        says_on_the_issue(&desk, "One more thing.");
        assert!(desk.world.start_all().is_empty());
        says_on_the_issue(&desk, "@Ada?");
        assert_eq!(runs(&desk, RunKind::Consult).comments.len(), 2);
        assert!(desk.world.pending_wakes(&desk.ada).is_empty());
        done(decided(desk.world.board(), approvals::approve, asked.id, &Decide::default()));
        runs(&desk, RunKind::Execution);
    }

    fn a_mention_on_the_approval_leads_to_advice_although_something_waits(store: &TestStore) {
        let (desk, asked) = waiting(store);
        says_on_the_issue(&desk, "One thing.");
        assert!(desk.world.start_all().is_empty());
        says_on_the_approval(&desk, &asked, "@Ada, why so?");
        runs(&desk, RunKind::Consult);
        done(decided(desk.world.board(), approvals::approve, asked.id, &Decide::default()));
        runs(&desk, RunKind::Execution);
    }

    fn work_that_waited_is_not_lost_by_a_mention(store: &TestStore) {
        let desk = Desk::in_world(World::on(store));
        let asked = desk.asks(ApprovalType::ApproveIssuePlan);
        says_on_the_issue(&desk, "@Ada, is this enough?");
        let wake = runs(&desk, RunKind::Consult);
        assert!(wake.reasons.contains(&WakeReason::IssueAssigned));
        let [waits] = &*desk.world.pending_wakes(&desk.ada) else {
            panic!("the work waits");
        };
        assert_eq!(waits.kind, RunKind::Execution);
        assert_eq!(waits.reasons, [WakeReason::IssueAssigned]);
        assert!(desk.world.start_all().is_empty());
        done(decided(desk.world.board(), approvals::approve, asked.id, &Decide::default()));
        runs(&desk, RunKind::Execution);
        assert!(desk.world.pending_wakes(&desk.ada).is_empty());
    }

    fn advice_that_was_lost_is_queued_again_without_work(store: &TestStore) {
        let (desk, _) = waiting(store);
        says_on_the_issue(&desk, "@Ada, is this enough?");
        let [lost] = &*desk.world.start_all() else {
            panic!("one run begins");
        };
        let end = RunEnd::without_exit(RunOutcome::Lost(RunErrorCode::ProcessLost), "lost");
        assert!(desk.world.finish_as(&lost.run, &end));
        let wake = runs(&desk, RunKind::Consult);
        assert_eq!(wake.reasons, [WakeReason::ProcessLostRetry]);
        assert!(desk.world.pending_wakes(&desk.ada).is_empty());
    }

    fn a_plan_that_comes_after_the_mention_does_not_keep_it(store: &TestStore) {
        let desk = Desk::in_world(World::on(store));
        runs(&desk, RunKind::Execution);
        says_on_the_issue(&desk, "@Ada, plan this first.");
        assert_eq!(desk.world.pending_wakes(&desk.ada)[0].kind, RunKind::Execution);
        desk.asks(ApprovalType::ApproveIssuePlan);
        runs(&desk, RunKind::Consult);
    }

    fn whoever_revises_a_plan_is_called_to_its_work(store: &TestStore) {
        let (desk, asked) = waiting(store);
        let revise = approvals::request_revision;
        done(decided(desk.world.board(), revise, asked.id, &Decide::default()));
        runs(&desk, RunKind::Execution);
        says_on_the_issue(&desk, "@Ada, go on.");
        runs(&desk, RunKind::Execution);
    }
}
