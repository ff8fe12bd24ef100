mod authentication;
mod board_tokens;

use serde_json::json;
use workforce_app::access::Denied;
use workforce_app::activity_log::document;
use workforce_app::agents::{AgentError, UpdateAgent};
use workforce_app::companies::{self, CompanyError, UpdateCompany};
use workforce_app::projects::{self, ProjectError, UpdateProject};
use workforce_app::{Code, Refusal};
use workforce_domain::agent::AdapterType;
use workforce_domain::change::{Change, Replace};
use workforce_domain::id::AgentId;
use workforce_domain::money::Budget;
use workforce_testkit::world::{World, done, label, name, new_company, new_project, refused};

use crate::support::{
    archive, budget, change_agent, change_company, pause, resume, role, terminate,
};

/// A change of each field that belongs to the board.
fn changes_for_the_board(manager: AgentId) -> Vec<(&'static str, UpdateAgent)> {
    let config = || Some(document(json!({ "command": "sh" })));
    let none = UpdateAgent::default;
    vec![
        (
            "name",
            UpdateAgent {
                name: Some(name("Somebody else")),
                ..none()
            },
        ),
        (
            "role",
            UpdateAgent {
                role: Some(role("ceo")),
                ..none()
            },
        ),
        (
            "reportsTo: null",
            UpdateAgent {
                reports_to: Change::Clear,
                ..none()
            },
        ),
        (
            "reportsTo",
            UpdateAgent {
                reports_to: Change::Set(manager),
                ..none()
            },
        ),
        (
            "adapterType",
            UpdateAgent {
                adapter_type: Some(AdapterType::Http),
                ..none()
            },
        ),
        (
            "adapterConfig",
            UpdateAgent {
                adapter_config: config(),
                ..none()
            },
        ),
        (
            "runtimeConfig",
            UpdateAgent {
                runtime_config: config(),
                ..none()
            },
        ),
        (
            "budgetMonthlyCents",
            UpdateAgent {
                budget: Some(budget(1_000_000)),
                ..none()
            },
        ),
        (
            "budgetMonthlyCents: 0",
            UpdateAgent {
                budget: Some(Budget::UNLIMITED),
                ..none()
            },
        ),
        (
            "canCreateAgents",
            UpdateAgent {
                can_create_agents: Some(true),
                ..none()
            },
        ),
    ]
}

fn titled(title: &str) -> UpdateAgent {
    UpdateAgent {
        title: Change::Set(label(title)),
        ..UpdateAgent::default()
    }
}

#[test]
fn an_agent_cannot_change_its_own_budget_role_manager_or_configuration() {
    let world = World::sqlite();
    let company = world.company("Acme");
    let chief = world.hired(company.id, "Chief");
    let agent = world.hired_below(&chief, "Worker");
    for (field, change) in changes_for_the_board(chief.id) {
        let told = refused(change_agent(world.agent(agent.id), agent.id, &change));
        assert_eq!(told, AgentError::Denied(Denied::BoardRequired), "{field}");
    }
    assert_eq!(world.stored_agent(agent.id), agent);
}

#[test]
fn an_agent_cannot_change_them_of_a_peer_a_report_or_its_manager() {
    let world = World::sqlite();
    let company = world.company("Acme");
    let chief = world.hired(company.id, "Chief");
    let middle = world.hired_below(&chief, "Middle");
    let peer = world.hired_below(&chief, "Peer");
    let below = world.hired_below(&middle, "Below");
    for other in [&chief, &peer, &below] {
        for (field, change) in changes_for_the_board(chief.id) {
            let told = refused(change_agent(world.agent(middle.id), other.id, &change));
            assert_eq!(told, AgentError::Denied(Denied::BoardRequired), "{field}");
        }
        assert_eq!(world.stored_agent(other.id), *other);
    }
}

#[test]
fn one_forbidden_field_keeps_the_allowed_ones_from_being_written() {
    let world = World::sqlite();
    let company = world.company("Acme");
    let agent = world.hired(company.id, "Worker");
    let change = UpdateAgent {
        budget: Some(budget(5)),
        ..titled("Chief of everything")
    };
    refused(change_agent(world.agent(agent.id), agent.id, &change));
    assert_eq!(world.stored_agent(agent.id), agent);
}

