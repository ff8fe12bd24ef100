//! When work started and ended (docs/lifecycles.md#issues-moved-by-the-board).

use std::time::Duration;

use workforce_domain::issue::{Issue, IssueStatus};
use workforce_domain::time::Timestamp;
use workforce_testkit::world::done;

use crate::deeds::{Deeds, reopening};
use crate::scene::Scene;

impl Scene {
    /// Lets an hour pass; the present.
    fn hour(&self) -> Timestamp {
        self.world.advance(Duration::from_secs(3600));
        self.world.now()
    }

    /// First start, last start, completion and cancellation.
    fn instants(&self, issue: &Issue) -> [Option<Timestamp>; 4] {
        let it = self.now(issue).progress;
        [
            it.started_at(),
            it.last_started_at(),
            it.completed_at(),
            it.cancelled_at(),
        ]
    }
}

#[test]
fn the_first_start_stays_and_the_last_one_is_kept_beside_it() {
    let scene = Scene::new();
    let issue = scene.adas_own();
    let ada = scene.world.agent(scene.ada.id);
    assert_eq!(scene.instants(&issue), [None; 4]);
    let first = scene.hour();
    done(ada.checks_out(&issue));
    assert_eq!(
        scene.instants(&issue),
        [Some(first), Some(first), None, None]
    );
    scene.hour();
    done(ada.checks_out(&issue));
    assert_eq!(
        scene.instants(&issue),
        [Some(first), Some(first), None, None]
    );
    done(ada.moves(&issue, IssueStatus::Todo));
    assert_eq!(
        scene.instants(&issue),
        [Some(first), Some(first), None, None]
    );
    let second = scene.hour();
    done(ada.checks_out(&issue));
    assert_eq!(
        scene.instants(&issue),
        [Some(first), Some(second), None, None]
    );
}

#[test]
fn completion_is_set_by_done_and_cleared_by_reopening() {
    let scene = Scene::new();
    let issue = scene.adas_own();
    let ada = scene.world.agent(scene.ada.id);
    let start = scene.hour();
    done(ada.checks_out(&issue));
    let end = scene.hour();
    done(ada.moves(&issue, IssueStatus::Done));
    assert_eq!(
        scene.instants(&issue),
        [Some(start), Some(start), Some(end), None]
    );
    scene.hour();
    done(ada.moves(&issue, IssueStatus::Done));
    assert_eq!(
        scene.instants(&issue),
        [Some(start), Some(start), Some(end), None]
    );
    done(ada.adds(&issue, &reopening("Once more")));
    assert_eq!(
        scene.instants(&issue),
        [Some(start), Some(start), None, None]
    );
    assert_eq!(scene.now(&issue).progress.workflow_epoch(), 1);
    let again = scene.hour();
    done(ada.checks_out(&issue));
    let second_end = scene.hour();
    done(scene.world.board().moves(&issue, IssueStatus::Done));
    assert_eq!(
        scene.instants(&issue),
        [Some(start), Some(again), Some(second_end), None]
    );
}

#[test]
fn cancellation_is_set_and_cleared_in_the_same_way() {
    let scene = Scene::new();
    let issue = scene.adas_own();
    let end = scene.hour();
    done(
        scene
            .world
            .agent(scene.ada.id)
            .moves(&issue, IssueStatus::Cancelled),
    );
    assert_eq!(scene.instants(&issue), [None, None, None, Some(end)]);
    scene.hour();
    done(scene.world.board().moves(&issue, IssueStatus::Backlog));
    assert_eq!(scene.instants(&issue), [None; 4]);
    assert_eq!(scene.now(&issue).progress.workflow_epoch(), 1);
}

#[test]
fn what_changes_nothing_does_not_count_as_a_change() {
    let scene = Scene::new();
    let issue = scene.adas_work();
    scene.hour();
    done(scene.world.board().moves(&issue, IssueStatus::InProgress));
    assert_eq!(scene.now(&issue).updated_at, issue.updated_at);
    scene.hour();
    done(scene.world.board().moves(&issue, IssueStatus::Blocked));
    assert_eq!(scene.now(&issue).updated_at, scene.world.now());
}
