//! Output that no program should print.

use workforce_agent_programs::{
    AgentProgram, OutputParser, ProgramEvent, ProgramExit, Stream, UsageBaseline,
};

use crate::recording::{ENDED_WELL, RUN, Recording};

const MIB: usize = 1024 * 1024;

fn full_after(junk: &[u8]) -> [(Recording, Recording); 5] {
    RUN.map(|program| {
        let plain = Recording::read(program, "full");
        let mut with_junk = Recording::read(program, "full");
        with_junk.stdout = [junk, b"\n", &plain.stdout].concat();
        (plain, with_junk)
    })
}

#[track_caller]
fn check_skipped(junk: &[u8]) {
    for (plain, with_junk) in full_after(junk) {
        assert_eq!(with_junk.told(), plain.told(), "{}", plain.program);
    }
}

#[test]
fn lines_that_are_no_event_are_skipped() {
    check_skipped(b"Warning: something");
    check_skipped(b"{\"type\":");
    check_skipped(b"[]\nnull\n12\n\"text\"\n{}\n{\"type\":7}");
    check_skipped(&(0..=255).cycle().take(100_000).collect::<Vec<u8>>());
    check_skipped("{\"type\":\"übung".as_bytes().split_at(9).0);
}

#[test]
fn deep_nesting_is_skipped() {
    let deep = format!("{{\"a\":{}", "[".repeat(100_000));
    check_skipped(deep.as_bytes());
    let closed = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    check_skipped(closed.as_bytes());
}

/// A field that nobody reads does not hide the rest, however deep it is.
#[test]
fn an_event_with_a_deep_field_is_read() {
    let deep = format!(
        "{}{}",
        "{\"a\":".repeat(100_000),
        "1".to_owned() + &"}".repeat(100_000)
    );
    let line = format!(
        r#"{{"permission_denials":{deep},"usage":{deep},"type":"result","is_error":false}}"#
    );
    let told = Recording::of_lines(AgentProgram::Claude, &[&line]).told();
    assert_eq!(told.outcome(), "succeeded");
    assert_eq!(told.total(), None);
}

/// 100 MiB in one line leave no trace.
#[test]
fn a_line_without_an_end_is_not_kept() {
    let mut parser = OutputParser::new(AgentProgram::Pi, UsageBaseline::NEW_SESSION);
    let mut events = Vec::new();
    let chunk = vec![b'{'; MIB];
    for _ in 0..100 {
        parser.push(Stream::Stdout, &chunk, &mut events);
        parser.push(Stream::Stderr, &chunk, &mut events);
    }
    parser.push(Stream::Stdout, b"\n", &mut events);
    assert_eq!(events, Vec::new());
    let (events, conclusion) = parser.finish(ENDED_WELL);
    assert_eq!(events, Vec::new());
    assert_eq!(conclusion.result_text, None);
    if let Some(peak) = peak_memory_kib() {
        assert!(peak < 90 * 1024, "{peak} KiB");
    }
}

/// The most memory that this process had, where the system tells it.
fn peak_memory_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

#[test]
fn a_line_after_one_that_was_too_long_is_read() {
    let mut recording = Recording::read(AgentProgram::Pi, "full");
    let told = recording.told();
    let long = format!(
        r#"{{"type":"session","id":"other","pad":"{}"}}"#,
        "x".repeat(5 * MIB)
    );
    recording.stdout = [long.as_bytes(), b"\n", &recording.stdout].concat();
    assert_eq!(recording.told(), told);
}

