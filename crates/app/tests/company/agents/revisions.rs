//! Revisions of the configuration of agents, and the way back.

mod going_back;

use serde_json::{Value, json};
use workforce_app::activity_log::document;
use workforce_app::agents::{
    self, AgentDetail, AgentError, CreateAgent, RevisionView, RolledBack, UpdateAgent,
};
use workforce_app::masking::REDACTED;
use workforce_app::{Code, Failure, Refusal};
use workforce_domain::activity::Action;
use workforce_domain::agent::Agent;
use workforce_domain::change::Change;
use workforce_domain::company::PauseReason;
use workforce_domain::id::{AgentId, RevisionId};
use workforce_domain::page::PageRequest;
use workforce_domain::port::RevisionCursor;
use workforce_domain::revision::{AgentConfig, RevisionSource};
use workforce_testkit::world::{Acting, World, done, label, name, new_agent, refused};

use crate::support::{
    agent_detail, budget, change_agent, count, limit_agent, look, pause_reason, scope, spend,
    terminate,
};

fn history(who: Acting<'_>, agent: AgentId) -> Result<Vec<RevisionView>, Failure<AgentError>> {
    let page = PageRequest::first();
    who.read(|reads, ctx| agents::revisions(reads, ctx, agent, &page))
        .map(|page| page.items)
}

/// All revisions of an agent, oldest first.
#[track_caller]
fn revisions(world: &World, agent: AgentId) -> Vec<RevisionView> {
    let mut all = done(history(world.board(), agent));
    all.reverse();
    all
}

fn roll_back(
    who: Acting<'_>,
    agent: AgentId,
    to: RevisionId,
    seen: Option<&[i32]>,
) -> Result<RolledBack, Failure<AgentError>> {
    who.write(|tx, ctx| agents::rollback(tx, ctx, agent, to, seen))
}

#[track_caller]
fn patch(world: &World, agent: AgentId, change: &UpdateAgent) -> AgentDetail {
    done(change_agent(world.board(), agent, change))
}

fn adapter(config: Value) -> UpdateAgent {
    UpdateAgent {
        adapter_config: Some(document(config)),
        ..UpdateAgent::default()
    }
}

/// The configuration of an agent as the store has it.
fn config(world: &World, agent: AgentId) -> AgentConfig {
    let found = agent_detail(world.board(), agent).view.agent;
    let company = scope(found.company);
    let pointer = look(world, |reads| reads.instructions().pointer(company, agent));
    AgentConfig::of(&found, pointer.unwrap_or_default())
}

#[test]
fn making_and_changing_an_agent_is_kept() {
    let world = World::sqlite();
    let company = world.company("Acme");
    let agent = world.hired(company.id, "Ada");
    let first = revisions(&world, agent.id);
    assert_eq!(first.len(), 1);
    assert_eq!(first[0].revision.source, RevisionSource::Create);
    assert_eq!((first[0].revision.n, &first[0].before), (1, &None));
    assert_eq!(first[0].after, config(&world, agent.id));

    let change = UpdateAgent {
        title: Change::Set(label("Lead")),
        budget: Some(budget(500)),
        ..UpdateAgent::default()
    };
    assert_eq!(patch(&world, agent.id, &change).revision, 2);
    assert_eq!(
        patch(&world, agent.id, &change).revision,
        2,
        "nothing changed"
    );
    let icon = UpdateAgent {
        icon: Change::Set(label("star")),
        ..UpdateAgent::default()
    };
    assert_eq!(
        patch(&world, agent.id, &icon).revision,
        2,
        "an icon configures nothing"
    );
    let second = revisions(&world, agent.id).remove(1);
    assert_eq!(second.revision.source, RevisionSource::Patch);
    assert_eq!(
        second.revision.changed_keys,
        ["title", "budgetMonthlyCents"]
    );
    assert_eq!(second.before.as_ref(), Some(&first[0].after));
    assert_eq!(second.after, config(&world, agent.id));
}

