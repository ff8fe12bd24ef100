//! What belongs to another company does not exist (amendment A12).

use std::fmt::Debug;

use serde_json::Value;
use workforce_app::agents::{self, AgentRef, CreateAgent, ListAgents, UpdateAgent};
use workforce_app::companies::UpdateCompany;
use workforce_app::conventions::{self, ReplaceConventions, UpdateConventions};
use workforce_app::costs::{self, ReportCost, WindowQuery};
use workforce_app::goals::{self, CreateGoal, UpdateGoal};
use workforce_app::projects::{self, CreateProject, ProjectRef, UpdateProject, UpdateWorkspace};
use workforce_app::runs::{self, WakeUp};
use workforce_app::{Code, Failure, Refusal, activity, companies, dashboard};
use workforce_domain::Document;
use workforce_domain::change::Change;
use workforce_domain::company::CompanyStatus;
use workforce_domain::id::{
    AgentId, AgentKeyId, CompanyId, GoalId, IssueId, ProjectId, RunId, WorkspaceId,
};
use workforce_domain::page::PageRequest;
use workforce_domain::port::{ActivityFilter, RunFilter};
use workforce_domain::wake::WakeSource;
use workforce_testkit::world::{
    Acting, World, done, key_name, new_agent, new_goal, new_project, new_workspace, refused,
    report_of,
};

use crate::support::{
    archive, cancel, change_agent, change_company, invoke, pause, report, resume, running,
    terminate,
};

