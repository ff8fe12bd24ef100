//! What runs of Claude Code used and cost.

use workforce_agent_programs::{AgentProgram, MicroCents, ProgramEvent, UsageBaseline};

use crate::recording::{Recording, counts};

const PROGRAM: AgentProgram = AgentProgram::Claude;

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
    for (stopped, next, cost) in [
        ("sig_term_pid_tool", "resume_after_term", 444_000),
        (
            "partial_sig_term_pid_tool",
            "partial_resume_after_term",
            481_500,
        ),
    ] {
        let stopped = Recording::read(PROGRAM, stopped).told();
        assert_eq!(stopped.cost(), None);
        let next = Recording::read(PROGRAM, next);
        let next = next.told_after(stopped.conclusion.baseline);
        assert_eq!(next.cost(), Some(cost + 687_750));
        assert_eq!(next.total(), Some([1500, 2800, 150, 65]));
    }
}

#[test]
fn a_session_whose_total_began_anew_costs_what_the_run_says() {
    let before = UsageBaseline {
        tokens: None,
        cost: Some(MicroCents(5_000_000)),
    };
    let told = Recording::read(PROGRAM, "full").told_after(before);
    assert_eq!(told.cost(), Some(687_750));
    let next = told.conclusion.baseline;
    assert_eq!(next.cost, Some(MicroCents(687_750)));
    let next = Recording::read(PROGRAM, "resume").told_after(next);
    assert_eq!(next.cost(), Some(687_750));
}

/// A run that never reached a model says that the session cost nothing.
#[test]
fn a_total_of_nothing_does_not_make_a_session_free() {
    let full = Recording::read(PROGRAM, "full").told();
    let failed = Recording::read(PROGRAM, "error_no_key");
    let failed = failed.told_after(full.conclusion.baseline);
    assert_eq!(failed.cost(), Some(0));
    assert_eq!(
        failed.conclusion.baseline.cost,
        full.conclusion.baseline.cost
    );
}

/// Older versions told the total of each run.
#[test]
fn a_total_of_the_run_alone_is_recognized() {
    let line = r#"{"type":"result","is_error":false,"total_cost_usd":0.01,"usage":{"input_tokens":10,"output_tokens":2},"modelUsage":{"m":{"inputTokens":10,"outputTokens":2,"costUSD":0.01}}}"#;
    let recording = Recording::of_lines(PROGRAM, &[line]);
    let first = recording.told();
    assert_eq!(first.cost(), Some(1_000_000));
    let second = recording.told_after(first.conclusion.baseline);
    assert_eq!(second.total(), Some([10, 0, 0, 2]));
    assert_eq!(second.cost(), Some(1_000_000));
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
fn each_model_has_its_own_cost() {
    let line = r#"{"type":"result","is_error":false,"total_cost_usd":0.31,"model_usage_since_last_result":{"a":{"inputTokens":10,"outputTokens":2,"costUSD":0.1},"b":{"inputTokens":5,"outputTokens":1,"costUSD":0.2}}}"#;
    let told = Recording::of_lines(PROGRAM, &[line]).told();
    let usages = told.events.iter().filter_map(|event| match event {
        ProgramEvent::Usage {
            model,
            tokens,
            cost,
        } => Some((model.as_deref(), tokens.input, cost.map(|cost| cost.0))),
        _ => None,
    });
    let expected = [
        (Some("a"), 10, Some(10_000_000)),
        (Some("b"), 5, Some(20_000_000)),
        // What an earlier run could not tell has no model.
        (None, 0, Some(1_000_000)),
    ];
    assert!(usages.eq(expected), "{:?}", told.events);
}

#[test]
fn a_run_that_only_tells_its_cost_has_no_count_of_tokens() {
    let line = r#"{"type":"result","is_error":false,"total_cost_usd":0.31}"#;
    let told = Recording::of_lines(PROGRAM, &[line]).told();
    assert_eq!(told.total(), None);
    assert_eq!(told.cost(), Some(31_000_000));
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
