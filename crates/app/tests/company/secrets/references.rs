//! References of agents and issues to secrets (docs/secrets.md).

use serde_json::{Value, json};
use workforce_app::activity_log::document;
use workforce_app::issues::{self, IssueError, UpdateIssue};
use workforce_app::masking::REDACTED;
use workforce_app::secrets::{self, SecretError};
use workforce_app::{Code, Refusal};
use workforce_domain::change::Change;
use workforce_domain::id::AgentId;
use workforce_domain::issue::IssueRef;
use workforce_testkit::world::{World, done, no_change, refused};

use super::{bind, kept, make, named, new_secret, reference, resolve, rotate};
use crate::support::running;

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
            "MODEL": "m", "EMPTY_TOKEN": "", "OLD_TOKEN": REDACTED,
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
    let agent = done(bind(&world, agent, json!({ "A_TOKEN": REDACTED })));
    let run = running(&world, &agent).run;
    let found = done(resolve(&world, &run, &Value::from(agent.adapter_config)));
    assert_eq!(
        kept(&found),
        [("A_TOKEN", "inline value"), ("B_TOKEN", "other value")]
    );
}