/// Everything a caller is told.
type Told = (Code, String, Option<Value>);

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
                .write(|tx, call| agents::create_key(tx, call, agent.id, key_name())),
        );
        let seeded = CreateProject {
            workspace: Some(new_workspace("/srv/site")),
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
fn answers_about(who: Acting<'_>, at: &Objects) -> Vec<(&'static str, Told)> {
    let change_goal = UpdateGoal::default;
    let change_project = UpdateProject::default;
    let change_workspace = UpdateWorkspace::default;
    let page = PageRequest::first;
    vec![
        (
            "agents::get",
            told(who.read(|r, call| agents::get(r, call, &AgentRef::Id(at.agent)))),
        ),
        (
            "agents::update",
            told(change_agent(who, at.agent, &UpdateAgent::default())),
        ),
        ("agents::pause", told(pause(who, at.agent))),
        ("agents::resume", told(resume(who, at.agent))),
        ("agents::terminate", told(terminate(who, at.agent))),
        (
            "agents::create_key",
            told(who.write(|tx, call| agents::create_key(tx, call, at.agent, key_name()))),
        ),
        (
            "agents::keys",
            told(who.read(|r, call| agents::keys(r, call, at.agent, &page()))),
        ),
        (
            "agents::revoke_key",
            told(who.write(|tx, call| agents::revoke_key(tx, call, at.agent, at.key))),
        ),
        (
            "goals::get",
            told(who.read(|r, call| goals::get(r, call, at.goal))),
        ),
        (
            "goals::update",
            told(who.write(|tx, call| goals::update(tx, call, at.goal, change_goal()))),
        ),
        (
            "projects::get",
            told(who.read(|r, call| projects::get(r, call, &ProjectRef::Id(at.project)))),
        ),
        (
            "projects::workspaces",
            told(who.read(|r, call| projects::workspaces(r, call, at.project))),
        ),
        (
            "projects::update",
            told(who.write(|tx, call| projects::update(tx, call, at.project, change_project()))),
        ),
        (
            "projects::create_workspace",
            told(who.write(|tx, call| {
                projects::create_workspace(tx, call, at.project, new_workspace("/srv/other"))
            })),
        ),
        (
            "projects::update_workspace",
            told(who.write(|tx, call| {
                let change = change_workspace();
                projects::update_workspace(tx, call, at.project, at.workspace, change)
            })),
        ),
        (
            "projects::delete_workspace",
            told(
                who.write(|tx, call| {
                    projects::delete_workspace(tx, call, at.project, at.workspace)
                }),
            ),
        ),
        (
            "runs::get",
            told(who.read(|r, call| runs::get(r, call, at.run))),
        ),
        (
            "runs::cancel",
            told(who.write(|tx, call| runs::cancel(tx, call, at.run))),
        ),
        ("runs::invoke", told(invoke(who, at.agent))),
        (
            "runs::wake_up",
            told(who.write(|tx, call| {
                let command = WakeUp {
                    source: WakeSource::OnDemand,
                    trigger_detail: None,
                    reason: None,
                    payload: Document::new(),
                };
                runs::wake_up(tx, call, at.agent, command)
            })),
        ),
        (
            "runs::events",
            told(who.read(|r, call| runs::events(r, call, at.run, &PageRequest::first()))),
        ),
        (
            "agents::runtime_state",
            told(who.read(|r, call| agents::runtime_state(r, call, at.agent))),
        ),
        (
            "agents::exists",
            told(who.read(|r, call| agents::exists(r, call, at.agent))),
        ),
        (
            "conventions::get",
            told(who.read(|r, call| conventions::get(r, call, at.project))),
        ),
        (
            "conventions::replace",
            told(who.write(|tx, call| {
                conventions::replace(tx, call, at.project, ReplaceConventions::default())
            })),
        ),
        (
            "conventions::update",
            told(who.write(|tx, call| {
                conventions::update(tx, call, at.project, UpdateConventions::default())
            })),
        ),
        (
            "conventions::compact",
            told(who.write(|tx, call| conventions::compact(tx, call, at.project, 400))),
        ),
        (
            "runs::of_issue",
            told(who.read(|r, call| {
                runs::of_issue(r, call, &at.issue.into(), &[], &PageRequest::first())
            })),
        ),
        (
            "activity::of_issue",
            told(who.read(|r, call| {
                activity::of_issue(r, call, &at.issue.into(), &PageRequest::first())
            })),
        ),
    ]
}

/// What a caller is told by every call that names a company.
fn answers_of(world: &World, who: Acting<'_>, company: CompanyId) -> Vec<(&'static str, Told)> {
    let window = WindowQuery::default();
    let everyone = ListAgents {
        statuses: Vec::new(),
        include_terminated: true,
    };
    let cost = report_of(world.id(), "1");
    vec![
        (
            "companies::get",
            told(who.read(|r, call| companies::get(r, call, company))),
        ),
        (
            "companies::update",
            told(change_company(who, company, &UpdateCompany::default())),
        ),
        ("companies::archive", told(archive(who, company))),
        (
            "agents::create",
            told(who.write(|tx, call| agents::create(tx, call, company, new_agent("Mole")))),
        ),
        (
            "agents::list",
            told(
                who.read(|r, call| {
                    agents::list(r, call, company, &everyone, &PageRequest::first())
                }),
            ),
        ),
        (
            "agents::org",
            told(who.read(|r, call| agents::org(r, call, company))),
        ),
        (
            "goals::create",
            told(who.write(|tx, call| goals::create(tx, call, company, new_goal("Harm")))),
        ),
        (
            "goals::list",
            told(who.read(|r, call| goals::list(r, call, company, &PageRequest::first()))),
        ),
        (
            "projects::create",
            told(who.write(|tx, call| projects::create(tx, call, company, new_project("Harm")))),
        ),
        (
            "projects::list",
            told(who.read(|r, call| projects::list(r, call, company, &PageRequest::first()))),
        ),
        (
            "dashboard::get",
            told(who.read(|r, call| dashboard::get(r, call, company))),
        ),
        (
            "dashboard::badges",
            told(who.read(|r, call| dashboard::badges(r, call, company))),
        ),
        ("costs::report", told(report(who, company, &cost))),
        (
            "costs::summary",
            told(who.read(|r, call| costs::summary(r, call, company, window))),
        ),
        (
            "costs::by_agent",
            told(who.read(|r, call| costs::by_agent(r, call, company, window))),
        ),
        (
            "costs::by_project",
            told(who.read(|r, call| costs::by_project(r, call, company, window))),
        ),
        (
            "costs::list",
            told(who.read(|r, call| costs::list(r, call, company, &PageRequest::first()))),
        ),
        (
            "runs::list",
            told(who.read(|r, call| {
                runs::list(
                    r,
                    call,
                    company,
                    &RunFilter::default(),
                    &PageRequest::first(),
                )
            })),
        ),
        (
            "activity::list",
            told(who.read(|r, call| {
                let filter = ActivityFilter::default();
                activity::list(r, call, company, &filter, &PageRequest::first())
            })),
        ),
    ]
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
    for (call, (code, ..)) in foreign {
        assert_eq!(code, Code::NotFound, "{call}");
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
    for (call, (code, ..)) in foreign {
        assert_eq!(code, Code::CompanyForbidden, "{call}");
    }
}

#[test]
fn the_board_is_told_that_a_company_does_not_exist() {
    let world = World::sqlite();
    for (call, (code, ..)) in answers_of(&world, world.board(), world.id()) {
        assert_eq!(code, Code::NotFound, "{call}");
    }
}

#[test]
fn a_workspace_is_found_through_its_own_project_only() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let own = world.project_with(company, &new_project("Own")).project.id;
    let sibling = Objects::of(&world, company);
    let theirs = Objects::of(&world, world.company("Other").id);
    let ask = |workspace: WorkspaceId| {
        told(
            world
                .board()
                .write(|tx, call| projects::delete_workspace(tx, call, own, workspace)),
        )
    };
    let missing = ask(world.id());
    assert_eq!(missing.0, Code::NotFound);
    assert_eq!(ask(sibling.workspace), missing);
    assert_eq!(ask(theirs.workspace), missing);
}

#[test]
fn a_key_is_revoked_through_its_own_agent_only() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Worker");
    let sibling = Objects::of(&world, company);
    let ask = |key: AgentKeyId| {
        told(
            world
                .board()
                .write(|tx, call| agents::revoke_key(tx, call, agent.id, key)),
        )
    };
    assert_eq!(ask(sibling.key), ask(world.id()));
}

