//! How the programs are called.

use serde_json::{Value, json};
use workforce_agent_programs::{
    AgentProgram, CommandLine, CommandLineError, ProgramSettings, RunUser, Session, SessionId,
    command_line,
};

use AgentProgram::{Claude, Codex, Cursor, Gemini, Opencode, Pi};

const UUID: &str = "11111111-2222-4333-8444-555555555556";

fn settings(configuration: &Value) -> ProgramSettings {
    ProgramSettings::read(configuration.as_object().unwrap()).unwrap()
}

#[track_caller]
fn line(program: AgentProgram, configuration: &Value, session: Session<'_>) -> CommandLine {
    command_line(
        program,
        &settings(configuration),
        session,
        RunUser::Ordinary,
    )
    .unwrap()
}

#[track_caller]
fn check(program: AgentProgram, configuration: &Value, session: Session<'_>, expected: &str) {
    let line = line(program, configuration, session);
    assert_eq!(line.arguments.join(" "), expected);
}

const NEW: Session<'_> = Session::New { id: None };

#[test]
fn a_new_session_with_a_model() {
    let model = json!({ "model": "some/model" });
    check(
        Claude,
        &model,
        NEW,
        "-p --include-partial-messages --output-format stream-json --verbose \
         --dangerously-skip-permissions --model some/model",
    );
    check(
        Codex,
        &model,
        NEW,
        "exec --json --dangerously-bypass-approvals-and-sandbox -m some/model \
         -c analytics.enabled=false -c check_for_update_on_startup=false --disable plugins \
         -c allow_login_shell=false -",
    );
    check(
        Gemini,
        &model,
        NEW,
        "-o stream-json --yolo --skip-trust -m some/model",
    );
    check(Opencode, &model, NEW, "run --format json -m some/model");
    check(
        Pi,
        &model,
        NEW,
        "-p --mode json --provider some --model model",
    );
    check(
        Cursor,
        &model,
        NEW,
        "-p --output-format stream-json --force --model some/model",
    );
}

#[test]
fn a_session_is_resumed_by_its_id() {
    let id = SessionId::parse(UUID).unwrap();
    let resumed = |program| {
        let arguments = line(program, &json!({}), Session::Resume(&id)).arguments;
        arguments.join(" ")
    };
    assert!(resumed(Claude).ends_with(&format!("--resume {UUID}")));
    assert!(resumed(Codex).starts_with("exec resume --json "));
    assert!(resumed(Codex).ends_with(&format!(" {UUID} -")));
    assert!(resumed(Gemini).ends_with(&format!("--resume {UUID}")));
    assert!(resumed(Opencode).ends_with(&format!("--session {UUID}")));
    assert!(resumed(Pi).ends_with(&format!("--session {UUID}")));
    assert!(resumed(Cursor).ends_with(&format!("--resume {UUID}")));
}

#[test]
fn a_supervisor_may_choose_the_id_of_a_new_session() {
    let id = SessionId::parse(UUID).unwrap();
    for program in AgentProgram::ALL {
        let session = Session::New { id: Some(&id) };
        let arguments = line(program, &json!({}), session).arguments;
        let takes_id = program.definition().takes_session_id;
        assert_eq!(arguments.iter().any(|a| a == UUID), takes_id, "{program}");
        assert_eq!(arguments.iter().any(|a| a == "--session-id"), takes_id);
    }
}

#[test]
fn the_id_of_a_new_session_is_a_uuid() {
    for text in [
        "ses_1",
        "11111111-2222-4333-8444-55555555555",
        "11111111222243338444555555555556",
    ] {
        let id = SessionId::parse(text).unwrap();
        let session = Session::New { id: Some(&id) };
        let made = command_line(
            Claude,
            &ProgramSettings::default(),
            session,
            RunUser::Ordinary,
        );
        assert_eq!(made, Err(CommandLineError::SessionIdNotUuid), "{text}");
        line(Codex, &json!({}), session);
    }
}

#[test]
fn settings_of_claude_become_options() {
    let configuration = json!({
        "model": "m",
        "effort": "high",
        "chrome": true,
        "maxTurnsPerRun": 30,
        "extraArgs": ["--add-dir", "/srv/other"],
    });
    check(
        Claude,
        &configuration,
        NEW,
        "-p --include-partial-messages --output-format stream-json --verbose \
         --dangerously-skip-permissions --model m --effort high --max-turns 30 --chrome \
         --add-dir /srv/other",
    );
}

