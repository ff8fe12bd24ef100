//! Secrets: made, changed, referred to, handed to runs (docs/secrets.md).

mod master_key;

use serde_json::{Value, json};
use workforce_app::activity_log::document;
use workforce_app::agents::{self, AgentError, UpdateAgent};
use workforce_app::issues::{self, IssueError, UpdateIssue};
use workforce_app::secrets::{
    self, CreateSecret, Found, SecretError, Source, Unresolved, UpdateSecret,
};
use workforce_app::{Code, Refusal};
use workforce_domain::activity::Action;
use workforce_domain::agent::Agent;
use workforce_domain::change::{Change, Replace};
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::issue::IssueRef;
use workforce_domain::page::PageRequest;
use workforce_domain::port::Failure;
use workforce_domain::run::Run;
use workforce_domain::secret::{Secret, SecretProvider, SecretValue};
use workforce_domain::text::SecretName;
use workforce_testkit::world::{World, done, no_change, refused};

use crate::support::{count, happened, look, running, scope};

fn named(name: &str) -> SecretName {
    SecretName::new(name).unwrap()
}

fn value(text: &str) -> SecretValue {
    SecretValue::new(text).unwrap()
}

fn new_secret(name: &str, text: &str) -> CreateSecret {
    CreateSecret {
        name: named(name),
        description: None,
        provider: SecretProvider::LocalEncrypted,
        value: Some(value(text)),
        external_ref: None,
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
                ..outside.clone()
            },
            "/externalRef",
        ),
        (
            CreateSecret {
                external_ref: Some("WORKFORCE_MASTER_KEY".into()),
                ..outside.clone()
            },
            "/externalRef",
        ),
        (
            CreateSecret {
                provider: SecretProvider::File,
                external_ref: Some("../../etc/passwd".into()),
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

#[test]
fn only_secrets_of_the_company_can_be_referred_to() {
    let world = World::sqlite();
    let (acme, other) = (world.company("Acme").id, world.company("Other").id);
    let agent = world.hired(acme, "Ada").id;
    let own = done(make(&world, acme, &new_secret("token", "value of it")));
    let foreign = done(make(&world, other, &new_secret("token", "value of it")));
    done(bind(
        &world,
        agent,
        json!({ "A": reference(&own, json!("latest")) }),
    ));
    done(bind(
        &world,
        agent,
        json!({ "B": reference(&own, json!(1)) }),
    ));
    let missing = json!({ "type": "secret_ref", "secretId": world.id::<AgentId>() });
    let faults = [
        json!({ "C": reference(&foreign, json!("latest")) }),
        json!({ "C": missing }),
        json!({ "C": json!({ "type": "secret_ref", "secretId": "x" }) }),
    ]
    .map(|env| refused(bind(&world, agent, env)));
    for fault in &faults {
        assert_eq!(fault.code(), Code::SecretNotFound);
        assert_eq!(fault.details(), faults[0].details());
    }
    let unmade = refused(bind(
        &world,
        agent,
        json!({ "C": reference(&own, json!(2)) }),
    ));
    assert_eq!(unmade.code(), Code::SecretNotFound);

    // The same holds for what an issue overrides.
    let issue = world.todo(acme, "Work");
    let overriding = |env: Value| {
        let command = UpdateIssue {
            assignee_adapter_overrides: Change::Set(document(
                json!({ "adapterConfig": { "env": env } }),
            )),
            ..no_change()
        };
        let board = world.board();
        board.write(|tx, ctx| issues::update(tx, ctx, &IssueRef::Id(issue.id), command.clone()))
    };
    done(overriding(
        json!({ "A": reference(&own, json!(1)), "B": null }),
    ));
    let refusal: IssueError = refused(overriding(
        json!({ "A": reference(&foreign, json!("latest")) }),
    ));
    assert_eq!(refusal.code(), Code::SecretNotFound);
    let pointer = "/assigneeAdapterOverrides/adapterConfig/env/A";
    assert_eq!(refusal.details().unwrap()[0]["pointer"], pointer);
}

#[test]
fn what_is_referred_to_is_not_deleted_by_accident() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Ada").id;
    let secret = done(make(&world, company, &new_secret("token", "first value")));
    rotate(&world, &secret, "second value");
    rotate(&world, &secret, "third value");
    done(bind(
        &world,
        agent,
        json!({ "A": reference(&secret, json!("latest")), "B": reference(&secret, json!(2)) }),
    ));
    let board = world.board();
    let delete = |force| board.write(|tx, ctx| secrets::delete(tx, ctx, secret.id, force));
    let delete_version =
        |version| board.write(|tx, ctx| secrets::delete_version(tx, ctx, secret.id, version));
    let used = SecretError::InUse {
        agents: vec![agent],
    };
    assert_eq!(refused(delete(false)), used);
    let pinned = SecretError::VersionPinned {
        agents: vec![agent],
    };
    assert_eq!(refused(delete_version(2)), pinned);
    assert_eq!(refused(delete_version(3)), SecretError::NewestVersion);
    assert_eq!(refused(delete_version(4)).code(), Code::NotFound);
    done(delete_version(1));
    assert_eq!(refused(delete_version(1)).code(), Code::NotFound);
    done(delete(true));
    assert_eq!(refused(delete(true)).code(), Code::NotFound);
    // Its agent can be changed all the same, and its next run fails.
    let agent = done(bind(&world, agent, json!({ "C": "c" })));
    let run = running(&world, &agent).run;
    let config = Value::from(agent.adapter_config);
    let unresolved = refused(resolve(&world, &run, &config));
    assert_eq!(unresolved.variable, "A");
}

#[test]
fn a_run_is_given_the_newest_version_or_the_pinned_one() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Ada");
    let secret = done(make(&world, company, &new_secret("token", "first value")));
    let outside = done(make(
        &world,
        company,
        &CreateSecret {
            provider: SecretProvider::Env,
            value: None,
            external_ref: Some("TOKEN".into()),
            ..new_secret("outside", "x")
        },
    ));
    rotate(&world, &secret, "second value");
    let config = json!({ "env": {
        "LATEST": reference(&secret, json!("latest")),
        "PINNED": reference(&secret, json!(1)),
        "OUTSIDE": reference(&outside, json!("latest")),
        "INLINE": "inline",
    }});
    let run = running(&world, &agent).run;
    let found = done(resolve(&world, &run, &config));
    assert_eq!(
        kept(&found),
        [
            ("LATEST", "second value"),
            ("OUTSIDE", "outside"),
            ("PINNED", "first value")
        ]
    );
    assert!(!format!("{found:?}").contains("value"), "{found:?}");
    let used = look(&world, |reads| {
        reads.secrets().of_run(scope(company), run.id)
    });
    let used: Vec<_> = used
        .iter()
        .map(|it| (it.variable.as_str(), it.version))
        .collect();
    assert_eq!(used, [("LATEST", 2), ("OUTSIDE", 0), ("PINNED", 1)]);
    let usage = done(
        world
            .board()
            .read(|reads, ctx| secrets::usage(reads, ctx, secret.id)),
    );
    assert_eq!(usage.runs.len(), 2);
    let values = look(&world, |reads| {
        secrets::values_of_run(reads, world.vault(), &run)
    });
    assert_eq!(values, ["second value", "first value"]);
}

