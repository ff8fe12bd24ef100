//! What belongs to another company does not exist (docs/access.md#companies).

mod agents;
mod companies;
mod costs;
mod goals;
mod projects;
mod runs;

use std::fmt::Debug;

use serde_json::Value;
use workforce_app::projects::CreateProject;
use workforce_app::{Code, Failure, Refusal};
use workforce_domain::ObjectOnly;
use workforce_domain::id::{
    AgentId, AgentKeyId, CompanyId, GoalId, IssueId, ProjectId, RunId, WorkspaceId,
};
use workforce_testkit::world::{
    Acting, World, done, key_name, new_project, new_workspace, refused,
};

use crate::support::running;

/// Everything a caller is told.
type Told = (Code, String, Option<Value>);

/// What is told, by the call or the field that it is about.
type Answers = Vec<(&'static str, Told)>;

#[track_caller]
fn told<T: Debug, E: Refusal + Debug>(outcome: Result<T, Failure<E>>) -> Told {
    let refusal = refused(outcome);
    (refusal.code(), refusal.to_string(), refusal.details())
}

/// One object of each kind.
struct Objects {
    agent: AgentId,
    key: AgentKeyId,
    goal: GoalId,
    project: ProjectId,
    workspace: WorkspaceId,
    issue: IssueId,
    run: RunId,
}

impl Objects {
    fn of(world: &World, company: CompanyId) -> Self {
        let agent = world.hired(company, "Worker");
        let key = done(
            world
                .board()
                .write(|tx, ctx| workforce_app::agents::create_key(tx, ctx, agent.id, key_name())),
        );
        let seeded = CreateProject {
            workspace: Some(ObjectOnly(new_workspace("/srv/site"))),
            ..new_project("Site")
        };
        let project = world.project_with(company, &seeded);
        Self {
            agent: agent.id,
            key: key.key.id,
            goal: world.goal(company, "Grow").id,
            project: project.project.id,
            workspace: project.workspaces[0].id,
            issue: world.todo(company, "Work").id,
            run: running(world, &agent).run.id,
        }
    }

    fn missing(world: &World) -> Self {
        Self {
            agent: world.id(),
            key: world.id(),
            goal: world.id(),
            project: world.id(),
            workspace: world.id(),
            issue: world.id(),
            run: world.id(),
        }
    }
}

/// What a caller is told about each object, by every call that names one.
fn answers_about(who: Acting<'_>, at: &Objects) -> Answers {
    [
        agents::about(who, at),
        goals::about(who, at),
        projects::about(who, at),
        runs::about(who, at),
    ]
    .concat()
}

/// What a caller is told by every call that names a company.
fn answers_of(world: &World, who: Acting<'_>, company: CompanyId) -> Answers {
    [
        companies::of(who, company),
        agents::of(who, company),
        goals::of(who, company),
        projects::of(who, company),
        costs::of(who, company, world.id()),
        runs::of(who, company),
    ]
    .concat()
}

/// What a caller of a company is told when its fields name these objects.
fn answers_to_references(
    who: Acting<'_>,
    own: &Objects,
    company: CompanyId,
    named: &Objects,
) -> Answers {
    [
        goals::references(who, own, company, named),
        projects::references(who, own, company, named),
        costs::references(who, own, company, named),
    ]
    .concat()
}

#[test]
fn every_object_of_another_company_is_answered_like_a_missing_one() {
    let world = World::sqlite();
    let spy = world.hired(world.company("Spies").id, "Spy");
    let theirs = Objects::of(&world, world.company("Acme").id);
    let foreign = answers_about(world.agent(spy.id), &theirs);
    assert_eq!(
        foreign,
        answers_about(world.agent(spy.id), &Objects::missing(&world))
    );
    for (ctx, (code, ..)) in foreign {
        assert_eq!(code, Code::NotFound, "{ctx}");
    }
}

#[test]
fn a_run_token_reaches_no_further_than_a_key() {
    let world = World::sqlite();
    let spy = world.hired(world.company("Spies").id, "Spy");
    let run = running(&world, &spy).run;
    let theirs = Objects::of(&world, world.company("Acme").id);
    let with_token = answers_about(world.run_of(run.id), &theirs);
    assert_eq!(with_token, answers_about(world.agent(spy.id), &theirs));
}

#[test]
fn the_path_of_another_company_is_forbidden_whether_it_exists_or_not() {
    let world = World::sqlite();
    let spy = world.hired(world.company("Spies").id, "Spy");
    let other = world.company("Acme").id;
    let foreign = answers_of(&world, world.agent(spy.id), other);
    assert_eq!(foreign, answers_of(&world, world.agent(spy.id), world.id()));
    for (ctx, (code, ..)) in foreign {
        assert_eq!(code, Code::CompanyForbidden, "{ctx}");
    }
}

#[test]
fn the_board_is_told_that_a_company_does_not_exist() {
    let world = World::sqlite();
    for (ctx, (code, ..)) in answers_of(&world, world.board(), world.id()) {
        assert_eq!(code, Code::NotFound, "{ctx}");
    }
}

#[test]
fn a_foreign_reference_is_answered_like_a_missing_one() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let own = Objects::of(&world, company);
    let theirs = Objects::of(&world, world.company("Other").id);
    let none = Objects::missing(&world);
    for who in [world.board(), world.agent(own.agent)] {
        let foreign = answers_to_references(who, &own, company, &theirs);
        let missing = answers_to_references(who, &own, company, &none);
        assert_eq!(foreign, missing);
        for (field, (code, ..)) in foreign {
            assert_eq!(code, Code::ReferenceNotFound, "{field}");
        }
    }
}
