//! Whom comments wake (docs/issues.md#comments).

use workforce_app::access::Denied;
use workforce_app::agents;
use workforce_app::issues::{AddComment, IssueError, UpdateIssue};
use workforce_domain::agent::Agent;
use workforce_domain::change::Replace;
use workforce_domain::issue::{Assignment, IssueStatus};
use workforce_domain::run::RunKind;
use workforce_domain::wake::{WakeReason, WakeSource};
use workforce_testkit::world::{done, new_agent};

use crate::deeds::{Deeds, given_to, reopening, saying};
use crate::scene::{Scene, with_role};

const COMMENTED: [[WakeReason; 1]; 1] = [[WakeReason::IssueCommented]];
const MENTIONED: [[WakeReason; 1]; 1] = [[WakeReason::IssueCommentMentioned]];
const REOPENED: [[WakeReason; 1]; 1] = [[WakeReason::IssueReopenedViaComment]];

/// A scene with an agent whose name is of two words.
fn with_qa() -> (Scene, Agent) {
    let scene = Scene::new();
    let qa = scene
        .world
        .hired_with(scene.company.id, &new_agent("QA Engineer"));
    (scene, qa)
}

#[test]
fn a_mention_wakes_the_mentioned_agent_and_not_its_author() {
    let (scene, qa) = with_qa();
    let issue = scene.adas_own();
    let ada = scene.world.agent(scene.ada.id);
    let comment = done(ada.says(&issue, "@QA Engineer, please look"));
    assert_eq!(comment.mentions, [qa.id]);
    let wakes = scene.world.pending_wakes(&qa);
    assert_eq!(wakes.len(), 1);
    assert_eq!(
        (wakes[0].issue, wakes[0].kind),
        (Some(issue.id), RunKind::Consult)
    );
    assert_eq!(
        (wakes[0].source, wakes[0].count),
        (WakeSource::Automation, 1)
    );
    assert_eq!(wakes[0].reasons, [WakeReason::IssueCommentMentioned]);
    assert_eq!(wakes[0].comments, [comment.id]);
    assert!(scene.told(&scene.ada).is_empty() && scene.told(&scene.bob).is_empty());
    let run = scene.world.start_next().unwrap().run;
    assert_eq!((run.agent, run.kind), (qa.id, RunKind::Consult));
}

#[test]
fn an_author_never_wakes_itself() {
    let scene = Scene::new();
    let issue = scene.adas_own();
    let ada = scene.world.agent(scene.ada.id);
    done(ada.says(&issue, "Began"));
    let comment = done(ada.says(&issue, "@Ada, do not forget"));
    assert!(comment.mentions.is_empty());
    assert!(scene.told(&scene.ada).is_empty());
}

#[test]
fn a_comment_written_in_a_run_does_not_wake_the_agent_of_the_run() {
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Todo);
    let run = scene.world.start_next().unwrap().run;
    let comment = done(scene.world.run_of(run.id).says(&issue, "@Ada has begun"));
    assert_eq!(comment.run, Some(run.id));
    assert!(scene.told(&scene.ada).is_empty());
}

#[test]
fn an_agents_comment_wakes_the_owner() {
    let scene = Scene::new();
    let issue = scene.adas_own();
    done(
        scene
            .world
            .agent(scene.bob.id)
            .says(&issue, "Have you tried another cable?"),
    );
    assert_eq!(scene.told(&scene.ada), COMMENTED);
    let wake = scene.world.pending_wakes(&scene.ada).remove(0);
    assert_eq!(
        (wake.kind, wake.source),
        (RunKind::Execution, WakeSource::Automation)
    );
}

#[test]
fn an_agents_comment_with_a_mention_wakes_only_the_mentioned() {
    let (scene, qa) = with_qa();
    let issue = scene.adas_own();
    done(
        scene
            .world
            .agent(scene.bob.id)
            .says(&issue, "@QA Engineer knows this"),
    );
    assert_eq!(scene.told(&qa), MENTIONED);
    assert!(scene.told(&scene.ada).is_empty());
}

