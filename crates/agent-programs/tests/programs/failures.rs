//! What kind of failure a text tells of.

use workforce_agent_programs::{AgentProgram, Outcome, ProgramExit, RetryHint};

use crate::recording::{ENDED_WELL, Recording};

/// The class of a text that Codex ends with.
#[track_caller]
fn check(text: &str, class: &str) {
    let line = serde_json::json!({ "type": "turn.failed", "error": { "message": text } });
    let told = Recording::of_lines(AgentProgram::Codex, &[&line.to_string()]).told();
    assert_eq!(told.outcome(), class, "{text}");
}

#[test]
fn texts_of_providers_have_a_class() {
    check(
        "You've hit your usage limit. Try again in 3 hours 27 minutes.",
        "provider_limit",
    );
    check("Claude AI usage limit reached|1750000000", "provider_limit");
    check("unexpected status 402 Payment Required", "provider_limit");
    check("unexpected status 403 Forbidden: no", "auth_required");
    check("OAuth token has expired", "auth_required");
    check("unexpected status 503 Service Unavailable", "overloaded");
    check("unexpected status 529", "overloaded");
    check("unexpected status 502 Bad Gateway", "server_error");
    check(
        "unexpected status 413 Payload Too Large",
        "context_too_long",
    );
    check("401: no", "auth_required");
    check("getaddrinfo ENOTFOUND api.example.com", "unreachable");
    check("", "other");
}

#[test]
fn a_number_that_is_no_status_has_no_class() {
    check("wrote 401 lines", "other");
    check("503 files", "other");
    check("error: 50 things", "other");
    check("error: 5030 things", "other");
}

#[test]
fn a_limit_tells_when_it_resets_and_other_failures_do_not() {
    for (text, expected) in [
        (
            "usage limit. Try again in 2 hours.",
            Some(RetryHint::After { seconds: 7_200 }),
        ),
        ("usage limit", None),
        ("401: try again in 2 hours", None),
    ] {
        let line = serde_json::json!({ "type": "turn.failed", "error": { "message": text } });
        let told = Recording::of_lines(AgentProgram::Codex, &[&line.to_string()]).told();
        let Outcome::Failed(failure) = told.conclusion.outcome else {
            panic!("{text}")
        };
        assert_eq!(failure.retry_after, expected, "{text}");
    }
}

fn with_stderr(stdout: &str, stderr: &str, code: i32) -> (String, String) {
    let mut recording = Recording::of_lines(AgentProgram::Claude, &[stdout]);
    recording.stderr = stderr.as_bytes().to_vec();
    recording.exit = ProgramExit {
        code: Some(code),
        signal: None,
    };
    let told = recording.told();
    (told.outcome(), told.message().to_owned())
}

/// Several programs tell only there why they cannot begin.
#[test]
fn the_standard_error_tells_why_a_program_did_not_begin() {
    let (class, message) = with_stderr("", "\u{1b}[31mError: bad option\u{1b}[0m\n  at x\n", 1);
    assert_eq!((class.as_str(), message.as_str()), ("other", "bad option"));
    let (class, _) = with_stderr("", "note\nInvalid API key\nbye\n", 1);
    assert_eq!(class, "auth_required");
}

/// What a program overcame stands there, too.
#[test]
fn old_lines_of_the_standard_error_do_not_tell_why_a_program_ended() {
    let begun = r#"{"type":"system","subtype":"init","session_id":"a"}"#;
    let old = "overloaded\n".to_owned() + &"line\n".repeat(8);
    assert_eq!(with_stderr(begun, &old, 1).0, "interrupted");
    assert_eq!(with_stderr(begun, "overloaded\n", 1).0, "overloaded");
    assert_eq!(with_stderr(begun, "overloaded\n", 143).0, "interrupted");
    assert_eq!(with_stderr(begun, "overloaded\n", 0).0, "interrupted");
}

/// A call that failed last is why a run was stopped, unless something worked
/// after it.
#[test]
fn a_run_that_is_stopped_while_it_retries_failed_by_what_it_retries() {
    let init = r#"{"type":"system","subtype":"init","session_id":"a"}"#;
    let retry = r#"{"type":"system","subtype":"api_retry","attempt":1,"error_status":529,"error":"overloaded"}"#;
    let said = r#"{"type":"assistant","message":{"id":"m","content":[]}}"#;
    let outcome = |lines: &[&str]| {
        let mut recording = Recording::of_lines(AgentProgram::Claude, lines);
        recording.exit = ProgramExit {
            code: None,
            signal: Some(15),
        };
        recording.told().outcome()
    };
    assert_eq!(outcome(&[init, retry]), "overloaded");
    assert_eq!(outcome(&[init, retry, said]), "interrupted");
}

/// The exit code alone says nothing.
#[test]
fn a_bad_exit_code_after_a_good_last_event_changes_nothing() {
    let mut recording = Recording::read(AgentProgram::Claude, "full");
    assert_eq!(recording.exit, ENDED_WELL);
    recording.exit.code = Some(1);
    assert_eq!(recording.told().outcome(), "succeeded");
}
