//! What is read for a prompt, on both databases.

use std::time::Duration;

use workforce_app::issues::CreateIssue;
use workforce_app::prompt::{MAX_COMMENTS, MAX_PARENTS, MAX_WAITING, compose};
use workforce_domain::issue::IssueStatus;
use workforce_domain::run::RunKind;
use workforce_domain::wake::WakeReason;
use workforce_testkit::on_both_databases;
use workforce_testkit::world::{World, new_issue};

use crate::scene::{Scene, input, says};

on_both_databases! {
    fn comments_are_those_of_others_since_the_last_good_run(store: &TestStore) {
        let scene = Scene::in_world(World::on(store));
        let world = &scene.world;
        let issue = world.todo_for(&scene.ada, "Fix the printer");
        says(world.board(), &issue, "before");
        world.advance(Duration::from_secs(1));
        let first = scene.claim();
        let told = scene.facts(&first).comments;
        assert_eq!(told.comments.iter().map(|it| it.body.as_str()).collect::<Vec<_>>(), ["before"]);
        assert!(told.comments[0].woke);
        world.advance(Duration::from_secs(1));
        says(world.board(), &issue, "during");
        says(world.agent(scene.ada.id), &issue, "mine");
        world.finish(&first.run);
        world.advance(Duration::from_secs(1));
        says(world.agent(scene.mara.id), &issue, "after");
        let claimed = scene.claim();
        let told = scene.facts(&claimed).comments;
        let bodies: Vec<_> = told.comments.iter().map(|it| it.body.as_str()).collect();
        assert_eq!(bodies, ["during", "after"]);
        assert_eq!(told.comments[1].author.name.as_deref(), Some("Mara"));
        assert!(!told.older);
    }

    fn no_more_comments_are_read_than_shown(store: &TestStore) {
        let scene = Scene::in_world(World::on(store));
        let world = &scene.world;
        let issue = world.todo_for(&scene.ada, "Fix the printer");
        scene.settle();
        for number in 0..60 {
            world.advance(Duration::from_secs(1));
            says(world.board(), &issue, &format!("{number} {}", "x".repeat(1000)));
        }
        let claimed = scene.claim();
        let facts = scene.facts(&claimed);
        let told = &facts.comments;
        assert!(told.older);
        let read: usize = told.comments.iter().map(|it| it.body.len()).sum();
        assert!(read < 2 * MAX_COMMENTS, "{read}");
        let prompt = compose(&input(&claimed, &facts));
        assert!(prompt.cut);
        assert!(prompt.user.contains("> 59 x"), "the newest are kept");
        assert!(!prompt.user.contains("> 40 x"));
    }

    fn parents_are_told_nearest_first(store: &TestStore) {
        let scene = Scene::in_world(World::on(store));
        let mut above = None;
        for level in 0..=MAX_PARENTS {
            let command = CreateIssue {
                parent_id: above,
                ..new_issue(&format!("Level {level}"))
            };
            above = Some(scene.world.issue_with(scene.company.id, &command).id.into());
        }
        let command = CreateIssue {
            parent_id: above,
            status: Some(IssueStatus::Todo),
            assignee_agent_id: Some(scene.ada.id),
            ..new_issue("Leaf")
        };
        scene.world.issue_with(scene.company.id, &command);
        let facts = scene.facts(&scene.claim()).issue.unwrap();
        let parents: Vec<_> = facts.parents.lines.iter().map(|it| it.title.as_str()).collect();
        assert_eq!(parents, ["Level 5", "Level 4", "Level 3", "Level 2", "Level 1"]);
        assert!(facts.parents.more);
    }

    fn what_waits_is_told_of_runs_about_no_issue(store: &TestStore) {
        let scene = Scene::in_world(World::on(store));
        let world = &scene.world;
        for number in 0..=MAX_WAITING {
            world.todo_for(&scene.ada, &format!("Issue {number}"));
        }
        world.todo_for(&scene.mara, "Of another");
        scene.settle();
        while world.start_next().is_some_and(|started| world.finish(&started.run)) {}
        let (board, ada) = (world.board(), scene.ada.id);
        let asked = board.write(|tx, ctx| {
            workforce_app::runs::invoke(tx, ctx, ada, workforce_domain::Document::new())
        });
        workforce_testkit::world::done(asked);
        let claimed = scene.claim();
        assert_eq!(claimed.run.kind, RunKind::General);
        let facts = scene.facts(&claimed);
        assert_eq!(facts.waiting.lines.len(), MAX_WAITING);
        assert!(facts.waiting.more);
        assert_eq!(facts.issue, None);
        assert_eq!(facts.manager.unwrap().id, scene.mara.id);
    }

    fn children_are_told_when_they_ended(store: &TestStore) {
        let scene = Scene::in_world(World::on(store));
        let parent = scene.world.todo_for(&scene.ada, "Whole");
        scene.settle();
        let command = CreateIssue {
            parent_id: Some(parent.id.into()),
            status: Some(IssueStatus::Todo),
            ..new_issue("Part")
        };
        let part = scene.world.issue_with(scene.company.id, &command);
        scene.move_to(&part, IssueStatus::Done);
        let claimed = scene.claim();
        assert_eq!(claimed.wake.reasons, [WakeReason::ChildrenCompleted]);
        let facts = scene.facts(&claimed);
        let told: Vec<_> = facts.children.lines.iter().map(|it| (it.id, it.status)).collect();
        assert_eq!(told, [(part.id, IssueStatus::Done)]);
        assert!(facts.waiting.lines.is_empty());
    }
}