#[test]
fn nobody_sets_status_spend_or_company() {
    let world = World::sqlite();
    let company = world.company("Acme");
    let chief = world.hired(company.id, "Chief");
    let agent = world.hired_below(&chief, "Worker");
    for field in ["status", "spentMonthlyCents", "companyId"] {
        let change = UpdateAgent {
            not_writable: Some(field),
            ..titled("Other")
        };
        for who in [world.board(), world.agent(agent.id), world.agent(chief.id)] {
            let told = refused(change_agent(who, agent.id, &change));
            assert_eq!(told, AgentError::FieldNotWritable { field });
            assert_eq!(told.code(), Code::FieldNotWritable);
            let details = told.details().unwrap();
            assert_eq!(details[0]["pointer"], json!(format!("/{field}")));
        }
    }
    assert_eq!(world.stored_agent(agent.id), agent);
}

#[test]
fn an_agent_describes_itself_and_those_below_it_and_nobody_else() {
    let world = World::sqlite();
    let company = world.company("Acme");
    let chief = world.hired(company.id, "Chief");
    let middle = world.hired_below(&chief, "Middle");
    let peer = world.hired_below(&chief, "Peer");
    let below = world.hired_below(&middle, "Below");
    for (who, whom) in [(&middle, &middle), (&middle, &below), (&chief, &below)] {
        let title = format!("As {} says", who.name);
        let changed = done(change_agent(world.agent(who.id), whom.id, &titled(&title)));
        assert_eq!(changed.view.agent.title, Some(label(&title)));
    }
    for (who, whom) in [(&middle, &peer), (&below, &middle), (&middle, &chief)] {
        let told = refused(change_agent(
            world.agent(who.id),
            whom.id,
            &titled("Nobody"),
        ));
        assert_eq!(told.code(), Code::Forbidden);
        assert_ne!(world.stored_agent(whom.id).title, Some(label("Nobody")));
    }
}

#[test]
fn an_agent_cannot_switch_anybody_on_or_off() {
    let world = World::sqlite();
    let company = world.company("Acme");
    let chief = world.hired(company.id, "Chief");
    let agent = world.hired_below(&chief, "Worker");
    let board_required = AgentError::Denied(Denied::BoardRequired);
    for who in [world.agent(agent.id), world.agent(chief.id)] {
        assert_eq!(refused(pause(who, agent.id)), board_required);
        assert_eq!(refused(resume(who, agent.id)), board_required);
        assert_eq!(refused(terminate(who, agent.id)), board_required);
    }
    assert_eq!(world.stored_agent(agent.id), agent);
}

#[test]
fn an_agent_cannot_make_change_or_archive_a_company() {
    let world = World::sqlite();
    let company = world.company("Acme");
    let agent = world.hired(company.id, "Worker");
    let who = world.agent(agent.id);
    let board_required = CompanyError::Denied(Denied::BoardRequired);
    let made = who.write(|tx, ctx| companies::create(tx, ctx, new_company("Mine")));
    assert_eq!(refused(made), board_required);
    let change = UpdateCompany {
        budget_monthly_cents: Replace::Set(Budget::UNLIMITED),
        ..UpdateCompany::default()
    };
    assert_eq!(
        refused(change_company(who, company.id, &change)),
        board_required
    );
    assert_eq!(refused(archive(who, company.id)), board_required);
}

#[test]
fn an_agent_cannot_lift_the_demand_for_reviews() {
    let world = World::sqlite();
    let company = world.company("Acme");
    let agent = world.hired(company.id, "Worker");
    let project = world.project_with(company.id, &new_project("Site"));
    let change = UpdateProject {
        review_required: Replace::Set(false),
        ..UpdateProject::default()
    };
    let told = refused(
        world
            .agent(agent.id)
            .write(|tx, ctx| projects::update(tx, ctx, project.project.id, change.clone())),
    );
    assert_eq!(told, ProjectError::Denied(Denied::BoardRequired));
}
