//! Giving an issue back (docs/issues.md#release).

use workforce_app::issues::IssueError;
use workforce_domain::issue::{Assignment, IssueStatus};
use workforce_testkit::world::done;

use crate::deeds::Deeds;
use crate::scene::Scene;

#[test]
fn work_in_progress_returns_to_todo_and_to_nobody() {
    let scene = Scene::new();
    let issue = scene.adas_work();
    let view = done(scene.world.agent(scene.ada.id).releases(&issue));
    assert_eq!(view.lease, None);
    assert_eq!(view.issue, scene.now(&issue));
    assert_eq!(
        (view.issue.status(), view.issue.assignee),
        (IssueStatus::Todo, Assignment::NOBODY)
    );
    assert_eq!(scene.world.stored_lease(&issue), None);
    done(scene.world.agent(scene.bob.id).checks_out(&issue));
}

#[test]
fn releasing_what_is_free_succeeds_and_changes_nothing() {
    let scene = Scene::new();
    let issue = scene.adas_work();
    let ada = scene.world.agent(scene.ada.id);
    done(ada.releases(&issue));
    let before = scene.footprint(&issue);
    for caller in [ada, scene.world.agent(scene.bob.id), scene.world.board()] {
        done(caller.releases(&issue));
        assert_eq!(scene.footprint(&issue), before);
    }
}

#[test]
fn only_its_holder_releases_an_issue() {
    let scene = Scene::new();
    let bob = scene.world.agent(scene.bob.id);
    let work = scene.adas_work();
    assert_eq!(
        scene.refused(&work, || bob.releases(&work)),
        IssueError::NotHolder
    );
    done(
        scene
            .world
            .agent(scene.ada.id)
            .moves(&work, IssueStatus::InReview),
    );
    assert_eq!(
        scene.refused(&work, || bob.releases(&work)),
        IssueError::NotHolder
    );
    let begun_by_the_board = scene.adas(IssueStatus::InProgress);
    let refusal = scene.refused(&begun_by_the_board, || bob.releases(&begun_by_the_board));
    assert_eq!(refusal, IssueError::NotHolder);
}

#[test]
fn another_run_of_the_same_agent_does_not_hold_it() {
    let scene = Scene::new();
    let (issue, own, second) = scene.held_beside_another();
    for caller in [
        scene.world.run_of(second),
        scene.world.agent_naming(scene.ada.id, second),
    ] {
        assert_eq!(
            scene.refused(&issue, || caller.releases(&issue)),
            IssueError::NotHolder
        );
    }
    let view = done(scene.world.run_of(own).releases(&issue));
    assert_eq!(
        (view.issue.status(), view.issue.assignee),
        (IssueStatus::Todo, Assignment::NOBODY)
    );
    assert_eq!(
        scene.world.stored_run(own).stop_requested_at,
        None,
        "it gave it back itself"
    );
}

#[test]
fn the_board_releases_for_anyone_and_stops_the_run() {
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Todo);
    let run = scene.world.start_next().unwrap().run;
    done(scene.world.run_of(run.id).checks_out(&issue));
    let view = done(scene.world.board().releases(&issue));
    assert_eq!(
        (view.issue.status(), view.issue.assignee),
        (IssueStatus::Todo, Assignment::NOBODY)
    );
    assert_eq!(scene.world.stored_lease(&issue), None);
    assert!(scene.world.stored_run(run.id).stop_requested_at.is_some());
}

#[test]
fn outside_of_in_progress_only_the_lease_ends() {
    let scene = Scene::new();
    let ada = scene.world.agent(scene.ada.id);
    for status in [
        IssueStatus::InReview,
        IssueStatus::Blocked,
        IssueStatus::Todo,
    ] {
        let issue = scene.adas_work();
        done(ada.moves(&issue, status));
        assert!(scene.world.stored_lease(&issue).is_some(), "{status}");
        let before = scene.now(&issue);
        let view = done(ada.releases(&issue));
        assert_eq!((view.issue, view.lease), (before.clone(), None));
        assert_eq!(scene.now(&issue), before);
        assert_eq!(before.status(), status);
        assert_eq!(scene.world.stored_lease(&issue), None);
    }
    let ended = scene.adas_work();
    done(ada.moves(&ended, IssueStatus::Done));
    let before = scene.footprint(&ended);
    done(ada.releases(&ended));
    assert_eq!(
        scene.footprint(&ended),
        before,
        "an end has released it already"
    );
}

#[test]
fn what_was_given_back_wakes_nobody_any_more() {
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Todo);
    done(scene.world.agent(scene.ada.id).checks_out(&issue));
    assert_eq!(scene.told(&scene.ada).len(), 1);
    done(scene.world.agent(scene.ada.id).releases(&issue));
    assert!(scene.told(&scene.ada).is_empty());
    assert!(scene.world.start_next().is_none());
}
