//! The lifecycle of issues, from every status to every status
//! (docs/lifecycles.md#issues-moved-by-agents).

use serde_json::json;
use workforce_app::activity;
use workforce_app::issues::{CreateIssue, IssueError};
use workforce_domain::issue::{Issue, IssueStatus};
use workforce_domain::page::PageRequest;
use workforce_testkit::world::{Acting, done, new_issue, refused};

use crate::deeds::{Deeds, reopening, saying};
use crate::scene::Scene;

use IssueStatus::{Backlog, Blocked, Cancelled, Done, InProgress, InReview, Todo};

const ALL: [IssueStatus; 7] = [
    Backlog, Todo, InProgress, InReview, Blocked, Done, Cancelled,
];

/// What agents may do (docs/lifecycles.md#issues-moved-by-agents).
const AGENTS: [(IssueStatus, &[IssueStatus]); 7] = [
    (Backlog, &[Todo, InProgress, Cancelled]),
    (Todo, &[Backlog, InProgress, Blocked, Cancelled]),
    (InProgress, &[Todo, InReview, Blocked, Done, Cancelled]),
    (InReview, &[InProgress, Blocked, Done, Cancelled]),
    (Blocked, &[Todo, InProgress, Cancelled]),
    (Done, &[]),
    (Cancelled, &[]),
];

/// What the board may do (docs/lifecycles.md#issues-moved-by-the-board).
const BOARD: [(IssueStatus, &[IssueStatus]); 7] = [
    (
        Backlog,
        &[Todo, InProgress, InReview, Blocked, Done, Cancelled],
    ),
    (
        Todo,
        &[Backlog, InProgress, InReview, Blocked, Done, Cancelled],
    ),
    (
        InProgress,
        &[Backlog, Todo, InReview, Blocked, Done, Cancelled],
    ),
    (
        InReview,
        &[Backlog, Todo, InProgress, Blocked, Done, Cancelled],
    ),
    (
        Blocked,
        &[Backlog, Todo, InProgress, InReview, Done, Cancelled],
    ),
    (Done, &[Backlog, Todo]),
    (Cancelled, &[Backlog, Todo]),
];

fn sorted(statuses: &[IssueStatus]) -> Vec<IssueStatus> {
    let mut statuses = statuses.to_vec();
    statuses.sort_unstable();
    statuses
}

/// Tries every pair on an issue of its own; `moved` looks at what succeeded.
fn try_all(
    scene: &Scene,
    mover: Acting<'_>,
    table: [(IssueStatus, &[IssueStatus]); 7],
    moved: impl Fn(&Issue, IssueStatus, IssueStatus),
) {
    assert_eq!(table.map(|(from, _)| from), ALL);
    for (from, allowed) in table {
        for to in ALL {
            let issue = scene.adas(from);
            if from == to {
                let before = scene.footprint(&issue);
                done(mover.moves(&issue, to));
                assert_eq!(scene.footprint(&issue), before, "{from} stays");
            } else if allowed.contains(&to) {
                let updated = done(mover.moves(&issue, to));
                assert_eq!(updated.view.issue.status(), to, "{from} -> {to}");
                assert_eq!(updated.rewritten, None, "{from} -> {to}");
                assert_eq!(scene.status(&issue), to, "{from} -> {to}");
                moved(&issue, from, to);
            } else {
                let illegal = scene.illegal(&issue, || mover.moves(&issue, to));
                assert_eq!((illegal.from, illegal.to), (from, to));
                assert_eq!(sorted(illegal.allowed), sorted(allowed), "{from} -> {to}");
            }
        }
    }
}

#[test]
fn agents_keep_to_their_table() {
    let scene = Scene::new();
    try_all(
        &scene,
        scene.world.agent(scene.ada.id),
        AGENTS,
        |issue, _, to| {
            let holder = scene
                .world
                .stored_lease(issue)
                .map(|lease| lease.holder.agent());
            let expected = (to == InProgress).then_some(scene.ada.id);
            assert_eq!(holder, expected, "whoever begins to work takes the lease");
        },
    );
}

