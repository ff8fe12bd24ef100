use serde_json::json;

use super::*;
use crate::activity_log::document;
use crate::refusal::Code;

const SECRET: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

fn merge(current: Value, change: Value) -> Value {
    Value::from(merged(&document(current), document(change)))
}

#[test]
fn a_change_keeps_what_it_does_not_name() {
    let current = json!({ "command": "a", "model": "m", "env": { "A": "1", "B": "2" } });
    assert_eq!(
        merge(
            current,
            json!({ "command": "b", "model": null, "env": { "B": null, "C": "3" } })
        ),
        json!({ "command": "b", "env": { "A": "1", "C": "3" } }),
    );
}

#[test]
fn the_redaction_marker_keeps_the_present_value_and_is_never_stored() {
    let current = json!({ "token": "t", "env": { "A": "1" } });
    let change = json!({
        "token": REDACTED,
        "other": REDACTED,
        "env": { "A": REDACTED, "B": { "type": "plain", "value": REDACTED } },
    });
    assert_eq!(merge(current.clone(), change), current);
    let whole = json!({ "token": REDACTED, "env": { "A": REDACTED, "B": REDACTED } });
    assert_eq!(
        replaced(&document(current.clone()), document(whole.clone())),
        document(current)
    );
    assert_eq!(merge(json!({}), whole), json!({ "env": {} }));
    let hidden = document(json!({ "headers": [{ "x": REDACTED }] }));
    assert_eq!(
        check_adapter(AdapterType::Process, &hidden).map_err(|fault| fault.code),
        Err(Code::InvalidField)
    );
    assert_eq!(
        check_runtime(&hidden).map_err(|fault| fault.code),
        Err(Code::InvalidField)
    );
}

#[test]
fn the_marker_keeps_values_in_any_depth_and_in_a_whole_replacement() {
    let current = document(json!({
        "url": "u", "headers": { "Authorization": "Bearer b", "A": "1" },
        "env": { "A": "1", "B": { "type": "plain", "value": "2" } },
    }));
    let change = json!({
        "headers": { "Authorization": REDACTED },
        "env": { "B": { "type": "plain", "value": REDACTED }, "C": REDACTED },
    });
    let replaced = replaced(&current, document(change.clone()));
    let kept = json!({
        "headers": { "Authorization": "Bearer b" },
        "env": { "B": { "type": "plain", "value": "2" } },
    });
    assert_eq!(Value::from(replaced), kept);
    // What it cannot stand for is left, to be refused.
    let new = merged(&Document::new(), document(change));
    assert_eq!(
        check_adapter(AdapterType::Process, &new).map_err(|fault| fault.code),
        Err(Code::InvalidField)
    );
}

#[test]
fn bindings_are_checked() {
    let code = |env: Value| {
        let config = document(json!({ "env": env }));
        check_adapter(AdapterType::Process, &config).map_err(|fault| fault.code)
    };
    assert_eq!(
        code(json!({ "A": "1", "_b2": { "type": "plain", "value": "x" } })),
        Ok(())
    );
    assert_eq!(code(json!({ "WORKFORCE_API_KEY": "own" })), Ok(()));
    assert_eq!(
        code(json!({ "WORKFORCE_RUN_ID": "x" })),
        Err(Code::EnvReserved)
    );
    assert_eq!(code(json!({ "1A": "x" })), Err(Code::InvalidField));
    assert_eq!(code(json!({ "A": 1 })), Err(Code::InvalidField));
    assert_eq!(code(json!({ "A": "secret:x" })), Err(Code::InvalidField));
    let reference = json!({ "type": "secret_ref", "secretId": "x", "version": "latest" });
    assert_eq!(code(json!({ "A": reference })), Err(Code::SecretNotFound));
    for reference in [
        json!({ "type": "secret_ref" }),
        json!({ "type": "secret_ref", "secretId": SECRET, "version": 0 }),
        json!({ "type": "secret_ref", "secretId": SECRET, "version": "newest" }),
        json!({ "type": "secret_ref", "secretId": SECRET, "version": 1.5 }),
        json!({ "type": "secret_ref", "secretId": SECRET, "version": 1e300 }),
    ] {
        assert_eq!(code(json!({ "A": reference })), Err(Code::InvalidField));
    }
    for version in [
        json!(null),
        json!("latest"),
        json!(3),
        json!(3.0),
        json!("3"),
    ] {
        let reference = json!({ "type": "secret_ref", "secretId": SECRET, "version": version });
        assert_eq!(code(json!({ "A": reference })), Ok(()));
    }
}

#[test]
fn heartbeats_have_a_shortest_interval() {
    let check = |value: Value| {
        check_runtime(&document(json!({ "heartbeat": { "intervalSec": value } }))).is_ok()
    };
    assert!(check(json!(0)) && check(json!(30)) && check(json!(30.0)));
    assert!(!check(json!(29)) && !check(json!(-1)) && !check(json!("60")));
}

#[test]
fn runs_at_once_are_a_whole_number_in_any_spelling() {
    let check = |value: Value| {
        check_runtime(&document(
            json!({ "heartbeat": { "maxConcurrentRuns": value } }),
        ))
        .is_ok()
    };
    assert!(check(json!(1)) && check(json!(10)) && check(json!(2.0)) && check(json!(1e1)));
    for value in [
        json!(0),
        json!(0.0),
        json!(2.5),
        json!(11.0),
        json!("2"),
        json!(null),
    ] {
        assert!(!check(value.clone()), "{value}");
    }
}

#[test]
fn limits_of_resources_are_whole_and_positive() {
    for key in ["maxMemoryMb", "maxProcesses", "maxFileSizeMb"] {
        let check = |value: Value| {
            check_adapter(AdapterType::Process, &document(json!({ key: value }))).is_ok()
        };
        assert!(check(json!(1)) && check(json!(2.0)) && check(json!(1 << 30)));
        for value in [
            json!(0),
            json!(-1),
            json!(1.5),
            json!("1"),
            json!(null),
            json!((1 << 30) + 1),
        ] {
            assert!(!check(value.clone()), "{key} {value}");
        }
    }
}
