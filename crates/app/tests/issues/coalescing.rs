//! One pending wake per agent and key, and the wake that the end of children causes.

use workforce_app::issues::CreateIssue;
use workforce_domain::agent::Agent;
use workforce_domain::issue::{Issue, IssueStatus};
use workforce_domain::run::RunKind;
use workforce_domain::wake::{Wake, WakeReason, WakeSource};
use workforce_testkit::world::{done, new_issue};

use crate::deeds::{Deeds, given_to};
use crate::scene::Scene;

#[test]
fn ten_causes_make_one_pending_wake_that_names_them_all() {
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Todo);
    let mut written = Vec::new();
    for n in 0..4 {
        written.push(done(scene.world.board().says(&issue, &format!("Remark {n}"))).id);
        written.push(done(scene.world.agent(scene.bob.id).says(&issue, "@Ada, indeed")).id);
    }
    written.push(done(scene.world.board().says(&issue, "The last one")).id);
    let wakes = scene.world.pending_wakes(&scene.ada);
    assert_eq!(wakes.len(), 1);
    assert_eq!(wakes[0].count, 10);
    assert_eq!(wakes[0].comments, written);
    assert_eq!(
        wakes[0].reasons,
        [
            WakeReason::IssueAssigned,
            WakeReason::IssueCommented,
            WakeReason::IssueCommentMentioned
        ]
    );
    assert_eq!(
        wakes[0].source,
        WakeSource::Assignment,
        "what caused it first"
    );
    let started = scene.world.start_all();
    assert_eq!(started.len(), 1, "ten causes lead to one run");
    assert_eq!(started[0].wake.comments, written);
}

#[test]
fn what_happens_during_a_run_waits_for_the_next_one() {
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Todo);
    let run = scene.world.start_next().unwrap().run;
    done(scene.world.board().says(&issue, "By the way"));
    assert_eq!(scene.told(&scene.ada), [[WakeReason::IssueCommented]]);
    assert!(
        scene.world.start_next().is_none(),
        "one run works on an issue at a time"
    );
    assert!(scene.world.finish(&run));
    assert_eq!(scene.world.start_next().unwrap().run.issue, Some(issue.id));
}

#[test]
fn wakes_about_different_issues_stay_apart() {
    let scene = Scene::new();
    let issues = [scene.adas(IssueStatus::Todo), scene.adas(IssueStatus::Todo)];
    for issue in &issues {
        done(scene.world.board().says(issue, "Soon, please"));
    }
    let mut keys: Vec<_> = scene
        .world
        .pending_wakes(&scene.ada)
        .iter()
        .map(|wake| wake.issue.unwrap())
        .collect();
    keys.sort_unstable();
    let mut expected = issues.map(|issue| issue.id);
    expected.sort_unstable();
    assert_eq!(keys, expected);
}

#[test]
fn a_wake_names_the_newest_comments_only() {
    let scene = Scene::new();
    let issue = scene.adas_own();
    let written: Vec<_> = (0..Wake::MAX_COMMENTS + 5)
        .map(|n| done(scene.world.board().says(&issue, &format!("Remark {n}"))).id)
        .collect();
    let wake = scene.world.pending_wakes(&scene.ada).remove(0);
    assert_eq!(wake.comments, written[5..]);
    assert_eq!(usize::try_from(wake.count).unwrap(), written.len());
}

#[test]
fn a_request_for_advice_becomes_work_when_the_issue_is_assigned() {
    let scene = Scene::new();
    let issue = scene.adas_own();
    done(scene.world.agent(scene.ada.id).says(&issue, "@Bob?"));
    done(scene.world.board().changes(&issue, &given_to(&scene.bob)));
    let wakes = scene.world.pending_wakes(&scene.bob);
    assert_eq!(wakes.len(), 1);
    assert_eq!(wakes[0].kind, RunKind::Execution);
    assert_eq!(
        scene.world.start_next().unwrap().run.kind,
        RunKind::Execution
    );
}

fn below(scene: &Scene, parent: &Issue, assignee: &Agent) -> Issue {
    let child = CreateIssue {
        status: Some(IssueStatus::InProgress),
        assignee_agent_id: Some(assignee.id),
        parent_id: Some(parent.id.into()),
        ..new_issue("A part")
    };
    scene.world.issue_with(scene.company.id, &child)
}

#[test]
fn the_last_child_that_ends_wakes_the_assignee_of_the_parent() {
    let scene = Scene::new();
    let parent = scene.adas_own();
    let children = [1, 2, 3].map(|_| below(&scene, &parent, &scene.bob));
    let bob = scene.world.agent(scene.bob.id);
    done(bob.moves(&children[0], IssueStatus::Done));
    done(
        scene
            .world
            .board()
            .moves(&children[1], IssueStatus::Cancelled),
    );
    done(bob.moves(&children[2], IssueStatus::Blocked));
    assert!(scene.told(&scene.ada).is_empty());
    done(bob.moves(&children[2], IssueStatus::InProgress));
    done(bob.moves(&children[2], IssueStatus::Done));
    let wakes = scene.world.pending_wakes(&scene.ada);
    assert_eq!(wakes.len(), 1);
    assert_eq!(
        (wakes[0].issue, wakes[0].kind),
        (Some(parent.id), RunKind::Execution)
    );
    assert_eq!(wakes[0].reasons, [WakeReason::ChildrenCompleted]);
    assert_eq!(wakes[0].source, WakeSource::Automation);
    done(bob.moves(&children[2], IssueStatus::Done));
    assert_eq!(
        scene.world.pending_wakes(&scene.ada)[0].count,
        1,
        "to stay is no end"
    );
}

#[test]
fn who_ends_the_last_child_in_a_run_about_that_comes_back_to_the_parent() {
    let scene = Scene::new();
    let parent = scene.adas_own();
    let child = below(&scene, &parent, &scene.ada);
    let started = scene.world.start_all();
    let of = |issue: &Issue| {
        let mut runs = started.iter().map(|claimed| &claimed.run);
        runs.find(|run| run.issue == Some(issue.id)).unwrap().id
    };
    let run = scene.world.run_of(of(&child));
    done(run.moves(&child, IssueStatus::Done));
    assert_eq!(scene.told(&scene.ada), [[WakeReason::ChildrenCompleted]]);
}

#[test]
fn the_end_of_children_wakes_nobody_who_ended_them_and_no_ended_parent() {
    let scene = Scene::new();
    let own = scene.adas_own();
    let child = below(&scene, &own, &scene.ada);
    scene.world.start_all();
    done(
        scene
            .world
            .agent(scene.ada.id)
            .moves(&child, IssueStatus::Done),
    );
    let ended = scene.adas(IssueStatus::Done);
    let orphan = below(&scene, &ended, &scene.bob);
    done(
        scene
            .world
            .agent(scene.bob.id)
            .moves(&orphan, IssueStatus::Done),
    );
    assert!(scene.told(&scene.ada).is_empty());
}
