//! Giving work to somebody else, and who is woken by it.

use workforce_app::issues::CreateIssue;
use workforce_domain::issue::{Assignment, IssueStatus};
use workforce_domain::run::{RunKind, RunStatus};
use workforce_domain::wake::{WakeReason, WakeSource};
use workforce_testkit::world::{done, new_issue};

use crate::deeds::{Deeds, given_to, taken_away};
use crate::scene::Scene;

const TOLD_OF_IT: [[WakeReason; 1]; 1] = [[WakeReason::IssueAssigned]];

#[test]
fn reassigning_ends_the_lease_stops_the_former_run_and_wakes_the_new_assignee() {
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Todo);
    let run = scene.world.start_next().unwrap().run;
    done(scene.world.run_of(run.id).checks_out(&issue));
    done(scene.world.board().says(&issue, "One more thing"));
    assert_eq!(scene.told(&scene.ada).len(), 1);
    done(scene.world.board().changes(&issue, &given_to(&scene.bob)));
    let stored = scene.now(&issue);
    assert_eq!(
        (stored.status(), stored.assignee.agent()),
        (IssueStatus::InProgress, Some(scene.bob.id))
    );
    assert_eq!(scene.world.stored_lease(&issue), None);
    assert!(scene.world.stored_run(run.id).stop_requested_at.is_some());
    assert!(
        scene.told(&scene.ada).is_empty(),
        "it is her work no longer"
    );
    assert_eq!(scene.told(&scene.bob), TOLD_OF_IT);
}

#[test]
fn an_agent_that_hands_its_work_down_is_not_stopped_itself() {
    let scene = Scene::new();
    let report = scene.world.hired_below(&scene.ada, "Report");
    let issue = scene.adas(IssueStatus::Todo);
    let run = scene.world.start_next().unwrap().run;
    let ada = scene.world.run_of(run.id);
    done(ada.checks_out(&issue));
    let updated = done(ada.changes(&issue, &given_to(&report)));
    assert_eq!(updated.view.lease, None);
    assert_eq!(scene.world.stored_run(run.id).stop_requested_at, None);
    assert_eq!(scene.told(&report), TOLD_OF_IT);
    assert!(
        scene.world.start_next().is_none(),
        "one run works on an issue at a time"
    );
    assert!(scene.world.finish(&run));
    let next = scene.world.start_next().unwrap().run;
    assert_eq!(next.agent, report.id);
    done(scene.world.run_of(next.id).checks_out(&issue));
}

#[test]
fn a_run_that_only_gives_advice_goes_on() {
    let scene = Scene::new();
    let issue = scene.adas_own();
    done(
        scene
            .world
            .agent(scene.ada.id)
            .says(&issue, "@Bob, a word?"),
    );
    let advice = scene.world.start_next().unwrap().run;
    assert_eq!(advice.kind, RunKind::Consult);
    done(scene.world.board().changes(&issue, &given_to(&scene.bob)));
    assert_eq!(scene.world.stored_run(advice.id).stop_requested_at, None);
}

#[test]
fn giving_it_to_whoever_has_it_changes_nothing() {
    let scene = Scene::new();
    let issue = scene.adas_work();
    let before = scene.footprint(&issue);
    done(scene.world.board().changes(&issue, &given_to(&scene.ada)));
    assert_eq!(scene.footprint(&issue), before);
}

#[test]
fn unassigning_work_in_progress_gives_it_back() {
    let scene = Scene::new();
    for by_the_board in [true, false] {
        let issue = scene.adas_work();
        let caller = match by_the_board {
            true => scene.world.board(),
            false => scene.world.agent(scene.ada.id),
        };
        let updated = done(caller.changes(&issue, &taken_away()));
        assert_eq!(updated.view.lease, None);
        let stored = scene.now(&issue);
        assert_eq!(
            (stored.status(), stored.assignee),
            (IssueStatus::Todo, Assignment::NOBODY)
        );
        assert_eq!(scene.world.stored_lease(&issue), None);
    }
}