/// What a caller of a company is told when its fields name these objects.
fn answers_to_references(
    who: Acting<'_>,
    own: &Objects,
    company: CompanyId,
    named: &Objects,
) -> Vec<(&'static str, Told)> {
    let goal = |command: CreateGoal| {
        told(who.write(|tx, call| goals::create(tx, call, company, command.clone())))
    };
    let moved = |change: UpdateGoal| {
        told(who.write(|tx, call| goals::update(tx, call, own.goal, change.clone())))
    };
    let project = |command: CreateProject| {
        told(who.write(|tx, call| projects::create(tx, call, company, command.clone())))
    };
    let changed = |change: UpdateProject| {
        told(who.write(|tx, call| projects::update(tx, call, own.project, change.clone())))
    };
    let cost = |command: ReportCost| told(report(who, company, &command));
    let plain = || report_of(own.agent, "1");
    vec![
        (
            "goal parent",
            goal(CreateGoal {
                parent: Some(named.goal),
                ..new_goal("Sub")
            }),
        ),
        (
            "goal owner",
            goal(CreateGoal {
                owner_agent: Some(named.agent),
                ..new_goal("Sub")
            }),
        ),
        (
            "goal new parent",
            moved(UpdateGoal {
                parent: Change::Set(named.goal),
                ..UpdateGoal::default()
            }),
        ),
        (
            "goal new owner",
            moved(UpdateGoal {
                owner_agent: Change::Set(named.agent),
                ..UpdateGoal::default()
            }),
        ),
        (
            "project goals",
            project(CreateProject {
                goals: vec![own.goal, named.goal],
                ..new_project("P")
            }),
        ),
        (
            "project lead",
            project(CreateProject {
                lead_agent: Some(named.agent),
                ..new_project("P")
            }),
        ),
        (
            "project new goals",
            changed(UpdateProject {
                goals: Change::Set(vec![named.goal]),
                ..UpdateProject::default()
            }),
        ),
        (
            "project new lead",
            changed(UpdateProject {
                lead_agent: Change::Set(named.agent),
                ..UpdateProject::default()
            }),
        ),
        (
            "cost run",
            cost(ReportCost {
                run: Some(named.run),
                ..plain()
            }),
        ),
        (
            "cost issue",
            cost(ReportCost {
                issue: Some(named.issue),
                ..plain()
            }),
        ),
        (
            "cost project",
            cost(ReportCost {
                project: Some(named.project),
                ..plain()
            }),
        ),
        (
            "cost goal",
            cost(ReportCost {
                goal: Some(named.goal),
                ..plain()
            }),
        ),
    ]
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

#[test]
fn a_foreign_agent_named_by_the_board_is_answered_like_a_missing_one() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Worker");
    let theirs = world.hired(world.company("Other").id, "Worker").id;
    let board = world.board();
    let ask = |named: AgentId| {
        let hire = CreateAgent {
            reports_to: Some(named),
            ..new_agent("New")
        };
        let change = UpdateAgent {
            reports_to: Change::Set(named),
            ..UpdateAgent::default()
        };
        [
            told(board.write(|tx, call| agents::create(tx, call, company, hire.clone()))),
            told(change_agent(board, agent.id, &change)),
            told(report(board, company, &report_of(named, "1"))),
        ]
    };
    let foreign = ask(theirs);
    assert_eq!(foreign, ask(world.id()));
    for (code, ..) in foreign {
        assert_eq!(code, Code::ReferenceNotFound);
    }
}

