use super::*;

#[track_caller]
fn check(from: &str, to: &str, is_for_tests: bool, expected: Result<(), &str>) {
    let edge = Edge {
        from,
        to,
        is_ours: to.starts_with("workforce"),
        is_for_tests,
        is_optional: false,
    };
    assert_eq!(edge.check(), expected.map_err(str::to_owned));
}

#[test]
fn values_describe_themselves_for_whoever_asks() {
    let edge = |is_optional| Edge {
        from: "workforce-domain",
        to: "utoipa",
        is_ours: false,
        is_for_tests: false,
        is_optional,
    };
    assert!(edge(true).check().is_ok());
    assert!(edge(false).check().is_err());
}

#[test]
fn the_permitted_dependencies_are_those_of_the_table() {
    check("workforce-app", "workforce-domain", false, Ok(()));
    check("workforce", "workforce-infra", false, Ok(()));
    check("workforce-app", "workforce-testkit", true, Ok(()));
    check("workforce-engine", MODEL_IMITATION, true, Ok(()));
    check("workforce-forges", FORGE_IMITATION, true, Ok(()));
    check(
        "workforce-forges",
        "workforce-forge-imitation",
        false,
        Err("workforce-forges must not depend on workforce-forge-imitation"),
    );
    check(
        "workforce-engine",
        "workforce-model-imitation",
        false,
        Err("workforce-engine must not depend on workforce-model-imitation"),
    );
    check("workforce-domain", "thiserror", false, Ok(()));
    check(
        "workforce-http",
        "workforce-infra",
        false,
        Err("workforce-http must not depend on workforce-infra"),
    );
    check(
        "workforce-engine",
        "workforce-infra",
        true,
        Err("workforce-engine must not depend on workforce-infra"),
    );
    check(
        "workforce",
        "workforce-testkit",
        false,
        Err("workforce must not depend on workforce-testkit"),
    );
    check(
        "workforce-domain",
        "tokio",
        false,
        Err("workforce-domain must not see tokio"),
    );
    check(
        "workforce-app",
        "anyhow",
        true,
        Err("workforce-app must not use anyhow: its callers branch on errors"),
    );
    check(
        "xtask",
        "workforce-domain",
        false,
        Err("xtask must not depend on workforce-domain"),
    );
    check(
        "workforce-postgres-cluster",
        "diesel",
        true,
        Err("workforce-postgres-cluster must not see diesel"),
    );
    check(
        "newcomer",
        "serde",
        false,
        Err("newcomer is not in the table of permitted dependencies"),
    );
}