#[test]
fn a_rollback_gives_back_what_was_hidden_and_leaves_what_is_no_configuration() {
    let world = World::sqlite();
    let company = world.company("Acme");
    let env =
        json!({ "command": "run", "env": { "API_TOKEN": "s3cret", "HOST": "api.example.com" } });
    let hire = CreateAgent {
        adapter_config: document(env.clone()),
        ..new_agent("Ada")
    };
    let agent = world.hired_with(company.id, &hire);
    patch(
        &world,
        agent.id,
        &adapter(json!({ "env": { "API_TOKEN": "other", "HOST": null } })),
    );
    done(
        world
            .board()
            .write(|tx, ctx| agents::pause(tx, ctx, agent.id)),
    );
    let first = revisions(&world, agent.id)[0].revision.clone();
    let plain = b"s3cret";
    let sealed = &first.after.0;
    assert!(!sealed.windows(plain.len()).any(|part| part == plain));

    let back = done(roll_back(world.board(), agent.id, first.id, Some(&[2])));
    assert_eq!(Value::from(back.agent.view.agent.adapter_config), env);
    assert!(back.agent.view.agent.lifecycle.paused().is_some());
    assert_eq!((back.agent.revision, back.revision.revision.n), (3, 3));
    assert_eq!(back.revision.revision.source, RevisionSource::Rollback);
    assert_eq!(back.revision.revision.rolled_back_from, Some(first.id));
    assert_eq!(back.revision.revision.changed_keys, ["adapterConfig"]);
    // To the present, and again: each is kept, and nothing changes.
    let again = done(roll_back(world.board(), agent.id, first.id, None));
    assert!(again.revision.revision.changed_keys.is_empty());
    let present = again.revision.revision.id;
    let third = done(roll_back(world.board(), agent.id, present, None));
    assert_eq!(third.agent.revision, 5);
    assert_eq!(third.revision.after, back.revision.after);
    assert_eq!(count(&world, company.id, Action::AgentConfigRolledBack), 3);
}

#[test]
fn no_mark_of_a_hidden_value_is_ever_kept() {
    let world = World::sqlite();
    let company = world.company("Acme");
    let hire = CreateAgent {
        adapter_config: document(json!({
            "command": "run", "apiKey": REDACTED, "env": { "TOKEN": REDACTED, "A": "1" },
        })),
        ..new_agent("Ada")
    };
    let agent = world.hired_with(company.id, &hire);
    let whole = UpdateAgent {
        replace_adapter_config: true,
        ..adapter(json!({ "command": "go", "apiKey": REDACTED, "env": { "A": REDACTED } }))
    };
    patch(&world, agent.id, &whole);
    for view in revisions(&world, agent.id) {
        let kept = serde_json::to_string(&(&view.before, &view.after)).unwrap();
        assert!(!kept.contains(REDACTED), "{kept}");
    }
    let now = config(&world, agent.id).adapter_config;
    assert_eq!(
        Value::from(now),
        json!({ "command": "go", "env": { "A": "1" } })
    );
    let deep = adapter(json!({ "headers": { "X": REDACTED } }));
    let refusal = refused(change_agent(world.board(), agent.id, &deep));
    assert_eq!(refusal.code(), Code::InvalidField);
}

#[test]
fn what_is_not_possible_any_more_is_told_in_full() {
    let world = World::sqlite();
    let company = world.company("Acme");
    let boss = world.hired(company.id, "Boss");
    let hire = CreateAgent {
        reports_to: Some(boss.id),
        ..new_agent("Ada")
    };
    let agent = world.hired_with(company.id, &hire);
    let first = revisions(&world, agent.id)[0].revision.id;
    done(terminate(world.board(), boss.id));
    // Its manager went, which is a change of its configuration too.
    let moved = revisions(&world, agent.id).remove(1);
    assert_eq!(moved.revision.changed_keys, ["reportsTo"]);
    assert_eq!(
        moved.before.map(|before| before.reports_to),
        Some(Some(boss.id))
    );
    assert_eq!(moved.after.reports_to, None);

    let refusal = refused(roll_back(world.board(), agent.id, first, None));
    assert_eq!(refusal.code(), Code::RollbackInvalid);
    let details = refusal.details().unwrap();
    assert_eq!(details[0]["pointer"], "/reportsTo");
    assert_eq!(agent_detail(world.board(), agent.id).revision, 2);

    // A cycle: who was above is below now.
    let (one, two) = (
        world.hired(company.id, "One"),
        world.hired(company.id, "Two"),
    );
    let below = |manager: Option<&Agent>| UpdateAgent {
        reports_to: manager.map_or(Change::Clear, |manager| Change::Set(manager.id)),
        ..UpdateAgent::default()
    };
    patch(&world, one.id, &below(Some(&two)));
    patch(&world, one.id, &below(None));
    patch(&world, two.id, &below(Some(&one)));
    let cyclic = revisions(&world, one.id)[1].revision.id;
    let refusal = refused(roll_back(world.board(), one.id, cyclic, None));
    assert_eq!(refusal.details().unwrap()[0]["code"], "cycle");
}

