//! The settings of an agent that concern its program.

use serde_json::{Value, json};
use workforce_agent_programs::{AgentProgram, ProgramSettings, SettingsError};

fn read(configuration: &Value) -> Result<ProgramSettings, SettingsError> {
    ProgramSettings::read(configuration.as_object().unwrap())
}

#[test]
fn every_key_is_read() {
    let configuration = json!({
        "command": "/opt/agent",
        "extraArgs": ["--a", "b"],
        "model": "m",
        "promptTemplate": "Do {{task}}.",
        "effort": "high",
        "chrome": true,
        "maxTurnsPerRun": 3,
        "dangerouslySkipPermissions": false,
        "modelReasoningEffort": "low",
        "search": true,
        "dangerouslyBypassApprovalsAndSandbox": false,
        "cwd": 7,
        "env": [],
        "timeoutSec": "soon",
    });
    let expected = ProgramSettings {
        command: Some("/opt/agent".to_owned()),
        extra_args: vec!["--a".to_owned(), "b".to_owned()],
        model: Some("m".to_owned()),
        prompt_template: Some("Do {{task}}.".to_owned()),
        effort: Some("high".to_owned()),
        chrome: true,
        max_turns_per_run: Some(3),
        dangerously_skip_permissions: Some(false),
        model_reasoning_effort: Some("low".to_owned()),
        search: true,
        dangerously_bypass_approvals_and_sandbox: Some(false),
    };
    assert_eq!(read(&configuration), Ok(expected));
}

#[test]
fn what_is_missing_or_null_is_left_out() {
    let nothing = Ok(ProgramSettings::default());
    assert_eq!(read(&json!({})), nothing);
    assert_eq!(
        read(&json!({ "model": null, "chrome": null, "extraArgs": null })),
        nothing
    );
}

#[test]
fn a_wrong_value_names_its_key() {
    for (configuration, key) in [
        (json!({ "command": 1 }), "command"),
        (json!({ "command": "" }), "command"),
        (json!({ "command": "a\u{0}b" }), "command"),
        (json!({ "extraArgs": "--a" }), "extraArgs"),
        (json!({ "extraArgs": ["--a", 1] }), "extraArgs"),
        (json!({ "extraArgs": ["a\u{0}b"] }), "extraArgs"),
        (json!({ "model": "--evil" }), "model"),
        (json!({ "model": "" }), "model"),
        (json!({ "model": "a b" }), "model"),
        (json!({ "model": ["m"] }), "model"),
        (json!({ "effort": "-x" }), "effort"),
        (
            json!({ "modelReasoningEffort": "high\"\nsandbox_mode=\"x" }),
            "modelReasoningEffort",
        ),
        (json!({ "chrome": "yes" }), "chrome"),
        (json!({ "search": 1 }), "search"),
        (json!({ "maxTurnsPerRun": 0 }), "maxTurnsPerRun"),
        (json!({ "maxTurnsPerRun": -1 }), "maxTurnsPerRun"),
        (json!({ "maxTurnsPerRun": 1.5 }), "maxTurnsPerRun"),
        (
            json!({ "maxTurnsPerRun": 5_000_000_000_u64 }),
            "maxTurnsPerRun",
        ),
        (
            json!({ "dangerouslySkipPermissions": "true" }),
            "dangerouslySkipPermissions",
        ),
    ] {
        let error = read(&configuration).unwrap_err();
        assert_eq!(error.key, key, "{configuration}");
        assert!(error.to_string().starts_with(&format!("`{key}` must be ")));
    }
}

/// Every key that a definition names is read, and every key that is read is a
/// setting of some program.
#[test]
fn definitions_name_the_keys_that_are_read() {
    let mut named: Vec<_> = AgentProgram::ALL
        .iter()
        .flat_map(|program| program.definition().settings)
        .collect();
    named.sort_unstable();
    named.dedup();
    assert_eq!(named.len(), 11);
    for key in named {
        // No key takes an object.
        let configuration = json!({ *key: {} });
        assert_eq!(read(&configuration).unwrap_err().key, *key);
    }
}
