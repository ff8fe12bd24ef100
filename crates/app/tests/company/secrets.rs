//! Secrets: made, changed, and whose they are (docs/secrets.md).

mod master_key;
mod references;
mod resolution;

use serde_json::{Value, json};
use workforce_app::activity_log::document;
use workforce_app::agents::{self, AgentError, UpdateAgent};
use workforce_app::secrets::{
    self, CreateSecret, Found, SecretError, Source, Unresolved, UpdateSecret,
};
use workforce_app::{Code, Refusal};
use workforce_domain::activity::Action;
use workforce_domain::agent::Agent;
use workforce_domain::change::{Change, Replace};
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::page::PageRequest;
use workforce_domain::port::Failure;
use workforce_domain::run::Run;
use workforce_domain::secret::{Secret, SecretProvider, SecretValue};
use workforce_domain::text::SecretName;
use workforce_testkit::world::{World, done, refused};

use crate::support::{count, happened};

fn named(name: &str) -> SecretName {
    SecretName::parse(name).unwrap()
}

fn value(text: &str) -> SecretValue {
    SecretValue::parse(text).unwrap()
}

fn new_secret(name: &str, text: &str) -> CreateSecret {
    CreateSecret {
        name: named(name),
        description: None,
        provider: SecretProvider::LocalEncrypted,
        value: Some(value(text)),
        external_ref: None,
        token_for: None,
    }
}

fn make(
    world: &World,
    company: CompanyId,
    command: &CreateSecret,
) -> Result<Secret, Failure<SecretError>> {
    world
        .board()
        .write(|tx, ctx| secrets::create(tx, ctx, company, command.clone()))
}

fn change(
    world: &World,
    secret: &Secret,
    command: &UpdateSecret,
) -> Result<Secret, Failure<SecretError>> {
    world
        .board()
        .write(|tx, ctx| secrets::update(tx, ctx, secret.id, command.clone()))
}

fn rotate(world: &World, secret: &Secret, text: &str) -> Secret {
    let command = UpdateSecret {
        value: Replace::Set(value(text)),
        ..UpdateSecret::default()
    };
    done(change(world, secret, &command))
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is written where it is called"
)]
fn reference(secret: &Secret, version: Value) -> Value {
    json!({ "type": "secret_ref", "secretId": secret.id, "version": version })
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is written where it is called"
)]
fn bind(world: &World, agent: AgentId, env: Value) -> Result<Agent, Failure<AgentError>> {
    let command = UpdateAgent {
        adapter_config: Some(document(json!({ "env": env }))),
        ..UpdateAgent::default()
    };
    let board = world.board();
    let changed = board.write(|tx, ctx| agents::update(tx, ctx, agent, command.clone()));
    changed.map(|detail| detail.view.agent)
}

fn resolve(world: &World, run: &Run, config: &Value) -> Result<Vec<Found>, Failure<Unresolved>> {
    let config = document(config.clone());
    world
        .system()
        .write(|tx, ctx| secrets::resolve(tx, ctx, run, &config))
}

fn kept(found: &[Found]) -> Vec<(&str, &str)> {
    found
        .iter()
        .map(|found| match &found.source {
            Source::Stored(text) => (found.variable.as_str(), text.as_str()),
            Source::Outside(..) => (found.variable.as_str(), "outside"),
        })
        .collect()
}

#[test]
fn a_value_makes_a_version_and_anything_else_does_not() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let made = done(make(&world, company, &new_secret("token", "first value")));
    assert_eq!(made.latest_version, 1);
    let renamed = UpdateSecret {
        name: Replace::Set(named("other")),
        description: Change::Set(workforce_testkit::world::description("what for")),
        ..UpdateSecret::default()
    };
    let renamed = done(change(&world, &made, &renamed));
    assert_eq!((&*renamed.name, renamed.latest_version), ("other", 1));
    assert_eq!(rotate(&world, &made, "second value").latest_version, 2);
    let unchanged = done(change(&world, &made, &UpdateSecret::default()));
    assert_eq!(unchanged.latest_version, 2);
    let page = PageRequest::first();
    let listed = done(
        world
            .board()
            .read(|reads, ctx| secrets::versions(reads, ctx, made.id, &page)),
    );
    let numbers: Vec<i32> = listed.items.iter().map(|info| info.version).collect();
    assert_eq!(numbers, [2, 1]);
    for (action, times) in [
        (Action::SecretCreated, 1),
        (Action::SecretUpdated, 1),
        (Action::SecretRotated, 1),
    ] {
        assert_eq!(count(&world, company, action), times, "{action}");
    }
    let told = format!("{:?}", happened(&world, company));
    assert!(!told.contains("value"), "{told}");
}