#[test]
fn what_is_no_session_id_is_never_one() {
    let long = "x".repeat(129);
    for id in [
        "--evil",
        "-",
        "",
        "a b",
        "a/../b",
        "a\\u0000b",
        "ä",
        &long,
        "a\\nb",
    ] {
        for line in [
            format!(r#"{{"type":"system","subtype":"init","session_id":"{id}"}}"#),
            format!(r#"{{"type":"thread.started","thread_id":"{id}"}}"#),
            format!(r#"{{"type":"init","session_id":"{id}"}}"#),
            format!(r#"{{"type":"step_start","sessionID":"{id}"}}"#),
            format!(r#"{{"type":"session","id":"{id}"}}"#),
        ] {
            for program in AgentProgram::ALL {
                let told = Recording::of_lines(program, &[&line]).told();
                assert_eq!(told.events, Vec::new(), "{program} {line}");
                assert_eq!(told.conclusion.session, None, "{program} {line}");
            }
        }
    }
}

/// A count that no program can have made is no count, and lowers no sum.
#[test]
fn absurd_figures_do_not_change_a_sum() {
    for figure in [
        "-5",
        "1e300",
        "99999999999999999999999",
        "18446744073709551615",
        "\"7\"",
        "{}",
    ] {
        let lines = [
            r#"{"type":"assistant","message":{"id":"a","model":"m","usage":{"input_tokens":10,"output_tokens":1}}}"#.to_owned(),
            format!(r#"{{"type":"assistant","message":{{"id":"b","usage":{{"input_tokens":{figure},"output_tokens":2}}}}}}"#),
            format!(r#"{{"type":"result","is_error":false,"total_cost_usd":{figure},"usage":{{"input_tokens":{figure},"output_tokens":{figure}}}}}"#),
        ];
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        let told = Recording::of_lines(AgentProgram::Claude, &lines).told();
        assert_eq!(told.outcome(), "succeeded", "{figure}");
        assert_eq!(told.total(), Some([10, 0, 0, 3]), "{figure}");
        assert_eq!(told.cost(), None, "{figure}");

        let line = format!(
            r#"{{"type":"turn.completed","usage":{{"input_tokens":{figure},"output_tokens":1}}}}"#
        );
        let told = Recording::of_lines(AgentProgram::Codex, &[&line]).told();
        assert_eq!(told.total(), None, "{figure}");
    }
}

#[test]
fn parts_larger_than_their_whole_leave_nothing() {
    let line = r#"{"type":"turn.completed","usage":{"input_tokens":5,"cached_input_tokens":9,"output_tokens":1}}"#;
    let told = Recording::of_lines(AgentProgram::Codex, &[line]).told();
    assert_eq!(told.total(), Some([0, 9, 0, 1]));
    let line = r#"{"type":"result","status":"success","stats":{"total_tokens":1,"input_tokens":5,"output_tokens":3,"cached":9}}"#;
    let told = Recording::of_lines(AgentProgram::Gemini, &[line]).told();
    assert_eq!(told.total(), Some([0, 9, 0, 3]));
}

/// A line that a program prints twice counts once.
#[test]
fn an_output_that_repeats_itself_is_counted_once() {
    for program in RUN {
        let plain = Recording::read(program, "full");
        let mut twice = Recording::read(program, "full");
        let text = String::from_utf8(twice.stdout).unwrap();
        let doubled: Vec<_> = text.lines().flat_map(|line| [line, line]).collect();
        twice.stdout = doubled.join("\n").into_bytes();
        let (twice, plain) = (twice.told(), plain.told());
        assert_eq!(twice.outcome(), plain.outcome(), "{program}");
        assert_eq!(twice.total(), plain.total(), "{program}");
        assert_eq!(twice.cost(), plain.cost(), "{program}");
        assert_eq!(twice.sum(), plain.sum(), "{program}");
    }
}

/// The sums of the session did not grow, so the run used nothing.
#[test]
fn a_last_event_that_repeats_the_one_of_an_earlier_run_counts_nothing() {
    let recording = Recording::read(AgentProgram::Codex, "full");
    let before = recording.told().conclusion.baseline;
    let told = recording.told_after(before);
    assert_eq!(told.total(), Some([0, 0, 0, 0]));
    assert_eq!(told.conclusion.baseline, before);
}

#[test]
fn a_program_cannot_fill_the_memory_with_names() {
    let lines: Vec<_> = (0..10_000)
        .map(|n| {
            format!(r#"{{"type":"assistant","message":{{"id":"{n}","model":"m{n}","usage":{{"input_tokens":1}}}}}}"#)
        })
        .collect();
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    let told = Recording::of_lines(AgentProgram::Claude, &lines).told();
    assert_eq!(told.total(), Some([10_000, 0, 0, 0]));
    let mut models: Vec<_> = told.events.iter().filter_map(model).collect();
    models.dedup();
    assert!(models.len() <= 64, "{}", models.len());
}

fn model(event: &ProgramEvent) -> Option<&str> {
    match event {
        ProgramEvent::Usage { model, .. } => model.as_deref(),
        _ => None,
    }
}

#[test]
fn texts_are_cut_between_characters() {
    let long = "ü".repeat(100_000);
    let line = format!(r#"{{"type":"result","is_error":false,"result":"a{long}"}}"#);
    let told = Recording::of_lines(AgentProgram::Claude, &[&line]).told();
    let text = told.conclusion.result_text.unwrap();
    assert_eq!(text.len(), 64 * 1024 - 1);
    let line = format!(r#"{{"type":"turn.failed","error":{{"message":"a\n\n{long}"}}}}"#);
    let told = Recording::of_lines(AgentProgram::Codex, &[&line]).told();
    assert!(told.message().starts_with("a ü"));
    assert!(told.message().len() <= 1_000);
}

#[test]
fn a_program_that_says_nothing_is_interrupted_however_it_ends() {
    let exits = [
        (Some(0), None),
        (Some(1), None),
        (Some(143), None),
        (None, Some(9)),
        (None, None),
    ];
    for program in AgentProgram::ALL {
        for (code, signal) in exits {
            let parser = OutputParser::new(program, UsageBaseline::NEW_SESSION);
            let (events, conclusion) = parser.finish(ProgramExit { code, signal });
            let told = crate::recording::Told { events, conclusion };
            assert_eq!(told.outcome(), "interrupted", "{program} {code:?}");
            assert_eq!(told.total(), None);
            assert_eq!(told.conclusion.baseline, UsageBaseline::NEW_SESSION);
        }
    }
}
