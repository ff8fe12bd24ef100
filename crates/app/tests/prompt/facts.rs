//! What is read for a prompt, on both databases.

use std::time::Duration;

use serde_json::json;
use workforce_app::activity_log::document;
use workforce_app::approvals::{self, Decide, SubmitApproval};
use workforce_app::issues::{self, CreateIssue, SubmitReview};
use workforce_app::prompt::{MAX_COMMENTS, MAX_PARENTS, MAX_WAITING, compose};
use workforce_app::{costs, runs};
use workforce_domain::Document;
use workforce_domain::approval::{ApprovalStatus, ApprovalType};
use workforce_domain::issue::IssueStatus;
use workforce_domain::money::Cents;
use workforce_domain::run::RunKind;
use workforce_domain::text::DecisionNote;
use workforce_domain::wake::WakeReason;
use workforce_testkit::on_both_databases;
use workforce_testkit::world::{World, done, new_issue, report_of};

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

    fn a_remark_on_lines_begins_with_them(store: &TestStore) {
        let scene = Scene::in_world(World::on(store));
        let world = &scene.world;
        let issue = world.todo_for(&scene.ada, "Fix the printer");
        scene.settle();
        let commit = "0123456789abcdef".repeat(4);
        let review: SubmitReview = serde_json::from_value(json!({
            "verdict": "commented",
            "body": "Nearly.",
            "comments": [
                { "path": "src/a`b.rs", "line": 12, "body": "Why?" },
                { "path": "b.rs", "side": "left", "startLine": 3, "line": 4, "commit": commit,
                    "body": "This was better." },
            ],
        })).unwrap();
        done(world.board().write(|tx, ctx| {
            issues::submit_review(tx, ctx, &issue.id.into(), review.clone())
        }));
        let claimed = scene.claim();
        let told = compose(&input(&claimed, &scene.facts(&claimed))).user;
        let place = |path: &str, rest: &str| format!(", which woke you, on `{path}`{rest}:\n> ");
        let left = format!(", as it was before the change, in commit `{commit}`");
        assert!(told.contains(", which woke you:\n> Nearly.\n"), "{told}");
        assert!(told.contains(&format!("{}Why?\n", place("src/a'b.rs:12", ""))), "{told}");
        let second = format!("{}This was better.\n", place("b.rs:3-4", &left));
        assert!(told.contains(&second), "{told}");
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
        done(board.write(|tx, ctx| runs::invoke(tx, ctx, ada, Document::new())));
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

    fn a_decision_is_told_after_it_was_asked_for_again(store: &TestStore) {
        let scene = Scene::in_world(World::on(store));
        let issue = scene.world.todo_for(&scene.ada, "Build it");
        scene.settle();
        let ask = SubmitApproval {
            kind: ApprovalType::ApproveIssuePlan,
            requested_by_agent_id: None,
            payload: Some(document(json!({ "issueId": issue.id }))),
            issue_ids: None,
            work: Vec::new(),
        };
        let (ada, company) = (scene.world.agent(scene.ada.id), scene.company.id);
        let asked = done(ada.write(|tx, ctx| approvals::submit(tx, ctx, company, ask.clone())));
        let id = asked.view.approval.id;
        let note = Decide {
            decision_note: Some(DecisionNote::parse("Cheaper").unwrap()),
            force: None,
            seen: None,
        };
        let board = scene.world.board();
        done(board.write(|tx, ctx| approvals::request_revision(tx, ctx, id, note.clone())));
        let claimed = scene.claim();
        let told = scene.facts(&claimed).decision.unwrap();
        assert_eq!(told.approval, id);
        assert_eq!(told.status, ApprovalStatus::RevisionRequested);
        assert_eq!(told.note.as_deref(), Some("Cheaper"));
        assert_eq!(told.at, Some(scene.world.now()));
        done(ada.write(|tx, ctx| approvals::resubmit(tx, ctx, id, None, None)));
        let told = scene.facts(&claimed).decision.unwrap();
        assert_eq!(told.status, ApprovalStatus::Pending);
        assert_eq!(told.note.as_deref(), Some("Cheaper"));
        assert_eq!(told.at, None);
    }

    fn the_month_that_counts_is_that_of_the_run(store: &TestStore) {
        let scene = Scene::in_world(World::on(store));
        scene.world.todo_for(&scene.ada, "Build it");
        let (board, company) = (scene.world.board(), scene.company.id);
        let spent = report_of(scene.ada.id, "12.5");
        done(board.write(|tx, ctx| costs::report(tx, ctx, company, spent.clone())));
        let claimed = scene.claim();
        let facts = scene.facts(&claimed);
        assert_eq!(facts.agent_budget.spent, spent.cost);
        assert_eq!(facts.company_budget.spent, spent.cost);
        scene.world.clock().set(scene.world.month().end());
        assert_eq!(scene.facts(&claimed).agent_budget.spent, Cents::ZERO);
    }
}
