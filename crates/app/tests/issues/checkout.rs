//! Checking out: who may, and what it does.

use std::time::Duration;

use workforce_app::access::Denied;
use workforce_app::agents;
use workforce_app::issues::{CheckOut, IssueError};
use workforce_app::{Code, Refusal};
use workforce_domain::company::PauseReason;
use workforce_domain::issue::{AGENT_LEASE, ConflictReason, Holder, IssueStatus};
use workforce_domain::run::RunKind;
use workforce_domain::wake::WakeReason;
use workforce_testkit::world::{done, new_agent, refused};

use crate::deeds::{Deeds, PLAIN, to};
use crate::scene::Scene;

#[test]
fn it_assigns_the_issue_to_the_caller_and_moves_it_to_in_progress() {
    let scene = Scene::new();
    let issue = scene.nobodys(IssueStatus::Todo);
    let view = done(scene.world.agent(scene.ada.id).checks_out(&issue));
    assert_eq!(view.issue, scene.now(&issue));
    assert_eq!(view.issue.status(), IssueStatus::InProgress);
    assert_eq!(view.issue.assignee.agent(), Some(scene.ada.id));
    let lease = view.lease.unwrap();
    assert_eq!(lease.holder, Holder::Agent(scene.ada.id));
    assert_eq!(lease.expires_at, Some(scene.world.now().plus(AGENT_LEASE)));
    assert!(scene.told(&scene.ada).is_empty(), "nobody wakes itself");
}

#[test]
fn the_owner_may_check_out_again_and_changes_nothing() {
    let scene = Scene::new();
    let issue = scene.nobodys(IssueStatus::Todo);
    let ada = scene.world.agent(scene.ada.id);
    done(ada.checks_out(&issue));
    let before = scene.footprint(&issue);
    let again = done(ada.checks_out(&issue));
    assert_eq!(again.issue, before.issue);
    let after = scene.footprint(&issue);
    assert_eq!(after.issue, before.issue);
    assert_eq!(after.deeds, before.deeds);
    let (first, second) = (before.lease.unwrap(), after.lease.unwrap());
    assert_eq!(
        (first.holder, first.expires_at),
        (second.holder, second.expires_at)
    );
}

#[test]
fn checking_out_again_renews_a_lease_that_runs_out_and_nothing_else() {
    let scene = Scene::new();
    let issue = scene.adas_work();
    scene.world.advance(Duration::from_secs(600));
    let again = done(scene.world.agent(scene.ada.id).checks_out(&issue));
    assert_eq!(again.issue, issue);
    assert_eq!(
        again.lease.unwrap().expires_at,
        Some(scene.world.now().plus(AGENT_LEASE))
    );
}

#[test]
fn another_agent_is_told_who_holds_the_issue_and_why_it_cannot_have_it() {
    let scene = Scene::new();
    let issue = scene.adas_work();
    let bob = scene.world.agent(scene.bob.id);
    let conflict = scene.conflict(&issue, || bob.checks_out(&issue));
    assert_eq!(conflict.reason, ConflictReason::OtherAssignee);
    assert_eq!(conflict.status, IssueStatus::InProgress);
    assert_eq!(conflict.assignee_agent, Some(scene.ada.id));
    assert_eq!(
        (conflict.holder_agent, conflict.holder_run),
        (Some(scene.ada.id), None)
    );
    assert!(conflict.holder_live);
}

#[test]
fn an_expired_lease_does_not_count_but_the_assignment_does() {
    let scene = Scene::new();
    let issue = scene.adas_work();
    scene.world.advance(AGENT_LEASE);
    let bob = scene.world.agent(scene.bob.id);
    let conflict = scene.conflict(&issue, || bob.checks_out(&issue));
    assert_eq!(conflict.reason, ConflictReason::OtherAssignee);
    assert_eq!((conflict.holder_agent, conflict.holder_live), (None, false));
}