#[test]
fn unassigning_takes_back_what_was_still_to_be_told() {
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Todo);
    let queued = scene.world.pending_wakes(&scene.ada).remove(0).run;
    done(scene.world.board().changes(&issue, &taken_away()));
    assert!(scene.told(&scene.ada).is_empty());
    assert_eq!(scene.world.stored_run(queued).status, RunStatus::Cancelled);
    assert!(scene.world.start_next().is_none());
}

#[test]
fn whoever_was_also_called_by_name_is_still_asked_for_advice() {
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Todo);
    done(
        scene
            .world
            .board()
            .says(&issue, "@Ada, which printer is it?"),
    );
    done(scene.world.board().changes(&issue, &given_to(&scene.bob)));
    let wake = scene.world.pending_wakes(&scene.ada).remove(0);
    assert_eq!(wake.kind, RunKind::Consult);
    assert!(
        scene
            .world
            .start_all()
            .iter()
            .any(|it| it.run.kind == RunKind::Consult)
    );
}

#[test]
fn an_assignment_wakes_the_assignee() {
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Todo);
    let wake = scene.world.pending_wakes(&scene.ada).remove(0);
    assert_eq!(
        (wake.issue, wake.kind),
        (Some(issue.id), RunKind::Execution)
    );
    assert_eq!((wake.source, wake.count), (WakeSource::Assignment, 1));
    assert_eq!(wake.reasons, [WakeReason::IssueAssigned]);
    assert_eq!(wake.payload["identifier"], issue.identifier);
    assert!(scene.world.take_signal(), "the engine is told at once");
    let other = scene.nobodys(IssueStatus::Todo);
    done(scene.world.board().changes(&other, &given_to(&scene.bob)));
    assert_eq!(scene.told(&scene.bob), TOLD_OF_IT);
}

#[test]
fn what_is_parked_wakes_its_assignee_when_it_is_taken_out() {
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Backlog);
    let other = scene.nobodys(IssueStatus::Backlog);
    done(scene.world.board().changes(&other, &given_to(&scene.ada)));
    assert!(scene.told(&scene.ada).is_empty());
    done(scene.world.board().moves(&issue, IssueStatus::Todo));
    assert_eq!(scene.told(&scene.ada), TOLD_OF_IT);
}

#[test]
fn an_issue_that_says_no_status_is_parked() {
    let scene = Scene::new();
    let command = CreateIssue {
        assignee_agent_id: Some(scene.ada.id),
        ..new_issue("Some day")
    };
    let issue = scene.world.issue_with(scene.company.id, &command);
    assert_eq!(issue.status(), IssueStatus::Backlog);
    assert!(scene.told(&scene.ada).is_empty());
}

#[test]
fn nobody_wakes_itself() {
    let scene = Scene::new();
    let ada = scene.world.agent(scene.ada.id);
    let issue = scene.adas_own();
    let parked = CreateIssue {
        assignee_agent_id: Some(scene.ada.id),
        ..new_issue("Some day")
    };
    let parked = done(ada.creates(scene.company.id, &parked));
    done(ada.moves(&parked, IssueStatus::Todo));
    done(ada.checks_out(&issue));
    let free = done(ada.creates(scene.company.id, &new_issue("Free")));
    done(ada.changes(&free, &given_to(&scene.ada)));
    done(ada.moves(&free, IssueStatus::Todo));
    assert!(scene.told(&scene.ada).is_empty());
}

#[test]
fn an_ended_issue_wakes_nobody_when_it_is_given_away() {
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Done);
    done(scene.world.board().changes(&issue, &given_to(&scene.bob)));
    assert!(scene.told(&scene.bob).is_empty());
}

#[test]
fn work_that_the_board_reopens_is_told_of_again() {
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Done);
    done(scene.world.board().moves(&issue, IssueStatus::Todo));
    assert_eq!(scene.told(&scene.ada), TOLD_OF_IT);
}