#[test]
fn settings_of_codex_become_options() {
    let configuration = json!({
        "modelReasoningEffort": "high",
        "search": true,
        "dangerouslyBypassApprovalsAndSandbox": false,
        "extraArgs": ["--ephemeral"],
    });
    check(
        Codex,
        &configuration,
        NEW,
        "exec --json --skip-git-repo-check -c sandbox_mode=\"workspace-write\" \
         -c sandbox_workspace_write.network_access=true -c model_reasoning_effort=\"high\" \
         -c web_search=\"live\" -c analytics.enabled=false -c check_for_update_on_startup=false \
         --disable plugins -c allow_login_shell=false --ephemeral -",
    );
}

#[track_caller]
fn claude_as(user: RunUser, skip: Option<bool>) -> Result<CommandLine, CommandLineError> {
    let settings = settings(&json!({ "dangerouslySkipPermissions": skip }));
    command_line(Claude, &settings, NEW, user)
}

#[test]
fn claude_as_root_does_not_skip_permissions() {
    let refused = Err(CommandLineError::RootRefused);
    assert_eq!(claude_as(RunUser::Root, Some(true)), refused);
    for skip in [None, Some(false)] {
        let line = claude_as(RunUser::Root, skip).unwrap();
        assert!(!line.unrestricted);
        let text = line.arguments.join(" ");
        assert!(text.contains(" --allowedTools Bash,Edit,"), "{text}");
        assert!(text.ends_with(" --permission-mode dontAsk"), "{text}");
    }
}

#[test]
fn claude_skips_permissions_where_it_may() {
    for user in [RunUser::Ordinary, RunUser::RootInSandbox] {
        for skip in [None, Some(true)] {
            let line = claude_as(user, skip).unwrap();
            assert!(line.unrestricted);
            let skips = "--dangerously-skip-permissions".to_owned();
            assert!(line.arguments.contains(&skips));
        }
        assert!(!claude_as(user, Some(false)).unwrap().unrestricted);
    }
}

#[test]
fn every_program_but_pi_can_be_told_to_ask() {
    let asks = json!({
        "dangerouslySkipPermissions": false,
        "dangerouslyBypassApprovalsAndSandbox": false,
    });
    for program in AgentProgram::ALL {
        assert!(line(program, &json!({}), NEW).unrestricted, "{program}");
        let may_do_all = line(program, &asks, NEW).unrestricted;
        assert_eq!(may_do_all, program == Pi, "{program}");
    }
}

#[test]
fn gemini_keeps_its_shell_where_it_must_ask() {
    check(
        Gemini,
        &json!({ "dangerouslySkipPermissions": false }),
        NEW,
        "-o stream-json --allowed-tools run_shell_command --approval-mode auto_edit --skip-trust",
    );
}

#[test]
fn gemini_finds_its_settings_in_its_home() {
    let line = line(Gemini, &json!({}), NEW);
    let [file] = line.home_files.as_slice() else {
        panic!("{:?}", line.home_files)
    };
    assert_eq!(file.path, ".gemini/settings.json");
    let content: Value = serde_json::from_str(&file.content).unwrap();
    assert_eq!(
        content["security"]["auth"]["selectedType"],
        "gemini-api-key"
    );
    assert_eq!(content["general"]["enableAutoUpdate"], false);
    assert!(
        line.environment
            .contains(&("GEMINI_CLI_NO_RELAUNCH", "true".to_owned()))
    );
}

#[test]
fn opencode_is_configured_by_a_variable() {
    let line = line(Opencode, &json!({}), NEW);
    let (_, content) = &line.environment[0];
    let content: Value = serde_json::from_str(content).unwrap();
    assert_eq!(content["permission"]["*"], "allow");
    assert_eq!(content["share"], "disabled");
}

/// The names that an operator must keep secret, and may set.
#[test]
fn every_definition_is_complete() {
    for program in AgentProgram::ALL {
        let definition = program.definition();
        assert!(!definition.command.is_empty());
        assert_eq!(definition.version_arguments, ["--version"]);
        assert!(definition.sign_in.ends_with('.'), "{program}");
        assert!(!definition.key_variables.is_empty(), "{program}");
        for setting in ["command", "extraArgs", "model", "promptTemplate"] {
            assert!(definition.settings.contains(&setting), "{program}");
        }
        let was_run = definition.package.is_some();
        assert_eq!(definition.peak_memory_mib.is_some(), was_run, "{program}");
        assert_eq!(was_run, program != Cursor);
    }
}

#[test]
fn a_model_of_pi_may_have_no_provider() {
    check(
        Pi,
        &json!({ "model": "m" }),
        NEW,
        "-p --mode json --model m",
    );
    check(
        Pi,
        &json!({ "model": "router/vendor/m" }),
        NEW,
        "-p --mode json --provider router --model vendor/m",
    );
    check(
        Pi,
        &json!({ "model": "a/-b" }),
        NEW,
        "-p --mode json --model a/-b",
    );
}
