//! Managers, chains of command and the tree of an organisation
//! (docs/access.md#rights).

use workforce_app::agents::{self, AgentError, OrgEntry, UpdateAgent};
use workforce_app::{Code, Refusal};
use workforce_domain::agent::{Agent, CHAIN_LIMIT, OrgNode};
use workforce_domain::change::Change;
use workforce_domain::id::{AgentId, CompanyId};
use workforce_testkit::world::{World, done, refused};

use crate::support::{agent_detail, below, change_agent, hire, make_draft, put, terminate};

fn moved_below(manager: AgentId) -> UpdateAgent {
    UpdateAgent {
        reports_to: Change::Set(manager),
        ..UpdateAgent::default()
    }
}

#[track_caller]
fn tree(world: &World, company: CompanyId) -> Vec<OrgNode<OrgEntry>> {
    done(
        world
            .board()
            .read(|reads, ctx| agents::org(reads, ctx, company)),
    )
}

fn depth(nodes: &[OrgNode<OrgEntry>]) -> usize {
    nodes
        .iter()
        .map(|node| 1 + depth(&node.reports))
        .max()
        .unwrap_or(0)
}

fn size(nodes: &[OrgNode<OrgEntry>]) -> usize {
    nodes.iter().map(|node| 1 + size(&node.reports)).sum()
}

/// Agents of which each reports to the one before.
fn chain(world: &World, company: CompanyId, length: usize) -> Vec<Agent> {
    let agents: Vec<Agent> = (0..length)
        .map(|at| world.hired(company, &format!("Link {at}")))
        .collect();
    // Through the store, since a chain grows no longer than its limit otherwise.
    for pair in agents.windows(2) {
        put(world, |tx| {
            let scope = crate::support::scope(company).into();
            let mut held = tx.agents_mut().lock(scope, pair[1].id)?.unwrap();
            held.reports_to = Some(pair[0].id);
            tx.agents_mut().save(&held)
        });
    }
    agents
}

#[test]
fn a_manager_must_exist_here_and_be_employed() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Worker");
    let foreign = world.hired(world.company("Other").id, "Stranger").id;
    let gone = world.hired(company, "Gone").id;
    done(terminate(world.board(), gone));
    let draft = world.hired(company, "Draft").id;
    make_draft(&world, draft);
    let cases = [
        (foreign, Code::ReferenceNotFound),
        (world.id(), Code::ReferenceNotFound),
        (gone, Code::InvalidField),
        (draft, Code::InvalidField),
    ];
    for (manager, code) in cases {
        let created = refused(hire(world.board(), company, &below(manager)));
        let changed = refused(change_agent(world.board(), agent.id, &moved_below(manager)));
        for told in [created, changed] {
            assert_eq!(told.code(), code);
            assert_eq!(told.details().unwrap()[0]["pointer"], "/reportsTo");
        }
    }
    assert_eq!(world.stored_agent(agent.id), agent);
}

#[test]
fn nobody_reports_to_itself_directly_or_not() {
    let world = World::sqlite();
    let chief = world.hired(world.company("Acme").id, "Chief");
    let middle = world.hired_below(&chief, "Middle");
    let low = world.hired_below(&middle, "Low");
    for manager in [&chief, &middle, &low] {
        let told = refused(change_agent(
            world.board(),
            chief.id,
            &moved_below(manager.id),
        ));
        assert_eq!(told, AgentError::Cycle);
    }
    done(change_agent(world.board(), low.id, &moved_below(chief.id)));
    done(change_agent(world.board(), middle.id, &moved_below(low.id)));
    let managers = agent_detail(world.board(), middle.id).chain_of_command;
    assert_eq!(
        managers.iter().map(|link| link.id).collect::<Vec<_>>(),
        [low.id, chief.id]
    );
}

#[test]
fn a_chain_of_command_does_not_grow_past_its_limit() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agents = chain(&world, company, CHAIN_LIMIT + 1);
    let last = agents.last().unwrap().id;
    assert_eq!(
        agent_detail(world.board(), last).chain_of_command.len(),
        CHAIN_LIMIT
    );
    let told = refused(hire(world.board(), company, &below(last)));
    assert_eq!(told.code(), Code::InvalidField);
    let told = refused(change_agent(
        world.board(),
        agents[0].id,
        &moved_below(last),
    ));
    assert_eq!(told.details().unwrap()[0]["pointer"], "/reportsTo");
    done(hire(
        world.board(),
        company,
        &below(agents[CHAIN_LIMIT - 1].id),
    ));
}

#[test]
fn the_tree_shows_orphans_at_the_roots_and_nobody_terminated() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let chief = world.hired(company, "Chief");
    let middle = world.hired_below(&chief, "Middle");
    let low = world.hired_below(&middle, "Low");
    let orphan = world.hired(company, "Orphan");
    let gone = world.hired(company, "Gone");
    done(terminate(world.board(), gone.id));
    world.breaks_on_purpose(&["managers_are_employed"]);
    // A manager who went before reports were moved at a termination.
    put(&world, |tx| {
        let mut held = tx
            .agents_mut()
            .lock(crate::support::scope(company).into(), orphan.id)?
            .unwrap();
        held.reports_to = Some(gone.id);
        tx.agents_mut().save(&held)
    });
    let roots = tree(&world, company);
    assert_eq!(
        roots
            .iter()
            .map(|node| node.item.agent.id)
            .collect::<Vec<_>>(),
        [chief.id, orphan.id]
    );
    assert_eq!(roots[0].reports[0].item.agent.id, middle.id);
    assert_eq!(roots[0].reports[0].reports[0].item.agent.id, low.id);
    assert_eq!(size(&roots), 4);
}

#[test]
fn the_tree_of_a_long_chain_shows_everybody_and_ends() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agents = chain(&world, company, 60);
    let roots = tree(&world, company);
    assert_eq!(size(&roots), agents.len());
    assert_eq!(depth(&roots), CHAIN_LIMIT + 1);
    assert_eq!(roots.len(), 2);
    let managers = agent_detail(world.board(), agents[59].id).chain_of_command;
    let nearest: Vec<AgentId> = agents[9..59].iter().rev().map(|agent| agent.id).collect();
    assert_eq!(
        managers.iter().map(|link| link.id).collect::<Vec<_>>(),
        nearest
    );
}