#[test]
fn names_are_unique_in_a_company_and_only_there() {
    let world = World::sqlite();
    let (acme, other) = (world.company("Acme").id, world.company("Other").id);
    let token = done(make(&world, acme, &new_secret("token", "value of it")));
    let second = done(make(&world, acme, &new_secret("second", "value of it")));
    done(make(&world, other, &new_secret("token", "value of it")));
    let twice = refused(make(&world, acme, &new_secret(" token ", "x")));
    assert_eq!(twice.code(), Code::DuplicateName);
    let rename = |name| UpdateSecret {
        name: Replace::Set(named(name)),
        ..UpdateSecret::default()
    };
    let renamed = refused(change(&world, &second, &rename("token")));
    assert_eq!(renamed, SecretError::NameTaken);
    done(change(&world, &token, &rename("token")));
}

#[test]
fn a_value_belongs_where_it_is_kept() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let outside = CreateSecret {
        provider: SecretProvider::Env,
        value: None,
        external_ref: Some("TOKEN".into()),
        token_for: None,
        ..new_secret("outside", "x")
    };
    for (faulty, pointer) in [
        (
            CreateSecret {
                value: None,
                ..new_secret("a", "x")
            },
            "/value",
        ),
        (
            CreateSecret {
                external_ref: Some("A".into()),
                token_for: None,
                ..new_secret("a", "x")
            },
            "/externalRef",
        ),
        (
            CreateSecret {
                value: Some(value("x")),
                ..outside.clone()
            },
            "/value",
        ),
        (
            CreateSecret {
                external_ref: None,
                token_for: None,
                ..outside.clone()
            },
            "/externalRef",
        ),
        (
            CreateSecret {
                external_ref: Some("WORKFORCE_MASTER_KEY".into()),
                token_for: None,
                ..outside.clone()
            },
            "/externalRef",
        ),
        (
            CreateSecret {
                provider: SecretProvider::File,
                external_ref: Some("../../etc/passwd".into()),
                token_for: None,
                ..outside.clone()
            },
            "/externalRef",
        ),
    ] {
        let refusal = refused(make(&world, company, &faulty));
        assert_eq!(refusal.code(), Code::InvalidField);
        assert_eq!(refusal.details().unwrap()[0]["pointer"], pointer);
    }
    let outside = done(make(&world, company, &outside));
    assert_eq!(outside.latest_version, 0);
    let with_value = UpdateSecret {
        value: Replace::Set(value("x")),
        ..UpdateSecret::default()
    };
    let refusal = refused(change(&world, &outside, &with_value));
    assert_eq!(refusal.details().unwrap()[0]["pointer"], "/value");
    let moved = UpdateSecret {
        external_ref: Replace::Set("OTHER".into()),
        ..UpdateSecret::default()
    };
    let moved = done(change(&world, &outside, &moved));
    assert_eq!(moved.external_ref.unwrap().as_str(), "OTHER");
}

#[test]
fn agents_have_nothing_to_do_with_secrets() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Ada");
    let secret = done(make(&world, company, &new_secret("token", "value of it")));
    let ada = world.agent(agent.id);
    let command = new_secret("mine", "x");
    let codes = [
        refused(ada.write(|tx, ctx| secrets::create(tx, ctx, company, command.clone()))).code(),
        refused(ada.read(|reads, ctx| secrets::list(reads, ctx, company, &PageRequest::first())))
            .code(),
        refused(ada.read(|reads, ctx| secrets::get(reads, ctx, secret.id))).code(),
        refused(ada.read(|reads, ctx| secrets::usage(reads, ctx, secret.id))).code(),
        refused(ada.write(|tx, ctx| secrets::update(tx, ctx, secret.id, UpdateSecret::default())))
            .code(),
        refused(ada.write(|tx, ctx| secrets::delete(tx, ctx, secret.id, true))).code(),
        refused(ada.write(|tx, ctx| secrets::convert(tx, ctx, agent.id, "A", None))).code(),
    ];
    assert_eq!(codes, [Code::BoardRequired; 7]);
}
