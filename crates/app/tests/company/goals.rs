//! Goals and what they serve (docs/workspaces.md#goals).

use std::time::Duration;

use workforce_app::goals::{self, CreateGoal, GoalError, UpdateGoal};
use workforce_app::{Code, Failure, Refusal};
use workforce_domain::activity::Action;
use workforce_domain::change::{Change, Replace};
use workforce_domain::goal::{Goal, GoalLevel, GoalStatus};
use workforce_domain::id::GoalId;
use workforce_domain::page::PageRequest;
use workforce_testkit::world::{World, done, new_goal, refused};

use crate::support::count;

fn change(world: &World, goal: GoalId, change: &UpdateGoal) -> Result<Goal, Failure<GoalError>> {
    world
        .board()
        .write(|tx, ctx| goals::update(tx, ctx, goal, change.clone()))
}

fn below(parent: GoalId) -> UpdateGoal {
    UpdateGoal {
        parent_id: Change::Set(parent),
        ..UpdateGoal::default()
    }
}

#[test]
fn a_goal_is_a_planned_task_unless_said_otherwise() {
    let world = World::sqlite();
    let goal = world.goal(world.company("Acme").id, "Grow");
    assert_eq!(
        (goal.level, goal.status),
        (GoalLevel::Task, GoalStatus::Planned)
    );
    assert_eq!((goal.parent, goal.owner_agent), (None, None));
}

#[test]
fn a_goal_never_lies_below_itself() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let [top, middle, low] = ["Top", "Middle", "Low"].map(|titled| world.goal(company, titled).id);
    done(change(&world, middle, &below(top)));
    done(change(&world, low, &below(middle)));
    for parent in [top, middle, low] {
        let told = refused(change(&world, top, &below(parent)));
        assert_eq!(told, GoalError::Cycle);
        assert_eq!(told.code(), Code::Cycle);
        assert_eq!(told.details().unwrap()[0]["pointer"], "/parentId");
    }
    done(change(&world, low, &below(top)));
    assert_eq!(done(change(&world, middle, &below(low))).parent, Some(low));
}

#[test]
fn a_freed_goal_may_serve_what_served_it() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let [top, low] = ["Top", "Low"].map(|titled| world.goal(company, titled).id);
    done(change(&world, low, &below(top)));
    let freed = UpdateGoal {
        parent_id: Change::Clear,
        ..UpdateGoal::default()
    };
    assert_eq!(done(change(&world, low, &freed)).parent, None);
    assert_eq!(done(change(&world, top, &below(low))).parent, Some(low));
}

#[test]
fn what_was_sent_as_completed_is_read_as_completed() {
    let world = World::sqlite();
    let goal = world.goal(world.company("Acme").id, "Grow").id;
    for status in [
        GoalStatus::Completed,
        GoalStatus::Achieved,
        GoalStatus::Active,
    ] {
        let command = UpdateGoal {
            status: Replace::Set(status),
            ..UpdateGoal::default()
        };
        done(change(&world, goal, &command));
        let stored = done(
            world
                .board()
                .read(|reads, ctx| goals::get(reads, ctx, goal)),
        );
        assert_eq!(stored.status, status);
    }
}

#[test]
fn a_change_of_nothing_is_not_written_down() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let goal = world.goal(company, "Grow");
    world.advance(Duration::from_secs(60));
    let same = UpdateGoal {
        status: Replace::Set(GoalStatus::Planned),
        ..UpdateGoal::default()
    };
    assert_eq!(done(change(&world, goal.id, &same)), goal);
    assert_eq!(count(&world, company, Action::GoalUpdated), 0);
}

#[test]
fn an_agent_makes_and_changes_goals_of_its_company() {
    let world = World::sqlite();
    let agent = world.hired(world.company("Acme").id, "Worker");
    let who = world.agent(agent.id);
    let command = CreateGoal {
        owner_agent_id: Some(agent.id),
        ..new_goal("Mine")
    };
    let goal = done(who.write(|tx, ctx| goals::create(tx, ctx, agent.company, command.clone())));
    let next = UpdateGoal {
        level: Replace::Set(GoalLevel::Agent),
        ..UpdateGoal::default()
    };
    let changed = done(who.write(|tx, ctx| goals::update(tx, ctx, goal.id, next.clone())));
    assert_eq!(
        (changed.level, changed.owner_agent),
        (GoalLevel::Agent, Some(agent.id))
    );
    let page = PageRequest::first();
    let listed = done(who.read(|reads, ctx| goals::list(reads, ctx, agent.company, &page)));
    assert_eq!(listed.items, [changed]);
}
