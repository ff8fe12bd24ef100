use serde_json::json;
use workforce_app::activity_log::document;

use super::*;

fn read(config: Value) -> Result<(LocalSettings, ProcessSettings), String> {
    let config = document(config);
    let both = || {
        Ok((
            LocalSettings::read(&config)?,
            ProcessSettings::read(&config)?,
        ))
    };
    both().map_err(|fault: SettingsFault| fault.to_string())
}

#[test]
fn what_is_unsaid_has_the_usual_values() {
    let (settings, process) = read(json!({ "command": "x" })).unwrap();
    assert_eq!(
        settings.limits,
        Limits {
            wall: Some(Duration::from_secs(14_400)),
            idle: Some(Duration::from_secs(1200)),
            grace: Duration::from_secs(20),
        }
    );
    assert_eq!((settings.cwd, process.stdin), (None, None));
}

#[test]
fn zero_lifts_a_limit_and_fractions_count() {
    let config = json!({ "command": "x", "timeoutSec": 0, "idleTimeoutSec": 0.5, "graceSec": 0 });
    assert_eq!(
        read(config).unwrap().0.limits,
        Limits {
            wall: None,
            idle: Some(Duration::from_millis(500)),
            grace: Duration::ZERO
        }
    );
}

#[test]
fn variables_are_strings_or_plain_bindings() {
    let env = json!({ "A": "1", "B": { "type": "plain", "value": "2" } });
    let (settings, _) = read(json!({ "command": "x", "env": env })).unwrap();
    assert_eq!(
        settings.env,
        [("A".into(), "1".into()), ("B".into(), "2".into())]
    );
}

#[test]
fn a_shell_reads_the_command_only_where_it_is_asked_for() {
    let (_, settings) = read(json!({ "command": "a > b", "args": ["c"] })).unwrap();
    assert_eq!(
        (&*settings.program, &*settings.args),
        ("a > b", &["c".to_owned()][..])
    );
    let (_, off) = read(json!({ "command": "a", "shell": false })).unwrap();
    assert_eq!(off.program, "a");
    let (_, settings) = read(json!({ "command": "a > b", "args": ["c"], "shell": true })).unwrap();
    assert_eq!(settings.program, "/bin/sh");
    assert_eq!(settings.args, ["-c", "a > b", "/bin/sh", "c"]);
}

#[test]
fn faults_name_their_place() {
    let fault = |config: Value| read(config).unwrap_err();
    assert_eq!(
        fault(json!({})),
        "adapterConfig.command must name the program to run"
    );
    assert_eq!(fault(json!({ "command": "" })), fault(json!({})));
    assert_eq!(
        fault(json!({ "command": "x", "cwd": "a/b" })),
        "adapterConfig.cwd must be an absolute path"
    );
    assert_eq!(
        fault(json!({ "command": "x", "args": ["a", 1] })),
        "adapterConfig.args must be an array of strings"
    );
    assert_eq!(
        fault(json!({ "command": "x", "env": { "WORKFORCE_RUN_ID": "x" } })),
        "adapterConfig.env.WORKFORCE_RUN_ID is set by workforce itself"
    );
    assert_eq!(
        fault(json!({ "command": "x", "env": { "A": { "type": "secret_ref" } } })),
        "adapterConfig.env.A must be a string or a plain binding"
    );
    assert_eq!(
        fault(json!({ "command": "x", "shell": "yes" })),
        "adapterConfig.shell must be true or false"
    );
    assert_eq!(
        fault(json!({ "command": "x", "timeoutSec": -1 })),
        "adapterConfig.timeoutSec must be a number of seconds, at least 0"
    );
}

#[test]
fn limits_of_resources_are_whole_and_positive() {
    let config = json!({ "command": "x", "maxMemoryMb": 2, "maxProcesses": 3.0 });
    let limits = read(config).unwrap().0.resource_limits;
    let expected = ResourceLimits {
        memory: Some(2 << 20),
        processes: Some(3),
        file_size: None,
    };
    assert_eq!(limits, expected);
    for value in [json!(0), json!(-1), json!(1.5), json!("1"), json!(null)] {
        let fault = read(json!({ "command": "x", "maxFileSizeMb": value }));
        assert_eq!(
            fault.unwrap_err(),
            "adapterConfig.maxFileSizeMb must be a whole number, at least 1"
        );
    }
}
