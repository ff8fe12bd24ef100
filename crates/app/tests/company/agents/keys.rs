//! Long-lived keys of agents (docs/access.md#callers).

use std::time::Duration;

use workforce_app::access::Denied;
use workforce_app::agents::{self, AgentError, CreatedKey};
use workforce_app::{Code, Failure, Refusal};
use workforce_domain::activity::Action;
use workforce_domain::agent::{Agent, AgentKey};
use workforce_domain::id::{AgentId, AgentKeyId};
use workforce_domain::page::PageRequest;
use workforce_testkit::world::{Acting, World, done, key_name, name, refused};

use crate::support::{count, happened, make_draft, pause, terminate};

fn make(who: Acting<'_>, agent: AgentId) -> Result<CreatedKey, Failure<AgentError>> {
    who.write(|tx, ctx| agents::create_key(tx, ctx, agent, key_name()))
}

fn revoke(
    who: Acting<'_>,
    agent: AgentId,
    key: AgentKeyId,
) -> Result<AgentKey, Failure<AgentError>> {
    who.write(|tx, ctx| agents::revoke_key(tx, ctx, agent, key))
}

fn listed(who: Acting<'_>, agent: AgentId) -> Result<Vec<AgentKey>, Failure<AgentError>> {
    let page = PageRequest::first();
    Ok(who
        .read(|reads, ctx| agents::keys(reads, ctx, agent, &page))?
        .items)
}

fn hired(world: &World) -> Agent {
    world.hired(world.company("Acme").id, "Worker")
}

#[test]
fn the_value_is_shown_once_and_kept_nowhere() {
    let world = World::sqlite();
    let agent = hired(&world);
    let made = done(make(world.board(), agent.id));
    assert!(made.token.starts_with(&format!("{}_", made.key.prefix)));
    assert!(made.key.prefix.starts_with("wfk_"));
    let secret = &made.token[made.key.prefix.len() + 1..];
    assert_eq!(secret.len(), 43);
    let kept = done(listed(world.board(), agent.id));
    assert_eq!(kept, std::slice::from_ref(&made.key));
    assert!(!format!("{kept:?}").contains(secret));
    assert!(!format!("{:?}", happened(&world, agent.company)).contains(secret));
}

#[test]
fn keys_are_listed_oldest_first_and_revoked_ones_stay() {
    let world = World::sqlite();
    let agent = hired(&world);
    let titled = |called: &str| {
        let name = name(called);
        let board = world.board();
        done(board.write(|tx, ctx| agents::create_key(tx, ctx, agent.id, name.clone())))
    };
    let first = titled("laptop");
    world.advance(Duration::from_secs(1));
    let second = titled("server");
    assert_ne!(first.token, second.token);
    done(revoke(world.board(), agent.id, first.key.id));
    let kept = done(listed(world.board(), agent.id));
    assert_eq!(
        kept.iter().map(|key| key.id).collect::<Vec<_>>(),
        [first.key.id, second.key.id]
    );
    assert_eq!(kept[0].revoked_at, Some(world.now()));
    assert_eq!(kept[0].name, name("laptop"));
    assert_eq!(kept[1].revoked_at, None);
}

#[test]
fn revoking_twice_changes_nothing() {
    let world = World::sqlite();
    let agent = hired(&world);
    let key = done(make(world.board(), agent.id)).key.id;
    let first = done(revoke(world.board(), agent.id, key));
    world.advance(Duration::from_secs(60));
    let second = done(revoke(world.board(), agent.id, key));
    assert_eq!(second, first);
    assert!(first.revoked_at.is_some());
    assert_eq!(count(&world, agent.company, Action::AgentKeyRevoked), 1);
}

#[test]
fn keys_are_for_the_board_to_make_and_revoke() {
    let world = World::sqlite();
    let agent = hired(&world);
    let below = world.hired_below(&agent, "Below");
    let key = done(make(world.board(), agent.id)).key.id;
    let board_required = AgentError::Denied(Denied::BoardRequired);
    let who = world.agent(agent.id);
    assert_eq!(refused(make(who, agent.id)), board_required);
    assert_eq!(refused(make(who, below.id)), board_required);
    assert_eq!(refused(revoke(who, agent.id, key)), board_required);
    assert_eq!(done(listed(world.board(), agent.id))[0].revoked_at, None);
}

#[test]
fn an_agent_sees_its_own_keys_only() {
    let world = World::sqlite();
    let agent = hired(&world);
    let below = world.hired_below(&agent, "Below");
    let key = done(make(world.board(), agent.id)).key;
    assert_eq!(done(listed(world.agent(agent.id), agent.id)), [key]);
    for (who, whom) in [(&agent, &below), (&below, &agent)] {
        let told = refused(listed(world.agent(who.id), whom.id));
        assert_eq!(told.code(), Code::Forbidden);
    }
}

#[test]
fn drafts_and_terminated_agents_get_none_and_paused_ones_do() {
    let world = World::sqlite();
    let agent = hired(&world);
    done(pause(world.board(), agent.id));
    assert!(make(world.board(), agent.id).is_ok());
    done(terminate(world.board(), agent.id));
    assert_eq!(
        refused(make(world.board(), agent.id)),
        AgentError::Terminated
    );
    let draft = world.hired(agent.company, "Draft");
    make_draft(&world, draft.id);
    assert_eq!(
        refused(make(world.board(), draft.id)),
        AgentError::PendingApproval
    );
    assert_eq!(done(listed(world.board(), draft.id)), []);
}
