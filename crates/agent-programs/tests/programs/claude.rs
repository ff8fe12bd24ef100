//! Claude Code.

use workforce_agent_programs::{AgentProgram, Outcome, ProgramEvent, RetryHint};

use crate::recording::{Expected, Recording, check_all, run};

const PROGRAM: AgentProgram = AgentProgram::Claude;

/// The run with one tool call that most cases make.
const fn usual(case: &'static str) -> Expected {
    run(case, "succeeded")
        .used([1500, 2800, 150, 65])
        .cost(687_750)
}

/// No call of the model succeeded.
const fn without_answer(case: &'static str, class: &'static str) -> Expected {
    run(case, class).used([0, 0, 0, 0]).cost(0)
}

/// Stopped while a tool ran: only the opening figures of the call are known.
const fn stopped(case: &'static str) -> Expected {
    run(case, "interrupted").used([1200, 800, 0, 1])
}

const CASES: &[Expected] = &[
    usual("full"),
    usual("bare"),
    usual("nobody_without_home"),
    usual("partial_messages"),
    usual("session_id_given"),
    // Read as runs of sessions of which nothing was counted yet.
    run("resume", "succeeded")
        .used([1500, 2800, 150, 65])
        .cost(1_375_500),
    run("resume_other_dir", "succeeded")
        .used([1500, 2800, 150, 65])
        .cost(2_063_250),
    run("resume_after_term", "succeeded")
        .used([1500, 2800, 150, 65])
        .cost(1_131_750),
    run("partial_resume_after_term", "succeeded")
        .used([1500, 2800, 150, 65])
        .cost(1_169_250),
    run("parallel_calls", "succeeded")
        .used([10, 7, 0, 18])
        .cost(30_210),
    run("failing_command", "succeeded")
        .used([10, 0, 0, 18])
        .cost(30_000),
    run("background_child", "succeeded")
        .used([200, 0, 0, 20])
        .cost(90_000),
    run("denied", "succeeded")
        .used([200, 0, 0, 20])
        .cost(90_000),
    run("error_drop", "succeeded")
        .used([100, 0, 0, 10])
        .cost(45_000)
        .retries(1),
    run("retry_then_ok", "succeeded")
        .used([10, 0, 0, 5])
        .cost(10_500)
        .retries(2),
    run("budget", "budget_of_program")
        .used([1200, 800, 100, 40])
        .cost(481_500),
    run("max_turns", "max_turns")
        .used([1200, 800, 100, 40])
        .cost(481_500),
    without_answer("error_auth", "auth_required").retries(2),
    without_answer("error_auth_default", "auth_required").retries(10),
    without_answer("error_no_key", "auth_required"),
    without_answer("error_context", "context_too_long"),
    without_answer("error_overloaded", "overloaded").retries(2),
    without_answer("error_quota", "provider_limit"),
    without_answer("error_rate_limit", "provider_limit").retries(2),
    without_answer("retry_after", "provider_limit"),
    without_answer("error_server", "server_error").retries(2),
    without_answer("error_unreachable", "unreachable").retries(1),
    without_answer("resume_unknown", "session_unknown"),
    run("root_refused", "root_refused"),
    run("stdin_empty", "other"),
    run("stdin_open", "other"),
    run("session_id_in_use", "other"),
    run("partial_sig_term_pid_tool", "interrupted").used([1200, 800, 100, 40]),
    run("sig_int_pid_tool", "interrupted")
        .used([1200, 800, 0, 40])
        .cost(444_000),
    stopped("sig_hup_pid_tool"),
    stopped("sig_kill_group_tool"),
    stopped("sig_term_group_tool"),
    stopped("sig_term_pid_tool"),
    run("sig_term_pid_model", "interrupted"),
];

#[test]
fn every_recorded_run_is_read_right() {
    check_all(PROGRAM, CASES);
}

#[test]
fn the_answer_and_the_turns_are_those_of_the_last_event() {
    let told = Recording::read(PROGRAM, "full").told();
    let answer = "Turn 1. Prompts: Do the task.. Result: {\"ok\": true}";
    assert_eq!(told.conclusion.result_text.as_deref(), Some(answer));
    assert_eq!(told.conclusion.num_turns, Some(2));
    let ProgramEvent::SessionStarted { model, .. } = &told.events[0] else {
        panic!("{:?}", told.events)
    };
    assert_eq!(model.as_deref(), Some("claude-sonnet-4-5"));
}

#[test]
fn a_limit_that_only_the_subtype_tells_is_a_failure() {
    let line = r#"{"type":"result","subtype":"error_max_turns","is_error":false}"#;
    let told = Recording::of_lines(PROGRAM, &[line]).told();
    assert_eq!(told.outcome(), "max_turns");
}

#[test]
fn a_refused_limit_tells_when_it_resets() {
    let lines = [
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1778565600}}"#,
        r#"{"type":"assistant","error":"rate_limit","message":{"model":"<synthetic>"}}"#,
        r#"{"type":"result","is_error":true,"api_error_status":429,"result":"You've hit your limit · resets 2pm (Asia/Shanghai)"}"#,
    ];
    let told = Recording::of_lines(PROGRAM, &lines).told();
    let Outcome::Failed(failure) = &told.conclusion.outcome else {
        panic!("{told:?}")
    };
    let at = RetryHint::At {
        unix_seconds: 1_778_565_600,
    };
    assert_eq!(failure.retry_after, Some(at));
    let told = Recording::of_lines(PROGRAM, &lines[1..]).told();
    let Outcome::Failed(failure) = told.conclusion.outcome else {
        panic!("it failed")
    };
    assert!(matches!(failure.retry_after, Some(RetryHint::LocalTime(_))));
}