#[test]
fn an_agent_that_reports_for_another_learns_nothing_of_whom_it_named() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Worker");
    let peer = world.hired(company, "Peer");
    let theirs = world.hired(world.company("Other").id, "Worker");
    let ask = |named: AgentId| {
        told(report(
            world.agent(agent.id),
            company,
            &report_of(named, "1"),
        ))
    };
    let missing = ask(world.id());
    assert_eq!(missing.0, Code::Forbidden);
    assert_eq!(ask(peer.id), missing);
    assert_eq!(ask(theirs.id), missing);
}

#[test]
fn a_short_name_is_looked_up_in_the_callers_company() {
    let world = World::sqlite();
    let ours = world.company("Acme").id;
    let other = world.company("Other").id;
    let agent = world.hired(ours, "Worker");
    let theirs = world.hired(other, "Worker");
    let secret = world.hired(other, "Secret");
    let named = |who: Acting<'_>, key: &str, company: Option<CompanyId>| {
        let reference = AgentRef::UrlKey {
            key: key.into(),
            company,
        };
        who.read(|reads, call| agents::get(reads, call, &reference))
            .map(|detail| detail.view.agent.id)
    };
    let own = world.agent(agent.id);
    assert_eq!(done(named(own, "worker", None)), agent.id);
    assert_eq!(done(named(own, "worker", Some(ours))), agent.id);
    assert_eq!(done(named(world.board(), "worker", Some(other))), theirs.id);
    let missing = told(named(own, "nobody", None));
    assert_eq!(missing.0, Code::NotFound);
    assert_eq!(told(named(own, &secret.url_key, None)), missing);
    assert_eq!(told(named(own, &secret.url_key, Some(other))), missing);
    assert_eq!(told(named(world.board(), "worker", None)), missing);
}

#[test]
fn a_list_filtered_by_a_foreign_agent_is_empty() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Worker");
    let theirs = Objects::of(&world, world.company("Other").id);
    let filter = RunFilter {
        agent: Some(theirs.agent),
        ..RunFilter::default()
    };
    let found = done(
        world
            .agent(agent.id)
            .read(|reads, call| runs::list(reads, call, company, &filter, &PageRequest::first())),
    );
    assert!(found.items.is_empty());
}

#[test]
fn an_agent_sees_its_own_company_alone() {
    let world = World::sqlite();
    let company = world.company("Acme");
    world.company("Other");
    let agent = world.hired(company.id, "Worker");
    let every = [
        CompanyStatus::Active,
        CompanyStatus::Paused,
        CompanyStatus::Archived,
    ];
    let seen = done(
        world
            .agent(agent.id)
            .read(|reads, call| companies::list(reads, call, &every, &PageRequest::first())),
    );
    let seen: Vec<_> = seen.items.into_iter().map(|view| view.company.id).collect();
    assert_eq!(seen, [company.id]);
}

#[test]
fn another_companys_run_is_not_stopped() {
    let world = World::sqlite();
    let spy = world.hired(world.company("Spies").id, "Spy");
    let agent = world.hired(world.company("Acme").id, "Worker");
    let run = running(&world, &agent).run;
    refused(cancel(world.agent(spy.id), &run));
    assert_eq!(world.stored_run(run.id), run);
}