#[test]
fn another_run_of_the_same_agent_meets_a_live_run() {
    let scene = Scene::new();
    let (issue, own, second) = scene.held_beside_another();
    for caller in [
        scene.world.run_of(second),
        scene.world.agent_naming(scene.ada.id, second),
    ] {
        let conflict = scene.conflict(&issue, || caller.checks_out(&issue));
        assert_eq!(conflict.reason, ConflictReason::LiveRun);
        assert_eq!(conflict.holder_run, Some(own));
        let conflict = scene.conflict(&issue, || caller.moves(&issue, IssueStatus::Done));
        assert_eq!(
            (conflict.reason, conflict.holder_run),
            (ConflictReason::LiveRun, Some(own))
        );
    }
}

#[test]
fn a_run_holds_what_it_was_started_for_and_takes_over_from_its_agents_key() {
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Todo);
    let ada = scene.world.agent(scene.ada.id);
    done(ada.checks_out(&issue));
    let run = scene.world.start_next().unwrap().run;
    let view = done(scene.world.run_of(run.id).checks_out(&issue));
    let lease = view.lease.unwrap();
    assert_eq!(
        lease.holder,
        Holder::Run {
            agent: scene.ada.id,
            run: run.id
        }
    );
    assert_eq!(lease.expires_at, None, "it ends with the run");
    assert!(scene.world.finish(&run));
    assert_eq!(scene.world.stored_lease(&issue), None);
}

#[test]
fn an_agent_checks_out_as_itself_only() {
    let scene = Scene::new();
    let issue = scene.nobodys(IssueStatus::Todo);
    let ada = scene.world.agent(scene.ada.id);
    let refusal = scene.refused(&issue, || ada.checks_out_for(&issue, &scene.bob));
    assert!(
        matches!(refusal, IssueError::Denied(Denied::Forbidden(_))),
        "{refusal:?}"
    );
    done(ada.checks_out_for(&issue, &scene.ada));
}

#[test]
fn the_board_checks_out_for_an_agent_and_wakes_it() {
    let scene = Scene::new();
    let issue = scene.nobodys(IssueStatus::Todo);
    let view = done(scene.world.board().checks_out_for(&issue, &scene.ada));
    assert_eq!(view.issue.status(), IssueStatus::InProgress);
    assert_eq!(view.issue.assignee.agent(), Some(scene.ada.id));
    assert_eq!(view.lease, None, "the board works on nothing itself");
    assert_eq!(scene.told(&scene.ada), [[WakeReason::IssueCheckedOut]]);
    let before = scene.footprint(&issue);
    done(scene.world.board().checks_out_for(&issue, &scene.ada));
    assert_eq!(
        scene.footprint(&issue),
        before,
        "a second time changes nothing"
    );
}

#[test]
fn the_board_must_name_an_agent_that_works_here() {
    let scene = Scene::new();
    let issue = scene.nobodys(IssueStatus::Todo);
    let board = scene.world.board();
    let nobody = scene.refused(&issue, || board.checks_out_with(&issue, &PLAIN));
    assert_eq!(nobody.code(), Code::InvalidField);
    let elsewhere = scene.world.company("Other").id;
    let foreign = scene.world.hired_with(elsewhere, &new_agent("Foreign")).id;
    let naming = |agent| CheckOut {
        agent: Some(agent),
        expected: None,
    };
    let foreign = scene.refused(&issue, || board.checks_out_with(&issue, &naming(foreign)));
    let missing = scene.refused(&issue, || {
        board.checks_out_with(&issue, &naming(scene.world.id()))
    });
    assert_eq!(foreign, missing);
    assert_eq!(foreign.code(), Code::ReferenceNotFound);
}