#[test]
fn a_budget_of_the_past_is_enforced() {
    let world = World::sqlite();
    let company = world.company("Acme");
    let agent = world.hired(company.id, "Ada");
    let limit = |cents| UpdateAgent {
        budget: Some(budget(cents)),
        ..UpdateAgent::default()
    };
    patch(&world, agent.id, &limit(100));
    let tight = revisions(&world, agent.id)[1].revision.id;
    patch(&world, agent.id, &limit(1000));
    spend(&world, &agent, "200");
    let back = done(roll_back(world.board(), agent.id, tight, None));
    assert!(back.agent.view.agent.lifecycle.paused().is_some());
    assert_eq!(count(&world, company.id, Action::BudgetHardStop), 1);
}

#[test]
fn a_budget_of_the_past_ends_what_was_allowed_beyond_the_present_one() {
    let world = World::sqlite();
    let agent = world.hired(world.company("Acme").id, "Ada");
    limit_agent(&world, agent.id, 150);
    let former = revisions(&world, agent.id)[1].revision.id;
    limit_agent(&world, agent.id, 100);
    spend(&world, &agent, "200");
    let forced = done(
        world
            .board()
            .write(|tx, ctx| agents::resume(tx, ctx, agent.id, true)),
    );
    assert!(forced.view.agent.budget_override.is_some());
    let back = done(roll_back(world.board(), agent.id, former, None));
    let back = back.agent.view.agent;
    assert_eq!(back.budget_override, None);
    assert_eq!(pause_reason(&back), Some(PauseReason::Budget));
}

#[test]
fn who_may_see_and_who_may_go_back() {
    let world = World::sqlite();
    let company = world.company("Acme");
    let boss = world.hired(company.id, "Boss");
    let hire = CreateAgent {
        reports_to: Some(boss.id),
        ..new_agent("Ada")
    };
    let agent = world.hired_with(company.id, &hire);
    let peer = world.hired(company.id, "Peer");
    let stranger = world.hired(world.company("Other").id, "Stranger");
    let first = revisions(&world, agent.id)[0].revision.id;
    for reader in [agent.id, boss.id] {
        assert_eq!(done(history(world.agent(reader), agent.id)).len(), 1);
        let one = world
            .agent(reader)
            .read(|r, ctx| agents::revision(r, ctx, agent.id, first));
        assert_eq!(done(one).revision.id, first);
        let back = roll_back(world.agent(reader), agent.id, first, None);
        assert_eq!(refused(back).code(), Code::BoardRequired);
    }
    assert_eq!(
        refused(history(world.agent(peer.id), agent.id)).code(),
        Code::Forbidden
    );
    assert_eq!(
        refused(history(world.agent(stranger.id), agent.id)).code(),
        Code::NotFound
    );
    // Another agent's revision does not exist.
    let others = roll_back(world.board(), peer.id, first, None);
    assert_eq!(refused(others).code(), Code::NotFound);
    let other = world
        .board()
        .read(|r, ctx| agents::revision(r, ctx, peer.id, first));
    assert_eq!(refused(other).code(), Code::NotFound);
}

#[test]
fn a_change_of_what_was_not_seen_is_refused() {
    let world = World::sqlite();
    let agent = world.hired(world.company("Acme").id, "Ada");
    let change = |called: &str, seen: &[i32]| UpdateAgent {
        name: Some(name(called)),
        if_match: Some(seen.to_vec()),
        ..UpdateAgent::default()
    };
    assert_eq!(patch(&world, agent.id, &change("Bea", &[1])).revision, 2);
    let late = refused(change_agent(world.board(), agent.id, &change("Cyd", &[1])));
    assert_eq!(late, AgentError::RevisionConflict { current: 2 });
    let first = revisions(&world, agent.id)[0].revision.id;
    let late = refused(roll_back(world.board(), agent.id, first, Some(&[1])));
    assert_eq!(late, AgentError::RevisionConflict { current: 2 });
    assert_eq!(patch(&world, agent.id, &change("Cyd", &[7, 2])).revision, 3);
}

#[test]
fn pages_of_a_history_meet_without_a_gap() {
    let world = World::sqlite();
    let agent = world.hired(world.company("Acme").id, "A0");
    for n in 1..7 {
        let change = UpdateAgent {
            name: Some(name(&format!("A{n}"))),
            ..UpdateAgent::default()
        };
        patch(&world, agent.id, &change);
    }
    let mut seen = Vec::new();
    let mut page = PageRequest::<RevisionCursor> {
        limit: 2,
        ..PageRequest::first()
    };
    loop {
        let found = world
            .board()
            .read(|reads, ctx| agents::revisions(reads, ctx, agent.id, &page));
        let found = done(found);
        seen.extend(found.items.iter().map(|view| view.revision.n));
        match found.next {
            Some(next) => page.after = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, [7, 6, 5, 4, 3, 2, 1]);
}
