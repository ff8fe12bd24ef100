use std::ffi::OsString;

use workforce_guard::{ChildEnvironment, InvalidVariable};

use crate::support::Bench;

fn server() -> impl Iterator<Item = (OsString, OsString)> {
    [
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/home/w"),
        ("LC_ALL", "C.UTF-8"),
        ("XDG_CACHE_HOME", "/cache"),
        ("https_proxy", "http://proxy"),
        ("NO_PROXY", "localhost"),
        ("DATABASE_URL", "postgres://secret"),
        ("WORKFORCE_DATABASE_URL", "postgres://secret"),
        ("WORKFORCE_GITHUB_TOKEN", "secret"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("LD_PRELOAD", "/evil.so"),
        ("SSH_AUTH_SOCK", "/ssh"),
        ("PATHOLOGICAL", "no"),
    ]
    .into_iter()
    .map(|(name, value)| (name.into(), value.into()))
}

#[tokio::test]
async fn a_child_sees_what_is_allowed_and_what_was_set_and_nothing_else() {
    let bench = Bench::new();
    let mut spec = bench.spec("env", &[]);
    spec.environment = ChildEnvironment::inherit_allowed(server(), &["SSH_AUTH_SOCK".into()]);
    spec.environment
        .set("WORKFORCE_API_URL", "http://localhost:3100")
        .and_then(|environment| environment.set("HOME", "/elsewhere"))
        .expect("variables");

    let output = bench.output(spec).await;

    let mut names: Vec<&str> = output
        .lines()
        .filter_map(|line| line.split_once('=').map(|(name, _)| name))
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "HOME",
            "LC_ALL",
            "NO_PROXY",
            "PATH",
            "SSH_AUTH_SOCK",
            "WORKFORCE_API_URL",
            "WORKFORCE_RUN_ID",
            "XDG_CACHE_HOME",
            "https_proxy",
        ]
    );
    assert!(output.contains("HOME=/elsewhere\n"));
}

#[test]
fn what_configures_the_server_does_not_pass_even_when_listed() {
    let listed = ["WORKFORCE_DATABASE_URL".into(), "WORKFORCE_*".into()];
    let environment = ChildEnvironment::inherit_allowed(server(), &listed);
    assert!(
        environment
            .iter()
            .all(|(name, _)| !name.to_string_lossy().starts_with("WORKFORCE_"))
    );
}

#[test]
fn what_cannot_be_a_variable_is_refused() {
    let mut environment = ChildEnvironment::empty();
    for name in ["", "A=B", "A\0B"] {
        assert_eq!(
            environment.set(name, "x").err(),
            Some(InvalidVariable::Name(name.into()))
        );
    }
    assert_eq!(
        environment.set("A", "x\0y").err(),
        Some(InvalidVariable::Value("A".into()))
    );
    assert_eq!(environment, ChildEnvironment::empty());
}

#[test]
fn values_are_not_shown_when_debugging() {
    let mut environment = ChildEnvironment::empty();
    environment.set("API_KEY", "hush").expect("a variable");
    assert_eq!(format!("{environment:?}"), r#"{"API_KEY"}"#);
}