#[test]
fn what_cannot_be_resolved_is_told_without_any_value() {
    let world = World::sqlite();
    let (acme, other) = (world.company("Acme").id, world.company("Other").id);
    let agent = world.hired(acme, "Ada");
    let own = done(make(&world, acme, &new_secret("token", "first value")));
    let foreign = done(make(&world, other, &new_secret("token", "foreign value")));
    let run = running(&world, &agent).run;
    for binding in [
        reference(&foreign, json!("latest")),
        reference(&own, json!(2)),
        json!({ "type": "secret_ref", "secretId": "x" }),
        json!({ "type": "secret_ref" }),
    ] {
        let config = json!({ "env": { "OK": reference(&own, json!(1)), "Z": binding } });
        let unresolved = refused(resolve(&world, &run, &config));
        assert_eq!(unresolved.variable, "Z");
        assert!(!unresolved.to_string().contains("value"), "{unresolved}");
    }
    // Nothing of it was written down.
    assert_eq!(
        look(&world, |reads| reads.secrets().of_run(scope(acme), run.id)),
        []
    );
}

#[test]
fn in_strict_mode_values_under_sensitive_names_have_to_be_secrets() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Ada").id;
    done(bind(&world, agent, json!({ "OLD_TOKEN": "inline" })));
    world.be_strict_about_secrets();
    for env in [
        json!({ "API_KEY": "inline" }),
        json!({ "password": { "type": "plain", "value": "inline" } }),
        json!({ "OLD_TOKEN": "another" }),
    ] {
        let refusal = refused(bind(&world, agent, env));
        assert_eq!(refusal.code(), Code::SecretRequired);
        assert!(!refusal.to_string().contains("inline"));
    }
    // What was there before stays, and so does the marker that stands for it.
    let secret = done(make(&world, company, &new_secret("token", "value of it")));
    let agent = done(bind(
        &world,
        agent,
        json!({
            "MODEL": "m", "EMPTY_TOKEN": "", "OLD_TOKEN": agents::REDACTED,
            "API_KEY": reference(&secret, json!("latest")),
        }),
    ));
    assert_eq!(agent.adapter_config["env"]["OLD_TOKEN"], "inline");
}

#[test]
fn an_inline_value_becomes_a_secret_in_its_place() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let agent = world.hired(company, "Ada").id;
    let env = json!({
        "A_TOKEN": "inline value",
        "B_TOKEN": { "type": "plain", "value": "other value" },
        "EMPTY": "",
    });
    done(bind(&world, agent, env));
    world.be_strict_about_secrets();
    let convert = |variable: &str, name: Option<&str>| {
        let name = name.map(named);
        world
            .board()
            .write(|tx, ctx| secrets::convert(tx, ctx, agent, variable, name.clone()))
    };
    let converted = done(convert("A_TOKEN", None));
    assert_eq!(&*converted.secret.name, "A_TOKEN");
    done(convert("B_TOKEN", Some("the other")));
    assert_eq!(refused(convert("A_TOKEN", None)).code(), Code::InvalidField);
    assert_eq!(refused(convert("EMPTY", None)).code(), Code::InvalidField);
    assert_eq!(refused(convert("NONE", None)).code(), Code::NotFound);
    let agent = done(bind(&world, agent, json!({ "A_TOKEN": agents::REDACTED })));
    let run = running(&world, &agent).run;
    let found = done(resolve(&world, &run, &Value::from(agent.adapter_config)));
    assert_eq!(
        kept(&found),
        [("A_TOKEN", "inline value"), ("B_TOKEN", "other value")]
    );
}