#[test]
fn a_paused_agent_cannot_begin_work_but_may_finish_it() {
    let scene = Scene::new();
    let (issue, work) = (scene.adas(IssueStatus::Todo), scene.adas_work());
    let board = scene.world.board();
    done(board.write(|tx, ctx| agents::pause(tx, ctx, scene.ada.id)));
    let paused = IssueError::AgentPaused {
        reason: PauseReason::Manual,
    };
    let ada = scene.world.agent(scene.ada.id);
    assert_eq!(scene.refused(&issue, || ada.checks_out(&issue)), paused);
    let begin = to(IssueStatus::InProgress);
    assert_eq!(
        scene.refused(&issue, || ada.changes(&issue, &begin)),
        paused
    );
    assert_eq!(
        scene.refused(&issue, || board.checks_out_for(&issue, &scene.ada)),
        paused
    );
    done(ada.says(&work, "Nearly there"));
    done(ada.moves(&work, IssueStatus::Done));
    assert_eq!(scene.status(&work), IssueStatus::Done);
}

#[test]
fn a_run_that_gives_advice_may_comment_and_not_check_out() {
    let scene = Scene::new();
    let (issue, free) = (scene.adas_own(), scene.nobodys(IssueStatus::Todo));
    done(
        scene
            .world
            .agent(scene.ada.id)
            .says(&issue, "@Bob what do you think?"),
    );
    let run = scene.world.start_next().unwrap().run;
    assert_eq!((run.agent, run.kind), (scene.bob.id, RunKind::Consult));
    let bob = scene.world.run_of(run.id);
    let comment = done(bob.says(&issue, "Looks good"));
    assert_eq!(
        (comment.author.agent(), comment.run),
        (Some(scene.bob.id), Some(run.id))
    );
    assert_eq!(
        scene.refused(&free, || bob.checks_out(&free)),
        IssueError::ConsultRun
    );
    let begin = to(IssueStatus::InProgress);
    assert_eq!(
        scene.refused(&free, || bob.changes(&free, &begin)),
        IssueError::ConsultRun
    );
    assert_eq!(scene.world.stored_lease(&issue), None, "it holds nothing");
}

#[test]
fn setting_in_progress_is_a_checkout_for_an_agent() {
    let scene = Scene::new();
    let issue = scene.nobodys(IssueStatus::Todo);
    let ada = scene.world.agent(scene.ada.id);
    let updated = done(ada.moves(&issue, IssueStatus::InProgress));
    assert_eq!(updated.view.issue.assignee.agent(), Some(scene.ada.id));
    assert_eq!(
        updated.view.lease.unwrap().holder,
        Holder::Agent(scene.ada.id)
    );
    let bob = scene.world.agent(scene.bob.id);
    let conflict = scene.conflict(&issue, || bob.moves(&issue, IssueStatus::InProgress));
    assert_eq!(conflict.reason, ConflictReason::OtherAssignee);
    assert_eq!(conflict.holder_agent, Some(scene.ada.id));
}

#[test]
fn the_board_sets_in_progress_for_the_assignee_who_is_woken() {
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Backlog);
    let updated = done(scene.world.board().moves(&issue, IssueStatus::InProgress));
    assert_eq!(updated.view.lease, None);
    assert_eq!(scene.told(&scene.ada), [[WakeReason::IssueAssigned]]);
    let nobodys = scene.nobodys(IssueStatus::Todo);
    let board = scene.world.board();
    let refusal = scene.refused(&nobodys, || board.moves(&nobodys, IssueStatus::InProgress));
    assert_eq!(refusal, IssueError::AssigneeRequired);
}

#[test]
fn a_run_that_has_ended_cannot_check_out_any_more() {
    let scene = Scene::new();
    let issue = scene.adas(IssueStatus::Todo);
    let run = scene.world.start_next().unwrap().run;
    assert!(scene.world.finish(&run));
    let refusal = refused(scene.world.run_of(run.id).checks_out(&issue));
    assert!(
        matches!(refusal, IssueError::Denied(Denied::Forbidden(_))),
        "{refusal:?}"
    );
    assert_eq!(scene.world.stored_lease(&issue), None);
}
