//! Goals.

use workforce_app::goals::{self, CreateGoal, UpdateGoal};
use workforce_domain::change::Change;
use workforce_domain::id::CompanyId;
use workforce_domain::page::PageRequest;
use workforce_testkit::world::{Acting, new_goal};

use super::{Answers, Objects, told};

pub(super) fn about(who: Acting<'_>, at: &Objects) -> Answers {
    let change_goal = UpdateGoal::default;
    vec![
        (
            "goals::get",
            told(who.read(|r, ctx| goals::get(r, ctx, at.goal))),
        ),
        (
            "goals::update",
            told(who.write(|tx, ctx| goals::update(tx, ctx, at.goal, change_goal()))),
        ),
    ]
}

pub(super) fn of(who: Acting<'_>, company: CompanyId) -> Answers {
    vec![
        (
            "goals::create",
            told(who.write(|tx, ctx| goals::create(tx, ctx, company, new_goal("Harm")))),
        ),
        (
            "goals::list",
            told(who.read(|r, ctx| goals::list(r, ctx, company, &PageRequest::first()))),
        ),
    ]
}

pub(super) fn references(
    who: Acting<'_>,
    own: &Objects,
    company: CompanyId,
    named: &Objects,
) -> Answers {
    let goal = |command: CreateGoal| {
        told(who.write(|tx, ctx| goals::create(tx, ctx, company, command.clone())))
    };
    let moved = |change: UpdateGoal| {
        told(who.write(|tx, ctx| goals::update(tx, ctx, own.goal, change.clone())))
    };
    vec![
        (
            "goal parent",
            goal(CreateGoal {
                parent_id: Some(named.goal),
                ..new_goal("Sub")
            }),
        ),
        (
            "goal owner",
            goal(CreateGoal {
                owner_agent_id: Some(named.agent),
                ..new_goal("Sub")
            }),
        ),
        (
            "goal new parent",
            moved(UpdateGoal {
                parent_id: Change::Set(named.goal),
                ..UpdateGoal::default()
            }),
        ),
        (
            "goal new owner",
            moved(UpdateGoal {
                owner_agent_id: Change::Set(named.agent),
                ..UpdateGoal::default()
            }),
        ),
    ]
}