#[test]
fn a_humans_comment_with_a_mention_wakes_the_owner_too() {
    let (scene, qa) = with_qa();
    let issue = scene.adas_own();
    done(scene.world.board().says(&issue, "@QA Engineer knows this"));
    assert_eq!(scene.told(&qa), MENTIONED);
    assert_eq!(scene.told(&scene.ada), COMMENTED);
}

#[test]
fn an_owner_who_is_mentioned_is_woken_once_and_to_work() {
    let scene = Scene::new();
    let issue = scene.adas_own();
    done(scene.world.board().says(&issue, "@Ada please hurry"));
    let wakes = scene.world.pending_wakes(&scene.ada);
    assert_eq!(wakes.len(), 1);
    assert_eq!((wakes[0].count, wakes[0].kind), (1, RunKind::Execution));
    assert_eq!(wakes[0].reasons, [WakeReason::IssueCommentMentioned]);
}

#[test]
fn a_comment_on_an_ended_issue_is_recorded_only() {
    let scene = Scene::new();
    for end in [IssueStatus::Done, IssueStatus::Cancelled] {
        let issue = scene.adas(end);
        for author in [scene.world.board(), scene.world.agent(scene.bob.id)] {
            done(author.says(&issue, "Thank you"));
        }
        assert_eq!(scene.footprint(&issue).comments.len(), 2);
        assert_eq!(scene.now(&issue), issue);
    }
    assert!(scene.told(&scene.ada).is_empty());
}

#[test]
fn a_mention_on_an_ended_issue_asks_for_advice() {
    let (scene, qa) = with_qa();
    let issue = scene.adas(IssueStatus::Done);
    done(
        scene
            .world
            .board()
            .says(&issue, "@QA Engineer and @Ada, how did this go?"),
    );
    for agent in [&qa, &scene.ada] {
        let wakes = scene.world.pending_wakes(agent);
        assert_eq!(wakes.len(), 1);
        assert_eq!(wakes[0].kind, RunKind::Consult);
        assert_eq!(wakes[0].reasons, [WakeReason::IssueCommentMentioned]);
    }
    assert_eq!(scene.status(&issue), IssueStatus::Done);
}

#[test]
fn a_comment_that_reopens_wakes_the_owner_whoever_writes_it() {
    let (scene, qa) = with_qa();
    let ceo = with_role("Cleo", "ceo");
    let ceo = scene.world.hired_with(scene.company.id, &ceo);
    let (first, second) = (
        scene.adas(IssueStatus::Done),
        scene.adas(IssueStatus::Cancelled),
    );
    done(scene.world.board().adds(&first, &reopening("It broke")));
    assert_eq!(scene.told(&scene.ada), REOPENED);
    let ceo = scene.world.agent(ceo.id);
    done(ceo.adds(&second, &reopening("@QA Engineer, it broke")));
    assert_eq!(scene.told(&qa), MENTIONED);
    assert_eq!(scene.told(&scene.ada), [REOPENED[0], REOPENED[0]]);
    assert_eq!(scene.status(&first), IssueStatus::Todo);
    assert_eq!(scene.status(&second), IssueStatus::Todo);
}

#[test]
fn an_agent_without_a_stake_reopens_nothing() {
    let (scene, qa) = with_qa();
    for end in [IssueStatus::Done, IssueStatus::Cancelled] {
        let issue = scene.adas(end);
        let bob = scene.world.agent(scene.bob.id);
        let command = reopening("@QA Engineer, it broke");
        let refusal = scene.refused(&issue, || bob.adds(&issue, &command));
        assert!(
            matches!(refusal, IssueError::Denied(Denied::Forbidden(_))),
            "{refusal:?}"
        );
    }
    assert!(scene.told(&qa).is_empty() && scene.told(&scene.ada).is_empty());
}

#[test]
fn an_owner_who_reopens_is_not_woken() {
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Done);
    done(
        scene
            .world
            .agent(scene.ada.id)
            .adds(&issue, &reopening("I forgot something")),
    );
    assert_eq!(scene.status(&issue), IssueStatus::Todo);
    assert!(scene.told(&scene.ada).is_empty());
}

