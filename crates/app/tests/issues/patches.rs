//! A change and its comment are one (docs/issues.md#rights).

use workforce_app::issues::UpdateIssue;
use workforce_domain::change::{Change, Replace};
use workforce_domain::issue::{IssueStatus, Priority};
use workforce_domain::wake::WakeReason;
use workforce_testkit::world::{description, done, label, no_change, title};

use crate::deeds::{Deeds, given_to, to, words};
use crate::scene::Scene;

fn saying(body: &str, change: UpdateIssue) -> UpdateIssue {
    UpdateIssue {
        comment: Some(words(body)),
        ..change
    }
}

#[test]
fn a_change_and_its_comment_are_written_together() {
    let scene = Scene::new();
    let issue = scene.adas_work();
    let command = saying("@Bob, have a look", to(IssueStatus::InReview));
    let updated = done(scene.world.agent(scene.ada.id).changes(&issue, &command));
    let comment = updated.comment.unwrap().comment;
    assert_eq!(updated.view.issue.status(), IssueStatus::InReview);
    assert_eq!(scene.footprint(&issue).comments, [comment]);
    assert_eq!(
        scene.told(&scene.bob),
        [[WakeReason::IssueCommentMentioned]]
    );
}

#[test]
fn a_refused_change_leaves_no_comment_and_wakes_nobody() {
    let scene = Scene::new();
    let missing = UpdateIssue {
        goal_id: Change::Set(scene.world.id()),
        ..no_change()
    };
    let ada = scene.world.agent(scene.ada.id);
    let issue = scene.adas_own();
    for change in [to(IssueStatus::Done), missing] {
        let command = saying("@Bob, this is done", change);
        scene.refused(&issue, || ada.changes(&issue, &command));
    }
    let (held, bob) = (scene.adas_work(), scene.world.agent(scene.bob.id));
    let grab = saying("@Ada, mine now", to(IssueStatus::InProgress));
    scene.conflict(&held, || bob.changes(&held, &grab));
    assert!(scene.told(&scene.bob).is_empty() && scene.told(&scene.ada).is_empty());
}

#[test]
fn a_change_that_only_comments_leaves_the_issue_as_it_is() {
    let scene = Scene::new();
    let issue = scene.adas_own();
    let command = saying("A remark", no_change());
    let updated = done(scene.world.agent(scene.bob.id).changes(&issue, &command));
    assert_eq!(updated.view.issue, issue);
    assert_eq!(scene.footprint(&issue).comments.len(), 1);
    assert_eq!(scene.told(&scene.ada), [[WakeReason::IssueCommented]]);
}

#[test]
fn a_comment_on_work_that_ends_with_it_wakes_nobody_in_vain() {
    let scene = Scene::new();
    let issue = scene.adas_work();
    let command = saying("Good enough", to(IssueStatus::Done));
    done(scene.world.board().changes(&issue, &command));
    assert!(scene.told(&scene.ada).is_empty());
}

#[test]
fn an_issue_that_becomes_urgent_is_worked_on_first() {
    let scene = Scene::new();
    let [older, urgent] = [
        scene.nobodys(IssueStatus::Todo),
        scene.nobodys(IssueStatus::Todo),
    ];
    let board = scene.world.board();
    for issue in [&older, &urgent] {
        done(board.changes(issue, &given_to(&scene.ada)));
    }
    let critical = UpdateIssue {
        priority: Replace::Set(Priority::Critical),
        ..no_change()
    };
    done(board.changes(&urgent, &critical));
    let started = scene.world.start_next().expect("somebody is to work");
    assert_eq!(started.run.issue, Some(urgent.id));
}

#[test]
fn every_field_is_set_and_emptied_again() {
    let scene = Scene::new();
    let issue = scene.nobodys(IssueStatus::Todo);
    let goal = scene.world.goal(scene.company.id, "Print").id;
    let parent = scene.nobodys(IssueStatus::Todo).id;
    let full = UpdateIssue {
        title: Replace::Set(title("Another")),
        description: Change::Set(description("More")),
        priority: Replace::Set(Priority::High),
        goal_id: Change::Set(goal),
        parent_id: Change::Set(parent.into()),
        billing_code: Change::Set(label("R-1")),
        ticket_key: Change::Set(label("T-1")),
        ..no_change()
    };
    let board = scene.world.board();
    let filled = done(board.changes(&issue, &full)).view.issue;
    assert_eq!(
        (filled.title.as_str(), filled.priority),
        ("Another", Priority::High)
    );
    assert_eq!((filled.goal, filled.parent), (Some(goal), Some(parent)));
    assert_eq!(filled.description, Some(description("More")));
    assert_eq!(
        (filled.billing_code.clone(), filled.ticket_key.clone()),
        (Some(label("R-1")), Some(label("T-1")))
    );
    assert_eq!(scene.now(&issue), filled);
    let empty = UpdateIssue {
        description: Change::Clear,
        goal_id: Change::Clear,
        parent_id: Change::Clear,
        billing_code: Change::Clear,
        ticket_key: Change::Clear,
        ..no_change()
    };
    let emptied = done(board.changes(&issue, &empty)).view.issue;
    assert_eq!(
        (emptied.description, emptied.goal, emptied.parent),
        (None, None, None)
    );
    assert_eq!((emptied.billing_code, emptied.ticket_key), (None, None));
    let before = scene.footprint(&issue);
    done(board.changes(&issue, &empty));
    assert_eq!(scene.footprint(&issue), before, "nothing to write down");
}
