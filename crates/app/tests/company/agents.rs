//! Hiring, changing and showing agents (docs/access.md#fields-of-an-agent).

mod keys;
mod org;
mod overrides;
mod revisions;
mod switches;

use serde_json::{Value, json};
use workforce_app::access::Denied;
use workforce_app::activity_log::document;
use workforce_app::agents::{self, AgentError, AgentRef, CreateAgent, ListAgents, UpdateAgent};
use workforce_app::masking::REDACTED;
use workforce_app::{Code, Refusal};
use workforce_domain::agent::AgentStatus;
use workforce_domain::change::Change;
use workforce_domain::page::PageRequest;
use workforce_testkit::world::{World, done, name, new_agent, new_company, refused};

use crate::support::{
    agent_detail, below, budget, change_agent, hire, limit_agent, pause, role, running, terminate,
};

#[test]
fn names_may_repeat_where_the_board_says_so_and_short_names_are_numbered() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let again = |called| CreateAgent {
        allow_same_name: true,
        ..new_agent(called)
    };
    let keys = ["Ann Lee", "ann-lee", "ANN  LEE!", "Ann Lee 2"]
        .map(|called| world.hired_with(company, &again(called)).url_key);
    assert_eq!(keys, ["ann-lee", "ann-lee-2", "ann-lee-3", "ann-lee-2-2"]);
    assert_eq!(
        world.hired(world.company("Other").id, "Ann Lee").url_key,
        "ann-lee"
    );
    let named = AgentRef::UrlKey {
        key: "ann-lee-2".into(),
        company: Some(company),
    };
    let found = done(
        world
            .board()
            .read(|reads, ctx| agents::get(reads, ctx, &named)),
    );
    assert_eq!(found.view.agent.name, name("ann-lee"));
}

#[test]
fn adapter_configuration_merges_key_by_key() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let command = CreateAgent {
        adapter_config: document(json!({
            "command": "run", "model": "m", "env": { "A": "1", "B": "2" },
        })),
        ..new_agent("Worker")
    };
    let agent = world.hired_with(company, &command);
    let change = |config: Value, replace: bool| {
        let command = UpdateAgent {
            adapter_config: Some(document(config)),
            replace_adapter_config: replace,
            ..UpdateAgent::default()
        };
        let changed = change_agent(world.board(), agent.id, &command);
        changed.map(|detail| Value::from(detail.view.agent.adapter_config))
    };
    let merged = json!({ "command": "go", "env": { "A": "1", "C": "3" } });
    let part = json!({ "command": "go", "model": null, "env": { "B": null, "C": "3" } });
    assert_eq!(done(change(part, false)), merged);
    let hidden = json!({ "command": REDACTED, "env": { "A": REDACTED } });
    assert_eq!(done(change(hidden, false)), merged);
    let reserved = json!({ "env": { "WORKFORCE_RUN_ID": "x" } });
    assert_eq!(refused(change(reserved, false)).code(), Code::EnvReserved);
    let whole = json!({ "command": "only" });
    assert_eq!(done(change(whole.clone(), true)), whole);
    assert_eq!(
        Value::from(world.stored_agent(agent.id).adapter_config),
        whole
    );
}

#[test]
fn an_agent_hires_where_it_may_and_without_money_rights_or_commands() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let plain = world.hired(company, "Plain").id;
    let recruiter = CreateAgent {
        can_create_agents: Some(true),
        ..new_agent("Recruiter")
    };
    let recruiter = world.hired_with(company, &recruiter).id;
    let chief = CreateAgent {
        role: Some(role("ceo")),
        ..new_agent("Chief")
    };
    let chief = world.hired_with(company, &chief).id;
    let told = refused(hire(world.agent(plain), company, &new_agent("New")));
    assert_eq!(told.code(), Code::Forbidden);
    let new = || new_agent("New");
    let grants = [
        CreateAgent {
            budget: Change::Set(budget(5)),
            ..new()
        },
        CreateAgent {
            budget: Change::Clear,
            ..new()
        },
        CreateAgent {
            can_create_agents: Some(true),
            ..new()
        },
        CreateAgent {
            role: Some(role("ceo")),
            ..new()
        },
        CreateAgent {
            adapter_config: document(json!({ "command": "sh" })),
            ..new()
        },
    ];
    for (who, called) in [(recruiter, "Ann"), (chief, "Bea")] {
        let report = CreateAgent {
            name: name(called),
            ..below(who)
        };
        assert!(hire(world.agent(who), company, &report).is_ok());
        for command in &grants {
            let told = refused(hire(world.agent(who), company, command));
            assert_eq!(told, AgentError::Denied(Denied::BoardRequired));
        }
    }
}

#[test]
fn an_agent_hires_nobody_where_the_company_wants_an_approval() {
    let world = World::sqlite();
    let strict = workforce_app::companies::CreateCompany {
        require_board_approval_for_new_agents: Some(true),
        ..new_company("Strict")
    };
    let company = world.company_with(&strict).id;
    let chief = CreateAgent {
        role: Some(role("ceo")),
        ..new_agent("Chief")
    };
    let chief = world.hired_with(company, &chief).id;
    let told = refused(hire(world.agent(chief), company, &new_agent("New")));
    assert_eq!(told, AgentError::ApprovalRequired);
    assert_eq!(told.code(), Code::ApprovalRequired);
}

#[test]
fn a_list_shows_everybody_unless_asked_for_less() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let [fresh, busy, paused, gone] =
        ["Fresh", "Busy", "Paused", "Gone"].map(|called| world.hired(company, called));
    running(&world, &busy);
    done(pause(world.board(), paused.id));
    done(terminate(world.board(), gone.id));
    let listed = |statuses: &[AgentStatus], include_terminated: bool| {
        let query = ListAgents {
            statuses: statuses.to_vec(),
            include_terminated,
        };
        let page = PageRequest::first();
        let board = world.board();
        let found = board.read(|reads, ctx| agents::list(reads, ctx, company, &query, &page));
        done(found)
            .items
            .into_iter()
            .map(|view| view.agent.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(listed(&[], true), [fresh.id, busy.id, paused.id, gone.id]);
    assert_eq!(listed(&[], false), [fresh.id, busy.id, paused.id]);
    assert_eq!(listed(&[AgentStatus::Running], true), [busy.id]);
    let two = [AgentStatus::Terminated, AgentStatus::Active];
    assert_eq!(listed(&two, true), [fresh.id, gone.id]);
    assert_eq!(listed(&[AgentStatus::Error], true), []);
}

#[test]
fn me_is_the_agent_that_asks_and_the_board_is_none() {
    let world = World::sqlite();
    let chief = world.hired(world.company("Acme").id, "Chief");
    let agent = world.hired_below(&chief, "Worker");
    limit_agent(&world, agent.id, 500);
    let me = done(world.agent(agent.id).read(agents::me));
    assert_eq!(me, agent_detail(world.agent(agent.id), agent.id));
    assert_eq!(me.chain_of_command[0].id, chief.id);
    assert!(me.view.shows_config);
    let told = refused(world.board().read(agents::me));
    assert_eq!(told, AgentError::Denied(Denied::AgentRequired));
    assert_eq!(told.code(), Code::AgentRequired);
}