#[test]
fn a_comment_on_a_parked_issue_is_still_heard_by_its_owner() {
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Backlog);
    done(scene.world.board().says(&issue, "What would this take?"));
    assert_eq!(scene.told(&scene.ada), COMMENTED);
    assert_eq!(scene.status(&issue), IssueStatus::Backlog);
}

#[test]
fn a_comment_on_an_issue_of_nobody_wakes_nobody() {
    let scene = Scene::new();
    let issue = scene.nobodys(IssueStatus::Todo);
    assert_eq!(issue.assignee, Assignment::NOBODY);
    done(scene.world.board().says(&issue, "Anyone?"));
    assert!(scene.told(&scene.ada).is_empty() && scene.told(&scene.bob).is_empty());
}

#[test]
fn agents_of_other_companies_are_not_mentioned() {
    let scene = Scene::new();
    let issue = scene.adas_own();
    let elsewhere = scene.world.company("Other").id;
    let foreign = scene.world.hired(elsewhere, "Zoe");
    let body = format!("@Zoe or [@Zoe](agent://{})", foreign.id);
    let comment = done(scene.world.board().says(&issue, &body));
    assert!(comment.mentions.is_empty());
    assert!(scene.told(&foreign).is_empty());
}

#[test]
fn what_is_quoted_or_code_mentions_nobody() {
    let (scene, qa) = with_qa();
    let issue = scene.adas_own();
    let ada = scene.world.agent(scene.ada.id);
    for body in [
        "> @QA Engineer said so",
        "`@QA Engineer`",
        "mail me@QA Engineer",
    ] {
        assert!(done(ada.says(&issue, body)).mentions.is_empty(), "{body}");
    }
    assert!(scene.told(&qa).is_empty());
}

#[test]
fn a_paused_agent_hears_of_it_when_it_is_resumed_and_a_terminated_one_never() {
    let (scene, qa) = with_qa();
    let issue = scene.adas_own();
    let board = scene.world.board();
    done(board.write(|tx, ctx| agents::pause(tx, ctx, scene.ada.id)));
    done(board.write(|tx, ctx| agents::terminate(tx, ctx, qa.id)));
    let comment = done(board.says(&issue, "@QA Engineer, @Ada?"));
    assert_eq!(comment.mentions, [scene.ada.id]);
    assert_eq!(scene.told(&scene.ada), MENTIONED);
    assert!(scene.told(&qa).is_empty());
    assert!(scene.world.start_next().is_none());
    done(board.write(|tx, ctx| agents::resume(tx, ctx, scene.ada.id, false)));
    assert_eq!(scene.world.start_next().unwrap().run.agent, scene.ada.id);
}

#[test]
fn the_board_may_interrupt_the_work_with_a_comment() {
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Todo);
    let run = scene.world.start_next().unwrap().run;
    let stop = AddComment {
        interrupt: Some(true),
        ..saying("Stop, this is wrong")
    };
    let bob = scene.world.agent(scene.bob.id);
    let refusal = scene.refused(&issue, || bob.adds(&issue, &stop));
    assert_eq!(refusal, IssueError::Denied(Denied::BoardRequired));
    done(scene.world.board().adds(&issue, &stop));
    assert!(scene.world.stored_run(run.id).stop_requested_at.is_some());
    assert_eq!(scene.told(&scene.ada), COMMENTED);
}

#[test]
fn an_owner_that_another_still_keeps_from_its_work_gives_advice() {
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Todo);
    let working = scene.world.start_next().unwrap().run;
    let parked = UpdateIssue {
        status: Replace::Set(IssueStatus::Backlog),
        ..given_to(&scene.bob)
    };
    done(scene.world.board().changes(&issue, &parked));
    assert!(scene.told(&scene.bob).is_empty());
    done(scene.world.board().says(&issue, "@Bob, what do you think?"));
    let advice = scene.world.start_next().unwrap().run;
    assert_eq!(
        (advice.agent, advice.kind),
        (scene.bob.id, RunKind::Consult)
    );
    assert!(scene.world.finish(&advice) && scene.world.finish(&working));
    done(scene.world.board().says(&issue, "@Bob, and now do it."));
    let work = scene.world.start_next().unwrap().run;
    assert_eq!((work.agent, work.kind), (scene.bob.id, RunKind::Execution));
}
