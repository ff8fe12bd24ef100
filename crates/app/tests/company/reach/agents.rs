//! Agents and their keys.

use workforce_app::Code;
use workforce_app::agents::{self, AgentRef, CreateAgent, ListAgents, UpdateAgent};
use workforce_domain::change::Change;
use workforce_domain::id::{AgentId, AgentKeyId, CompanyId};
use workforce_domain::page::PageRequest;
use workforce_testkit::world::{Acting, World, done, key_name, new_agent, report_of};

use super::{Answers, Objects, told};
use crate::support::{change_agent, pause, report, resume, terminate};

pub(super) fn about(who: Acting<'_>, at: &Objects) -> Answers {
    vec![
        (
            "agents::get",
            told(who.read(|r, ctx| agents::get(r, ctx, &AgentRef::Id(at.agent)))),
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
            told(who.write(|tx, ctx| agents::create_key(tx, ctx, at.agent, key_name()))),
        ),
        (
            "agents::keys",
            told(who.read(|r, ctx| agents::keys(r, ctx, at.agent, &PageRequest::first()))),
        ),
        (
            "agents::revoke_key",
            told(who.write(|tx, ctx| agents::revoke_key(tx, ctx, at.agent, at.key))),
        ),
        (
            "agents::runtime_state",
            told(who.read(|r, ctx| agents::runtime_state(r, ctx, at.agent))),
        ),
        (
            "agents::sessions",
            told(who.read(|r, ctx| agents::sessions(r, ctx, at.agent))),
        ),
    ]
}

pub(super) fn of(who: Acting<'_>, company: CompanyId) -> Answers {
    let everyone = ListAgents {
        statuses: Vec::new(),
        include_terminated: true,
    };
    vec![
        (
            "agents::create",
            told(who.write(|tx, ctx| agents::create(tx, ctx, company, new_agent("Mole")))),
        ),
        (
            "agents::list",
            told(
                who.read(|r, ctx| agents::list(r, ctx, company, &everyone, &PageRequest::first())),
            ),
        ),
        (
            "agents::org",
            told(who.read(|r, ctx| agents::org(r, ctx, company))),
        ),
    ]
}

#[test]
fn a_key_is_revoked_through_its_own_agent_only() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Ada");
    let sibling = Objects::of(&world, company);
    let ask = |key: AgentKeyId| {
        told(
            world
                .board()
                .write(|tx, ctx| agents::revoke_key(tx, ctx, agent.id, key)),
        )
    };
    assert_eq!(ask(sibling.key), ask(world.id()));
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
            told(board.write(|tx, ctx| agents::create(tx, ctx, company, hire.clone()))),
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
        who.read(|reads, ctx| agents::get(reads, ctx, &reference))
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
