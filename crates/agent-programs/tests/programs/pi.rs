//! pi.

use workforce_agent_programs::{AgentProgram, FailureClass, ProgramEvent, UsageBaseline};

use crate::recording::{Expected, Recording, check_all, run};

const PROGRAM: AgentProgram = AgentProgram::Pi;

const fn usual(case: &'static str) -> Expected {
    run(case, "succeeded")
        .used([1500, 2800, 0, 65])
        .cost(631_500)
}

/// All of these ended with 0.
const fn without_answer(case: &'static str, class: &'static str) -> Expected {
    run(case, class).used([0, 0, 0, 0]).cost(0)
}

const fn stopped(case: &'static str) -> Expected {
    run(case, "interrupted")
        .used([1200, 800, 0, 40])
        .cost(444_000)
}

const CASES: &[Expected] = &[
    usual("full"),
    usual("full_087"),
    usual("resume"),
    usual("resume_session_id"),
    usual("session_id_given"),
    run("parallel_calls", "succeeded")
        .used([10, 7, 0, 18])
        .cost(30_210),
    run("failing_command", "succeeded")
        .used([10, 0, 0, 18])
        .cost(30_000),
    run("background_child", "succeeded")
        .used([200, 0, 0, 20])
        .cost(90_000),
    run("retry_then_ok", "succeeded")
        .used([10, 0, 0, 5])
        .cost(10_500)
        .retries(2),
    without_answer("error_auth", "auth_required"),
    without_answer("error_auth_087", "auth_required"),
    without_answer("error_context", "context_too_long"),
    without_answer("error_drop", "unreachable").retries(3),
    without_answer("error_overloaded", "overloaded").retries(3),
    without_answer("error_quota", "provider_limit"),
    without_answer("error_rate_limit", "provider_limit").retries(3),
    without_answer("error_server", "server_error").retries(3),
    without_answer("error_unreachable", "unreachable").retries(3),
    run("error_auth_text", "auth_required"),
    run("error_no_key", "auth_required"),
    run("resume_other_dir", "session_unknown"),
    run("resume_unknown", "session_unknown"),
    run("nobody_without_home", "other"),
    run("stdin_empty", "interrupted"),
    stopped("sig_hup_pid_tool"),
    stopped("sig_int_pid_tool"),
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
fn a_resumed_run_counts_its_own_part_whatever_was_before() {
    let full = Recording::read(PROGRAM, "full").told();
    let resume = Recording::read(PROGRAM, "resume");
    for before in [full.conclusion.baseline, UsageBaseline::UNKNOWN] {
        let resumed = resume.told_after(before);
        assert_eq!(resumed.total(), Some([1500, 2800, 0, 65]));
        assert_eq!(resumed.cost(), Some(631_500));
    }
}

#[test]
fn a_retry_tells_its_delay() {
    let told = Recording::read(PROGRAM, "error_overloaded").told();
    let delays = told.events.iter().filter_map(|event| match event {
        ProgramEvent::Retrying {
            class: FailureClass::Overloaded,
            attempt,
            delay_ms,
            ..
        } => Some((*attempt, *delay_ms)),
        _ => None,
    });
    assert!(delays.eq([(1, Some(2_000)), (2, Some(4_000)), (3, Some(8_000))]));
}

/// The program settles after it was aborted, too.
#[test]
fn a_run_that_did_not_settle_or_was_aborted_did_not_succeed() {
    let message = r#"{"type":"message_end","message":{"role":"assistant","stopReason":"stop"}}"#;
    let settled = r#"{"type":"agent_settled","aborted":false}"#;
    let aborted = r#"{"type":"agent_settled","aborted":true}"#;
    for (lines, outcome) in [
        (vec![message, settled], "succeeded"),
        (vec![message], "interrupted"),
        (vec![message, aborted], "interrupted"),
        (vec![settled], "interrupted"),
    ] {
        let told = Recording::of_lines(PROGRAM, &lines).told();
        assert_eq!(told.outcome(), outcome, "{lines:?}");
    }
}
