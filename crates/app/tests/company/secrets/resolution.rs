//! What a run is given of the secrets that it refers to (docs/secrets.md).

use serde_json::json;
use workforce_app::secrets::{self, CreateSecret};
use workforce_domain::secret::SecretProvider;
use workforce_testkit::world::{World, done, refused};

use super::{kept, make, new_secret, reference, resolve, rotate};
use crate::support::{look, running, scope};

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
            token_for: None,
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
