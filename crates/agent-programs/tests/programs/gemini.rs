//! Gemini CLI.

use workforce_agent_programs::{
    AgentProgram, FailureClass, OutputParser, ProgramEvent, Stream, UsageBaseline,
};

use crate::recording::{Expected, Recording, check_all, counts, run};

const PROGRAM: AgentProgram = AgentProgram::Gemini;

const fn usual(case: &'static str) -> Expected {
    run(case, "succeeded").used([1500, 2800, 0, 65])
}

const fn without_answer(case: &'static str, class: &'static str) -> Expected {
    run(case, class).used([0, 0, 0, 0])
}

const CASES: &[Expected] = &[
    usual("full"),
    usual("resume"),
    usual("session_id_given"),
    usual("command_substitution_blocked"),
    run("parallel_calls", "succeeded").used([10, 7, 0, 18]),
    run("failing_command", "succeeded").used([10, 0, 0, 18]),
    run("background_child", "succeeded").used([200, 0, 0, 20]),
    run("retry_then_ok", "succeeded")
        .used([10, 0, 0, 5])
        .retries(1),
    without_answer("error_auth", "auth_required"),
    without_answer("error_context", "context_too_long"),
    without_answer("error_drop", "unreachable"),
    without_answer("error_overloaded", "overloaded").retries(1),
    without_answer("error_quota", "provider_limit"),
    without_answer("error_rate_limit", "provider_limit").retries(1),
    without_answer("error_rate_limit_default_retries", "provider_limit").retries(1),
    without_answer("error_server", "server_error").retries(1),
    without_answer("error_unreachable", "unreachable").retries(1),
    run("auth_not_selected", "auth_required"),
    run("error_no_key", "auth_required"),
    // It could not read how to sign in, and says so by its exit code.
    run("nobody_without_home", "auth_required"),
    run("resume_other_dir", "session_unknown"),
    run("resume_unknown", "session_unknown"),
    run("stdin_empty", "other"),
    run("untrusted", "other"),
    // All of these ended with 0, except by SIGKILL.
    run("sig_hup_pid_tool", "interrupted"),
    run("sig_int_pid_tool", "interrupted"),
    run("sig_kill_group_tool", "interrupted"),
    run("sig_term_group_tool", "interrupted"),
    run("sig_term_pid_model", "interrupted"),
    run("sig_term_pid_tool", "interrupted"),
    run("sig_term_relaunch", "interrupted"),
];

#[test]
fn every_recorded_run_is_read_right() {
    check_all(PROGRAM, CASES);
}

#[test]
fn a_resumed_run_counts_its_own_part_whatever_was_before() {
    let full = Recording::read(PROGRAM, "full").told();
    let resume = Recording::read(PROGRAM, "resume");
    let resumed = resume.told_after(full.conclusion.baseline);
    assert_eq!(resumed.total(), Some([1500, 2800, 0, 65]));
    let next = resumed.conclusion.baseline.tokens.map(counts);
    assert_eq!(next, Some([3000, 5600, 0, 130]));
    let resumed = resume.told_after(UsageBaseline::UNKNOWN);
    assert_eq!(resumed.total(), Some([1500, 2800, 0, 65]));
    assert_eq!(resumed.conclusion.baseline.tokens, None);
}

#[test]
fn the_answer_is_what_came_after_the_last_tool() {
    let told = Recording::read(PROGRAM, "background_child").told();
    assert_eq!(told.conclusion.result_text.as_deref(), Some("done"));
}

/// While it tries again, only its standard error tells so.
#[test]
fn attempts_are_told_while_it_is_silent() {
    let mut parser = OutputParser::new(PROGRAM, UsageBaseline::NEW_SESSION);
    let mut events = Vec::new();
    let text = b"Attempt 3 failed: Quota exceeded. Please retry in 34.07s.\n";
    parser.push(Stream::Stderr, text, &mut events);
    let [
        ProgramEvent::Retrying {
            class: FailureClass::ProviderLimit,
            attempt: 3,
            delay_ms: None,
            until: Some(_),
        },
    ] = events.as_slice()
    else {
        panic!("{events:?}")
    };
}