#[test]
fn the_board_moves_as_it_likes_except_out_of_an_end() {
    let scene = Scene::new();
    let board = scene.world.board();
    let logged = |issue: &Issue| {
        let page = PageRequest::first();
        done(board.read(|reads, ctx| activity::of_issue(reads, ctx, &issue.id.into(), &page)))
            .items
            .remove(0)
    };
    try_all(&scene, board, BOARD, |issue, from, to| {
        let (_, agents) = AGENTS
            .into_iter()
            .find(|(status, _)| *status == from)
            .unwrap();
        let overrides = !agents.contains(&to) && !agents.is_empty();
        let told = logged(issue).details.get("override").cloned();
        assert_eq!(told, overrides.then_some(json!(true)), "{from} -> {to}");
    });
}

#[test]
fn agents_leave_an_end_only_by_a_comment_that_reopens() {
    let scene = Scene::new();
    let ada = scene.world.agent(scene.ada.id);
    for end in [Done, Cancelled] {
        let issue = scene.adas(end);
        for to in ALL.into_iter().filter(|to| *to != end) {
            let illegal = scene.illegal(&issue, || ada.moves(&issue, to));
            assert!(illegal.allowed.is_empty());
        }
        done(ada.adds(&issue, &saying("It broke again")));
        assert_eq!(scene.status(&issue), end);
        done(ada.adds(&issue, &reopening("It broke again")));
        let progress = scene.now(&issue).progress;
        assert_eq!((progress.status(), progress.workflow_epoch()), (Todo, 1));
    }
}

#[test]
fn to_reopen_what_is_open_is_only_a_comment() {
    let scene = Scene::new();
    let ada = scene.world.agent(scene.ada.id);
    for status in [Backlog, Todo, InProgress, InReview, Blocked] {
        let issue = scene.adas(status);
        done(ada.adds(&issue, &reopening("Go on")));
        assert_eq!(scene.now(&issue).progress, issue.progress);
    }
}

#[test]
fn ending_releases_the_lease_and_stops_the_work_of_others() {
    let scene = Scene::new();
    for end in [Done, Cancelled] {
        let issue = scene.adas(Todo);
        let run = scene.world.start_next().unwrap().run;
        done(scene.world.run_of(run.id).checks_out(&issue));
        done(scene.world.board().moves(&issue, end));
        assert_eq!(scene.world.stored_lease(&issue), None);
        assert!(scene.world.stored_run(run.id).stop_requested_at.is_some());
        scene.world.finish(&run);
    }
}

#[test]
fn a_run_that_ends_its_own_issue_is_not_stopped() {
    let scene = Scene::new();
    for end in [Done, Cancelled] {
        let issue = scene.adas(Todo);
        let run = scene.world.start_next().unwrap().run;
        done(scene.world.run_of(run.id).checks_out(&issue));
        done(scene.world.run_of(run.id).moves(&issue, end));
        assert_eq!(scene.world.stored_lease(&issue), None);
        assert_eq!(scene.world.stored_run(run.id).stop_requested_at, None);
        scene.world.finish(&run);
    }
}

#[test]
fn agents_begin_issues_in_backlog_todo_or_blocked() {
    let scene = Scene::new();
    let ada = scene.world.agent(scene.ada.id);
    for status in ALL {
        let command = CreateIssue {
            status: Some(status),
            assignee_agent_id: Some(scene.ada.id),
            ..new_issue("Begin")
        };
        let outcome = ada.creates(scene.company.id, &command);
        if matches!(status, Backlog | Todo | Blocked) {
            assert_eq!(done(outcome).status(), status);
        } else {
            let refusal = refused(outcome);
            assert!(
                matches!(refusal, IssueError::Transition(it) if it.to == status),
                "{refusal:?}"
            );
        }
    }
}
