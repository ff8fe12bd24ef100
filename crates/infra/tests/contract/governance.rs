use workforce_domain::actor::Scope;
use workforce_domain::id::{IssueId, ProjectId};
use workforce_domain::issue::{Governance, Issue, IssueStatus, Mover, Priority};
use workforce_domain::project::{Project, ProjectGovernance};
use workforce_testkit::on_both_databases;

use crate::claim_conditions::obstacles::worktree;
use crate::issues::{approval, set_parent};
use crate::world::{World, execute, id, issue, later, project};

fn governance(world: &World<'_>, issue: &Issue) -> Governance {
    world.read(|reads| reads.issues().governance(world.scope(), issue.id))
}

const fn governed(has_approved_plan: bool, demanded_by: Option<ProjectId>) -> Governance {
    Governance {
        governed: true,
        has_approved_plan,
        demanded_by,
    }
}

/// A chain of issues, each below the next one.
fn chain<const N: usize>(world: &World<'_>) -> [Issue; N] {
    let issues = std::array::from_fn(|_| world.open());
    for pair in issues.windows(2) {
        set_parent(world, &pair[0], Some(pair[1].id));
    }
    issues
}

/// A project, and an issue of it.
fn place(world: &World<'_>, issue: &Issue, governance: ProjectGovernance) -> ProjectId {
    let place = Project {
        governance,
        ..project(&world.company)
    };
    world.write(|tx| tx.projects_mut().insert(place.clone()));
    world.change_issue(issue, |issue| issue.project = Some(place.id));
    place.id
}

on_both_databases! {
    #![beneath_the_rules]
    fn an_issue_is_governed_by_itself_and_by_what_lies_above(store: &TestStore) {
        let world = World::new(store);
        let [low, middle, top] = chain(&world);
        assert_eq!(governance(&world, &low), Governance::default());
        assert_eq!(governance(&world, &issue(&world.company)), Governance::default());

        for status in ["rejected", "cancelled"] {
            approval(&world, "approve_issue_plan", status, None, Some(&middle));
        }
        approval(&world, "approve_completion", "approved", None, Some(&middle));
        assert_eq!(governance(&world, &low), Governance::default());

        approval(&world, "approve_issue_plan", "revision_requested", None, Some(&middle));
        for of in [&low, &middle] {
            assert_eq!(governance(&world, of), governed(false, None));
        }
        assert_eq!(governance(&world, &top), Governance::default(), "it lies above");
        approval(&world, "approve_issue_plan", "approved", None, Some(&top));
        for of in [&low, &middle, &top] {
            assert_eq!(governance(&world, of), governed(true, None));
        }
    }

    fn the_nearest_project_that_demands_a_plan_is_told(store: &TestStore) {
        let world = World::new(store);
        let [low, middle, top] = chain(&world);
        place(&world, &low, ProjectGovernance::None);
        assert_eq!(governance(&world, &low), Governance::default());
        let far = place(&world, &top, ProjectGovernance::Required);
        assert_eq!(governance(&world, &low), governed(false, Some(far)));
        let near = place(&world, &middle, ProjectGovernance::Required);
        assert_eq!(governance(&world, &low), governed(false, Some(near)));
        assert_eq!(governance(&world, &top), governed(false, Some(far)));
        assert_eq!(governance(&world, &low).missing_plan(), Some(near));
        approval(&world, "approve_issue_plan", "approved", None, Some(&top));
        assert_eq!(governance(&world, &low).missing_plan(), None);
    }

    fn a_worktree_governs(store: &TestStore) {
        let world = World::new(store);
        let [low, top] = chain(&world);
        let tree = worktree(&world);
        world.change_issue(&top, |issue| issue.execution_workspace = Some(tree));
        assert_eq!(governance(&world, &low), governed(false, None));
    }

    fn a_cycle_of_parents_ends(store: &TestStore) {
        let world = World::new(store);
        let [low, top] = chain(&world);
        set_parent(&world, &top, Some(low.id));
        approval(&world, "approve_issue_plan", "approved", None, Some(&top));
        assert_eq!(governance(&world, &low), governed(true, None));
    }

    fn an_implementer_is_kept_until_it_is_deleted(store: &TestStore) {
        let world = World::new(store);
        let worker = world.hire();
        world.change_issue(&world.issue, |issue| issue.implementer = Some(worker.id));
        let stored = || {
            let found = world.read(|reads| reads.issues().find(Scope::SYSTEM, &world.issue.id.into()));
            found.unwrap()
        };
        assert_eq!(stored().implementer, Some(worker.id));
        execute(store, &format!("DELETE FROM agents WHERE id = '{}'", worker.id));
        assert_eq!(stored().implementer, None);
        assert_eq!(stored().company, world.company.id);
    }

    fn children_are_found_by_their_status(store: &TestStore) {
        let world = World::new(store);
        let child = |status, priority| {
            let child = world.open();
            world.change_issue(&child, |child| {
                child.parent = Some(world.issue.id);
                child.priority = priority;
                child.hidden_at = Some(later(1));
                let moved = child.progress.transition_to(Mover::Board, status, later(1));
                child.progress = moved.unwrap().progress;
            });
            child.id
        };
        let blocked = child(IssueStatus::Blocked, Priority::Low);
        let todo = child(IssueStatus::Todo, Priority::High);
        let done = child(IssueStatus::Done, Priority::Critical);
        let found = |statuses: &[IssueStatus], limit| -> Vec<IssueId> {
            let found = world.read(|reads| {
                reads.issues().children(world.scope(), world.issue.id, statuses, limit)
            });
            found.into_iter().map(|issue| issue.id).collect()
        };
        assert_eq!(found(&[IssueStatus::Todo, IssueStatus::Blocked], 9), [todo, blocked]);
        assert_eq!(found(&[IssueStatus::Todo, IssueStatus::Blocked], 1), [todo]);
        assert_eq!(found(&[IssueStatus::Done], 9), [done]);
        assert_eq!(found(&[IssueStatus::Cancelled], 9), []);
    }

    fn all_that_lies_below_is_locked_youngest_first(store: &TestStore) {
        let world = World::new(store);
        let made = |seconds, parent: IssueId| {
            let issue = Issue {
                created_at: later(seconds),
                parent: Some(parent),
                ..issue(&world.company)
            };
            world.write(|tx| tx.issues_mut().insert(issue.clone()).map(drop));
            issue.id
        };
        let first = made(3, world.issue.id);
        let second = made(1, world.issue.id);
        let below = made(2, second);
        made(4, world.open().id);
        let locked: Vec<IssueId> = world.write(|tx| {
            let held = tx.issues_mut().lock_below(world.scope(), world.issue.id)?;
            Ok(held.iter().map(|issue| issue.id).collect())
        });
        assert_eq!(locked, [first, below, second]);
        let none = world.write(|tx| Ok(tx.issues_mut().lock_below(world.scope(), id())?.len()));
        assert_eq!(none, 0);
    }
}
