//! `expectedStatuses` of a checkout (docs/issues.md#checkout).

use workforce_app::issues::CheckOut;
use workforce_domain::issue::{ConflictReason, IssueStatus};
use workforce_domain::string_enum::StringEnum;
use workforce_testkit::world::done;

use crate::deeds::{Deeds, from};
use crate::scene::Scene;

use IssueStatus::{Backlog, Blocked, Cancelled, Done, InProgress, InReview, Todo};

#[test]
fn unless_said_otherwise_todo_backlog_and_blocked_are_expected() {
    let scene = Scene::new();
    let ada = scene.world.agent(scene.ada.id);
    for status in [Todo, Backlog, Blocked] {
        let issue = scene.nobodys(status);
        assert_eq!(
            done(ada.checks_out(&issue)).issue.status(),
            InProgress,
            "from {status}"
        );
    }
    for status in [InReview, Done, Cancelled] {
        for issue in [scene.nobodys(status), scene.adas(status)] {
            let conflict = scene.conflict(&issue, || ada.checks_out(&issue));
            assert_eq!(conflict.reason, ConflictReason::StatusMismatch);
            assert_eq!(conflict.status, status);
            assert!(!conflict.holder_live);
        }
    }
}

#[test]
fn what_is_not_expected_is_a_mismatch() {
    let scene = Scene::new();
    let ada = scene.world.agent(scene.ada.id);
    for status in [Todo, Backlog, Blocked] {
        let issue = scene.adas(status);
        let others: Vec<_> = [Todo, Backlog, Blocked, InReview, Done]
            .into_iter()
            .filter(|it| *it != status)
            .collect();
        let conflict = scene.conflict(&issue, || ada.checks_out_with(&issue, &from(&others)));
        assert_eq!(
            (conflict.reason, conflict.status),
            (ConflictReason::StatusMismatch, status)
        );
        done(ada.checks_out_with(&issue, &from(&[status])));
    }
}

#[test]
fn the_owner_of_work_in_progress_need_not_expect_it() {
    let scene = Scene::new();
    let issue = scene.adas_work();
    let again = done(
        scene
            .world
            .agent(scene.ada.id)
            .checks_out_with(&issue, &from(&[Backlog])),
    );
    assert_eq!(again.issue, issue);
}

#[test]
fn work_in_review_is_taken_back_by_its_assignee_who_expects_it() {
    let scene = Scene::new();
    let issue = scene.adas(InReview);
    let view = done(
        scene
            .world
            .agent(scene.ada.id)
            .checks_out_with(&issue, &from(&[InReview])),
    );
    assert_eq!(view.issue.status(), InProgress);
}

#[test]
fn work_in_review_that_is_nobodys_is_taken_back_by_the_board_only() {
    let scene = Scene::new();
    let issue = scene.nobodys(InReview);
    let ada = scene.world.agent(scene.ada.id);
    let conflict = scene.conflict(&issue, || ada.checks_out_with(&issue, &from(&[InReview])));
    assert_eq!(conflict.reason, ConflictReason::StatusMismatch);
    let rework = CheckOut {
        agent: Some(scene.ada.id),
        ..from(&[InReview])
    };
    let view = done(scene.world.board().checks_out_with(&issue, &rework));
    assert_eq!(view.issue.status(), InProgress);
    assert_eq!(view.issue.assignee.agent(), Some(scene.ada.id));
}

#[test]
fn ended_work_is_taken_up_again_by_its_assignee_who_expects_it() {
    let scene = Scene::new();
    let ada = scene.world.agent(scene.ada.id);
    for status in [Done, Cancelled] {
        let issue = scene.adas(status);
        let wrong = if status == Done { Cancelled } else { Done };
        let conflict = scene.conflict(&issue, || {
            ada.checks_out_with(&issue, &from(&[wrong, Todo]))
        });
        assert_eq!(
            (conflict.reason, conflict.status),
            (ConflictReason::StatusMismatch, status)
        );
        let view = done(ada.checks_out_with(&issue, &from(&[status])));
        let progress = &view.issue.progress;
        assert_eq!(
            (progress.status(), progress.workflow_epoch()),
            (InProgress, 1)
        );
        assert_eq!(
            (progress.completed_at(), progress.cancelled_at()),
            (None, None)
        );
    }
}

#[test]
fn ended_work_of_nobody_is_taken_up_again_by_the_board_only() {
    let scene = Scene::new();
    let issue = scene.nobodys(Done);
    let bob = scene.world.agent(scene.bob.id);
    let conflict = scene.conflict(&issue, || bob.checks_out_with(&issue, &from(&[Done])));
    assert_eq!(
        (conflict.reason, conflict.status),
        (ConflictReason::StatusMismatch, Done)
    );
    let rework = CheckOut {
        agent: Some(scene.bob.id),
        ..from(&[Done])
    };
    let view = done(scene.world.board().checks_out_with(&issue, &rework));
    assert_eq!(
        (view.issue.status(), view.issue.assignee.agent()),
        (InProgress, Some(scene.bob.id))
    );
}

#[test]
fn a_conflict_over_ended_work_names_the_status_it_has() {
    let scene = Scene::new();
    let issue = scene.adas(Done);
    let for_bob = CheckOut {
        agent: Some(scene.bob.id),
        ..from(&[Done])
    };
    let board = scene.world.board();
    let conflict = scene.conflict(&issue, || board.checks_out_with(&issue, &for_bob));
    assert_eq!(
        (conflict.reason, conflict.status),
        (ConflictReason::OtherAssignee, Done)
    );
}

#[test]
fn nobody_else_gets_what_is_assigned_whatever_is_expected() {
    let scene = Scene::new();
    let bob = scene.world.agent(scene.bob.id);
    for status in [
        Backlog, Todo, InProgress, InReview, Blocked, Done, Cancelled,
    ] {
        let issue = scene.adas(status);
        let all = from(IssueStatus::ALL);
        let conflict = scene.conflict(&issue, || bob.checks_out_with(&issue, &all));
        assert_eq!(
            (conflict.reason, conflict.status),
            (ConflictReason::OtherAssignee, status)
        );
    }
}
