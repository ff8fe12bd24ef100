use serde_json::{Value, json};
use workforce_app::secrets::{self, CreateSecret, UpdateSecret};
use workforce_domain::change::Replace;
use workforce_domain::id::{AgentId, RunId};
use workforce_domain::run::{Run, RunErrorCode, RunStatus};
use workforce_domain::secret::{Secret, SecretProvider, SecretValue};
use workforce_domain::text::SecretName;
use workforce_testkit::store::postgres_store;

use crate::support::{House, UNTIL_GO, os, shared};

const VALUE: &str = "first value/of \"it\"";

fn value(text: &str) -> SecretValue {
    SecretValue::parse(text).expect("a value")
}

pub(super) fn make(house: &House, name: &str, text: &str) -> Secret {
    let command = CreateSecret {
        name: SecretName::parse(name).expect("a name"),
        description: None,
        provider: SecretProvider::LocalEncrypted,
        value: Some(value(text)),
        external_ref: None,
        token_for: None,
    };
    house.act(|tx, ctx| secrets::create(tx, ctx, house.company, command.clone()))
}

pub(super) fn make_outside(house: &House, provider: SecretProvider, reference: &str) -> Secret {
    let command = CreateSecret {
        name: SecretName::parse(reference).expect("a name"),
        description: None,
        provider,
        value: None,
        external_ref: Some(reference.to_owned()),
        token_for: None,
    };
    house.act(|tx, ctx| secrets::create(tx, ctx, house.company, command.clone()))
}

pub(super) fn reference(secret: &Secret, version: &Value) -> Value {
    json!({ "type": "secret_ref", "secretId": secret.id, "version": version })
}

fn hire(house: &House, script: &str, env: &Value) -> AgentId {
    house.hire(json!({
        "command": "/bin/sh", "args": ["-c", script], "env": env, "graceSec": 0.3,
    }))
}

async fn run(house: &House, agent: AgentId) -> Run {
    let run = house.invoke(agent).run.id;
    house.ended(run).await
}

fn used(house: &House, run: RunId) -> Vec<(String, i32)> {
    let used = house.act(|tx, _| {
        let run = tx.runs().find(House::scope(), run)?.expect("the run");
        let scope = workforce_domain::actor::CompanyOwned::scope(&run);
        Ok::<_, workforce_app::Failure<()>>(tx.secrets().of_run(scope, run.id)?)
    });
    used.into_iter()
        .map(|it| (it.variable, it.version))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_run_is_given_the_newest_version_and_its_output_is_free_of_it() {
    for store in [
        Some(workforce_testkit::store::sqlite_store()),
        postgres_store(),
    ] {
        let Some(store) = store else { continue };
        let house = House::on(store);
        let engine = house.start();
        let secret = make(&house, "token", VALUE);
        let script = "printf '%s' \"$TOKEN\" > seen; cat /proc/self/cmdline > argv; \
                      echo \"out $TOKEN\"; echo \"err $PINNED\" >&2; \
                      printf '%s' \"$TOKEN\" | base64; echo \"key $WORKFORCE_API_KEY\"; exit 3";
        let env = json!({
            "TOKEN": reference(&secret, &json!("latest")),
            "PINNED": reference(&secret, &json!(1)),
            "MY_PASSWORD": "inline password",
        });
        let agent = hire(&house, &format!("echo \"$MY_PASSWORD\"; {script}"), &env);
        for (version, text) in [(1, VALUE), (2, "second value")] {
            if version == 2 {
                let rotation = UpdateSecret {
                    value: Replace::Set(value(text)),
                    ..UpdateSecret::default()
                };
                house.act(|tx, ctx| secrets::update(tx, ctx, secret.id, rotation.clone()));
            }
            let ended = run(&house, agent).await;
            assert_eq!(ended.error_code, Some(RunErrorCode::AdapterFailed));
            assert_eq!(house.file("seen").await, text);
            assert!(!house.file("argv").await.contains(text));
            let log = house.log(ended.id);
            let tail = ended.log_tail.clone().unwrap();
            for shown in [&log, &tail] {
                assert!(shown.contains("out ***REDACTED***"), "{shown}");
                assert!(shown.contains("err ***REDACTED***"), "{shown}");
                assert!(shown.contains("key ***REDACTED***"), "{shown}");
                assert!(
                    !shown.contains("value") && !shown.contains("password"),
                    "{shown}"
                );
            }
            assert_eq!(
                used(&house, ended.id),
                [("PINNED".to_owned(), 1), ("TOKEN".to_owned(), version)]
            );
        }
        engine.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn values_from_outside_are_read_at_the_start() {
    let house = House::new();
    let folder = house.path("allowed");
    std::fs::create_dir(&folder).unwrap();
    let mut config = house.config();
    config
        .server_environment
        .push(os("FORGE_TOKEN", "from the server"));
    config.secret_files = Some(folder.clone());
    let engine = house.start_with(config);
    let env = json!({
        "A": reference(&make_outside(&house, SecretProvider::Env, "FORGE_TOKEN"), &json!("latest")),
        "B": reference(&make_outside(&house, SecretProvider::File, "key"), &json!("latest")),
    });
    let agent = hire(&house, "echo \"$A, $B\" | tee seen", &env);
    let ended = run(&house, agent).await;
    assert_eq!(ended.error_code, Some(RunErrorCode::SecretUnresolved));
    assert!(ended.error.unwrap().contains("adapterConfig.env.B"));
    std::fs::write(folder.join("key"), "from a file\n").unwrap();
    let ended = run(&house, agent).await;
    assert_eq!(ended.status, RunStatus::Succeeded);
    assert_eq!(house.file("seen").await, "from the server, from a file\n");
    assert_eq!(house.log(ended.id), "***REDACTED***, ***REDACTED***\n");
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_without_its_secret_starts_nothing() {
    let house = House::new();
    let engine = house.start();
    let secret = make(&house, "token", VALUE);
    let env = json!({ "TOKEN": reference(&secret, &json!("latest")) });
    let agent = hire(&house, "touch started", &env);
    house.act(|tx, ctx| secrets::delete(tx, ctx, secret.id, true));
    let ended = run(&house, agent).await;
    assert_eq!(
        (ended.status, ended.error_code),
        (RunStatus::Failed, Some(RunErrorCode::SecretUnresolved))
    );
    assert!(!house.path("started").exists());
    assert_eq!(house.processes(), []);
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_interface_can_clean_what_a_live_run_sends() {
    let house = House::new();
    let engine = house.start();
    let secret = make(&house, "token", VALUE);
    let env = json!({ "TOKEN": reference(&secret, &json!("latest")) });
    let script = format!("echo $WORKFORCE_API_KEY > key; mv key token; {UNTIL_GO}");
    let agent = hire(&house, &script, &env);
    let id = house.invoke(agent).run.id;
    house.file("ready").await;
    let token = house.file("token").await;
    let digest = house.ports.tokens.digest(token.trim());
    let signal = shared(&engine);
    for scrubber in [signal.scrubber_of(id), signal.scrubber_of_token(&digest)] {
        let text = json!({ "body": format!("it is {VALUE} for {}", token.trim()) });
        let clean = scrubber
            .unwrap()
            .scrub_json(text.to_string().as_bytes())
            .unwrap();
        let clean: Value = serde_json::from_slice(&clean).unwrap();
        assert_eq!(clean["body"], "it is ***REDACTED*** for ***REDACTED***");
    }
    assert!(signal.scrubber_of_token(&[0; 32]).is_none());
    house.go();
    house.ended(id).await;
    engine.shutdown().await;
}
