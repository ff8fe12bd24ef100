//! Codex.

use workforce_agent_programs::{
    AgentProgram, FailureClass, ProgramEvent, TokenUsage, UsageBaseline,
};

use crate::recording::{Expected, Recording, check_all, counts, run};

const PROGRAM: AgentProgram = AgentProgram::Codex;

const fn usual(case: &'static str) -> Expected {
    run(case, "succeeded").used([1500, 2800, 0, 65])
}

const CASES: &[Expected] = &[
    usual("full"),
    usual("builtin"),
    usual("model_gpt-5.5"),
    usual("model_gpt-6-astra"),
    // Read as runs of threads of which nothing was counted yet.
    run("resume", "succeeded").used([3000, 5600, 0, 130]),
    run("resume_other_dir", "succeeded").used([4500, 8400, 0, 195]),
    run("metered", "succeeded").used([1562, 2806, 0, 73]),
    run("metered_resume", "succeeded").used([1562, 2806, 0, 73]),
    run("metered_killed", "interrupted").used([1550, 2800, 0, 65]),
    run("metered_after_kill", "succeeded").used([1562, 2806, 0, 73]),
    run("parallel_calls", "succeeded").used([10, 7, 0, 18]),
    run("failing_command", "succeeded").used([10, 0, 0, 18]),
    run("background_child", "succeeded").used([200, 0, 0, 20]),
    run("long_tool", "succeeded").used([101, 0, 0, 11]),
    run("retry_then_ok", "succeeded").used([10, 0, 0, 5]),
    run("error_auth", "auth_required").retries(5),
    run("error_no_key", "auth_required"),
    run("error_context", "context_too_long"),
    run("error_drop", "unreachable").retries(5),
    run("error_overloaded", "overloaded"),
    run("error_quota", "provider_limit"),
    run("error_rate_limit", "provider_limit"),
    run("error_server", "server_error").retries(5),
    run("error_unreachable", "unreachable").retries(4),
    run("error_unreachable_420s", "unreachable").retries(10),
    run("resume_unknown", "session_unknown"),
    run("stdin_empty", "other"),
    run("nobody_without_home", "other"),
    run("sig_hup_pid_tool", "interrupted"),
    run("sig_int_pid_tool", "interrupted"),
    run("sig_kill_group_tool", "interrupted"),
    run("sig_term_group_tool", "interrupted"),
    run("sig_term_pid_model", "interrupted"),
    run("sig_term_pid_tool", "interrupted"),
    run("sig_term_pid_tool_js", "interrupted"),
];

#[test]
fn every_recorded_run_is_read_right() {
    check_all(PROGRAM, CASES);
}

#[test]
fn a_resumed_run_counts_its_own_part_of_the_thread() {
    let full = Recording::read(PROGRAM, "full").told();
    assert_eq!(full.conclusion.baseline.cost, Some(Default::default()));
    let resume = Recording::read(PROGRAM, "resume");
    let resumed = resume.told_after(full.conclusion.baseline);
    assert_eq!(resumed.total(), Some([1500, 2800, 0, 65]));
    let baseline = resumed.conclusion.baseline;
    assert_eq!(baseline.tokens.map(counts), Some([3000, 5600, 0, 130]));
    let third = Recording::read(PROGRAM, "resume_other_dir").told_after(baseline);
    assert_eq!(third.total(), Some([1500, 2800, 0, 65]));
}

/// Nothing in the output tells the run from the thread.
#[test]
fn a_run_of_a_thread_that_nobody_counted_has_no_figure() {
    let told = Recording::read(PROGRAM, "resume").told_after(UsageBaseline::UNKNOWN);
    assert_eq!(told.total(), None);
    assert_eq!(told.sum().0, TokenUsage::ZERO);
    let next = told.conclusion.baseline.tokens.map(counts);
    assert_eq!(next, Some([3000, 5600, 0, 130]));
}

/// A failed run tells no usage; the next run of the thread does.
#[test]
fn what_a_failed_run_used_is_counted_with_the_next() {
    let failed = Recording::read(PROGRAM, "error_server").told();
    assert_eq!(failed.total(), None);
    let before = failed.conclusion.baseline;
    let next = Recording::read(PROGRAM, "resume").told_after(before);
    assert_eq!(next.total(), Some([3000, 5600, 0, 130]));
}

#[test]
fn sums_of_a_thread_never_fall() {
    let before = UsageBaseline {
        tokens: Some(TokenUsage {
            input: 9_000,
            ..TokenUsage::ZERO
        }),
        cost: None,
    };
    let told = Recording::read(PROGRAM, "full").told_after(before);
    assert_eq!(told.total(), Some([0, 2800, 0, 65]));
    let next = told.conclusion.baseline.tokens.map(counts);
    assert_eq!(next, Some([9_000, 2800, 0, 65]));
}

#[test]
fn reconnecting_tells_attempt_and_cause() {
    let told = Recording::read(PROGRAM, "error_auth").told();
    let attempts = told.events.iter().filter_map(|event| match event {
        ProgramEvent::Retrying { class, attempt, .. } => Some((*class, *attempt)),
        _ => None,
    });
    let expected = (1..=5).map(|attempt| (FailureClass::AuthRequired, attempt));
    assert!(attempts.eq(expected));
}

/// It waits for the network without an end; only its supervisor can end it.
#[test]
fn waiting_for_the_network_is_told_each_time() {
    let told = Recording::read(PROGRAM, "error_unreachable_420s").told();
    let attempts = told.events.iter().filter_map(|event| match event {
        ProgramEvent::Retrying { attempt, .. } => Some(*attempt),
        _ => None,
    });
    assert!(attempts.eq(1..=10));
}
