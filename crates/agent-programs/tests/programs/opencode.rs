//! opencode.

use workforce_agent_programs::{
    AgentProgram, FailureClass, ProgramEvent, ProgramExit, UsageBaseline,
};

use crate::recording::{Expected, Recording, check_all, run};

const PROGRAM: AgentProgram = AgentProgram::Opencode;

const CASES: &[Expected] = &[
    run("full", "succeeded")
        .used([1500, 2800, 0, 65])
        .cost(631_500),
    run("resume", "succeeded")
        .used([1500, 2800, 0, 65])
        .cost(631_500),
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
        .cost(10_500),
    run("error_auth", "auth_required"),
    run("error_no_key", "auth_required"),
    run("error_context", "context_too_long")
        .used([30, 0, 0, 6])
        .cost(18_000)
        .retries(3),
    run("error_drop", "unreachable"),
    run("error_overloaded", "overloaded"),
    run("error_quota", "provider_limit"),
    run("error_rate_limit", "provider_limit"),
    run("error_server", "server_error"),
    run("error_unreachable", "unreachable"),
    run("resume_unknown", "session_unknown"),
    run("resume_other_dir", "interrupted"),
    run("nobody_without_home", "other"),
    run("stdin_empty", "other"),
    run("sig_hup_pid_tool", "interrupted"),
    run("sig_int_pid_tool", "interrupted"),
    run("sig_kill_group_tool", "interrupted"),
    run("sig_term_group_tool", "interrupted"),
    run("sig_term_pid_model", "interrupted"),
    run("sig_term_pid_tool", "interrupted"),
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

/// There is no last event, so the exit code must agree.
#[test]
fn a_run_that_stopped_and_then_crashed_did_not_succeed() {
    let mut recording = Recording::read(PROGRAM, "full");
    for exit in [(Some(1), None), (None, Some(15))] {
        recording.exit = ProgramExit {
            code: exit.0,
            signal: exit.1,
        };
        assert_eq!(recording.told().outcome(), "interrupted");
    }
}

/// It makes the conversation shorter and tries again, over and over.
#[test]
fn a_context_that_stays_too_long_is_told_each_time() {
    let told = Recording::read(PROGRAM, "error_context").told();
    let attempts = told.events.iter().filter_map(|event| match event {
        ProgramEvent::Retrying { class, attempt, .. } => Some((*class, *attempt)),
        _ => None,
    });
    assert!(attempts.eq((1..=3).map(|n| (FailureClass::ContextTooLong, n))));
}
