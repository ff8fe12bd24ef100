//! Plans that the board has not agreed to yet hold issues back
//! (docs/approvals.md#pending-plans).

use workforce_app::issues::CreateIssue;
use workforce_domain::id::ApprovalId;
use workforce_domain::issue::{ConflictReason, Issue, IssueStatus};
use workforce_testkit::on_both_databases;
use workforce_testkit::store::TestStore;
use workforce_testkit::world::{World, done, new_issue};

use crate::deeds::{Deeds, to};
use crate::scene::Scene;

/// A plan for an issue, in some status.
fn plan(store: &TestStore, world: &World, issue: &Issue, status: &str) -> ApprovalId {
    let (id, at): (ApprovalId, _) = (world.id(), store.literal(world.now()));
    let (company, issue) = (issue.company, issue.id);
    store.breaks_on_purpose(&[
        "approvals_are_linked_to_what_they_are_about",
        "decisions_are_complete",
        "undecided_approvals_have_an_object",
    ]);
    store.execute(&format!(
        "INSERT INTO approvals (id, company_id, type, status, payload, primary_issue_id, \
         resubmit_count, created_at, updated_at, decided_by, decided_at) \
         VALUES ('{id}', '{company}', 'approve_issue_plan', '{status}', '{{}}', '{issue}', 0, \
         {at}, {at}, 'board', {at})"
    ));
    id
}

on_both_databases! {
    fn a_plan_that_is_undecided_keeps_the_issue_from_being_checked_out(store: &TestStore) {
        let scene = Scene::in_world(World::on(store));
        let (ada, board) = (scene.world.agent(scene.ada.id), scene.world.board());
        for status in ["pending", "revision_requested"] {
            let issue = scene.nobodys(IssueStatus::Todo);
            let plan = plan(store, &scene.world, &issue, status);
            let attempts = [
                scene.conflict(&issue, || ada.checks_out(&issue)),
                scene.conflict(&issue, || ada.changes(&issue, &to(IssueStatus::InProgress))),
                scene.conflict(&issue, || board.checks_out_for(&issue, &scene.ada)),
            ];
            for conflict in attempts {
                assert_eq!(conflict.reason, ConflictReason::ApprovalPending);
                assert_eq!(conflict.approval, Some(plan));
                assert_eq!(conflict.status, IssueStatus::Todo);
            }
            store.execute(&format!("UPDATE approvals SET status = 'approved' WHERE id = '{plan}'"));
            done(ada.checks_out(&issue));
        }
    }

    fn a_plan_over_an_ancestor_holds_everything_below_back(store: &TestStore) {
        let scene = Scene::in_world(World::on(store));
        let below = |parent: &Issue| {
            let child = CreateIssue {
                status: Some(IssueStatus::Todo),
                parent_id: Some(parent.id.into()),
                ..new_issue("A part")
            };
            scene.world.issue_with(scene.company.id, &child)
        };
        let top = scene.nobodys(IssueStatus::Todo);
        let child = below(&below(&top));
        let plan = plan(store, &scene.world, &top, "pending");
        let ada = scene.world.agent(scene.ada.id);
        let conflict = scene.conflict(&child, || ada.checks_out(&child));
        assert_eq!((conflict.reason, conflict.approval), (ConflictReason::ApprovalPending, Some(plan)));
        let beside = scene.nobodys(IssueStatus::Todo);
        done(ada.checks_out(&beside));
    }

    fn a_plan_that_was_decided_holds_nothing_back(store: &TestStore) {
        let scene = Scene::in_world(World::on(store));
        for status in ["approved", "rejected", "cancelled"] {
            let issue = scene.nobodys(IssueStatus::Todo);
            plan(store, &scene.world, &issue, status);
            done(scene.world.agent(scene.ada.id).checks_out(&issue));
        }
    }
}
