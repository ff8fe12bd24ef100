//! Claude Code.

use workforce_agent_programs::{
    AgentProgram, MicroCents, Outcome, ProgramEvent, RetryHint, UsageBaseline,
};

use crate::recording::{Expected, Recording, check_all, counts, run};

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

/// Each call of the model is told once, as soon as it is exact.
#[test]
fn with_partial_messages_each_call_is_exact_at_once() {
    let told = Recording::read(PROGRAM, "partial_messages").told();
    let calls: Vec<_> = told.events.iter().filter_map(tokens).collect();
    let expected = [[1200, 800, 100, 40], [300, 2000, 50, 25], [0, 0, 0, 0]];
    assert_eq!(calls, expected, "the last brings the cost");
}

#[test]
fn without_partial_messages_the_last_event_brings_what_is_missing() {
    let told = Recording::read(PROGRAM, "full").told();
    let calls: Vec<_> = told.events.iter().filter_map(tokens).collect();
    let expected = [[1200, 800, 100, 1], [300, 2000, 50, 1], [0, 0, 0, 63]];
    assert_eq!(calls, expected);
}

fn tokens(event: &ProgramEvent) -> Option<[u64; 4]> {
    match event {
        ProgramEvent::Usage { tokens, .. } => Some(counts(*tokens)),
        _ => None,
    }
}

#[test]
fn a_resumed_run_counts_its_own_part() {
    let full = Recording::read(PROGRAM, "full").told();
    let baseline = full.conclusion.baseline;
    assert_eq!(baseline.cost, Some(MicroCents(687_750)));
    let resumed = Recording::read(PROGRAM, "resume").told_after(baseline);
    assert_eq!(resumed.total(), Some([1500, 2800, 150, 65]));
    assert_eq!(resumed.cost(), Some(687_750));
    let baseline = resumed.conclusion.baseline;
    assert_eq!(baseline.cost, Some(MicroCents(1_375_500)));
    assert_eq!(baseline.tokens.map(counts), Some([3000, 5600, 300, 130]));
}

#[test]
fn a_resumed_run_of_a_session_that_nobody_counted_counts_its_own_part_too() {
    let told = Recording::read(PROGRAM, "resume").told_after(UsageBaseline::UNKNOWN);
    assert_eq!(told.total(), Some([1500, 2800, 150, 65]));
    assert_eq!(told.cost(), Some(687_750));
    assert_eq!(told.conclusion.baseline.cost, Some(MicroCents(1_375_500)));
}

/// A stopped run cannot tell its cost; the next run of the session does.
#[test]
fn what_a_stopped_run_cost_is_counted_with_the_next() {
    let stopped = Recording::read(PROGRAM, "sig_term_pid_tool").told();
    assert_eq!(stopped.cost(), None);
    let next = Recording::read(PROGRAM, "resume_after_term");
    let next = next.told_after(stopped.conclusion.baseline);
    assert_eq!(next.cost(), Some(444_000 + 687_750));
}

#[test]
fn a_session_whose_total_began_anew_costs_what_the_run_says() {
    let before = UsageBaseline {
        tokens: None,
        cost: Some(MicroCents(5_000_000)),
    };
    let told = Recording::read(PROGRAM, "full").told_after(before);
    assert_eq!(told.cost(), Some(687_750));
    assert_eq!(told.conclusion.baseline.cost, before.cost);
}

/// A call that breaks off is made again, and the program counts only the second.
#[test]
fn a_call_that_breaks_off_is_not_counted_beside_its_repetition() {
    let lines = [
        r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"a","model":"m","usage":{"input_tokens":100,"output_tokens":1}}}}"#,
        r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"b","model":"m","usage":{"input_tokens":100,"output_tokens":1}}}}"#,
        r#"{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":10}}}"#,
        r#"{"type":"result","is_error":false,"usage":{"input_tokens":100,"output_tokens":10}}"#,
    ];
    let told = Recording::of_lines(PROGRAM, &lines).told();
    assert_eq!(told.total(), Some([100, 0, 0, 10]));
    // Stopped before its last event, it may have been billed for both.
    let told = Recording::of_lines(PROGRAM, &lines[..3]).told();
    assert_eq!(told.total(), Some([200, 0, 0, 11]));
}

/// The sums may call a model otherwise than its messages do.
#[test]
fn a_model_with_two_names_is_counted_once() {
    let lines = [
        r#"{"type":"assistant","message":{"id":"a","model":"m","usage":{"input_tokens":100,"output_tokens":1}}}"#,
        r#"{"type":"result","is_error":false,"total_cost_usd":0.5,"model_usage_since_last_result":{"m[1m]":{"inputTokens":100,"outputTokens":20,"costUSD":0.5}}}"#,
    ];
    let told = Recording::of_lines(PROGRAM, &lines).told();
    assert_eq!(told.total(), Some([100, 0, 0, 20]));
    assert_eq!(told.cost(), Some(50_000_000));
    assert_eq!(counts(told.sum().0), [100, 0, 0, 20]);
}

#[test]
fn several_results_of_one_run_add_up() {
    let result = |uuid, total, cost| {
        format!(
            r#"{{"type":"result","uuid":"{uuid}","is_error":false,"total_cost_usd":{total},"model_usage_since_last_result":{{"m":{{"inputTokens":10,"outputTokens":2,"costUSD":{cost}}}}}}}"#
        )
    };
    let (first, second) = (result(1, "0.01", "0.01"), result(2, "0.03", "0.02"));
    let told = Recording::of_lines(PROGRAM, &[&first, &second, &second]).told();
    assert_eq!(told.total(), Some([20, 0, 0, 4]));
    assert_eq!(told.cost(), Some(3_000_000));
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
