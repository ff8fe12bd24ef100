//! What people read of a run.

use workforce_agent_programs::{AgentProgram, Passage, Transcript};

use crate::recording::{RUN, Recording, names};

fn read(program: AgentProgram, lines: &str) -> Vec<Passage> {
    let mut transcript = Transcript::of(program);
    for (number, line) in (0..).zip(lines.lines()) {
        transcript.line(number, line);
    }
    let marked = transcript.finish();
    assert!(marked.is_sorted_by_key(|marked| marked.mark));
    marked.into_iter().map(|marked| marked.passage).collect()
}

fn recorded(program: AgentProgram, case: &str) -> Vec<Passage> {
    let lines = String::from_utf8(Recording::read(program, case).stdout).unwrap();
    read(program, &lines)
}

/// What the agent said and did, without what the program notes.
fn deeds(passages: &[Passage]) -> Vec<String> {
    let deeds = passages.iter().filter_map(|passage| match passage {
        Passage::Said(text) => Some(format!("says {text}")),
        Passage::Called(call) => {
            let reply = call.reply.as_ref().map(|reply| reply.text.as_str());
            Some(format!("calls {} {reply:?}", call.tool))
        }
        Passage::Used(usage) => Some(format!("used {}", usage.tokens.sum())),
        _ => None,
    });
    deeds.collect()
}

#[test]
fn a_run_of_each_program_is_read() {
    for (program, tool, usage) in [
        (AgentProgram::Claude, "Bash", vec![4515]),
        (AgentProgram::Codex, "exec_command", vec![4365]),
        (AgentProgram::Gemini, "run_shell_command", vec![4365]),
        (AgentProgram::Opencode, "bash", vec![2040, 2325]),
        (AgentProgram::Pi, "bash", vec![2040, 2325]),
    ] {
        let deeds = deeds(&recorded(program, "full"));
        let said: Vec<_> = deeds.iter().filter(|it| it.starts_with("says")).collect();
        assert_eq!(said.len(), 2, "{program}: {deeds:?}");
        assert_eq!(said[0], "says I will report.", "{program}");
        assert!(said[1].starts_with("says Turn 1. Prompts"), "{program}");
        let call = format!(r#"calls {tool} Some("{{\"ok\": true}}")"#);
        assert!(deeds.contains(&call), "{program}: {deeds:?}");
        let used = deeds.iter().filter_map(|it| it.strip_prefix("used "));
        let used: Vec<u64> = used.map(|sum| sum.parse().unwrap()).collect();
        assert_eq!(used, usage, "{program}");
    }
}

#[test]
fn every_recorded_line_is_understood_or_shown() {
    for program in RUN {
        for case in names(program) {
            for passage in recorded(program, &case) {
                let Passage::Raw(line) = passage else {
                    continue;
                };
                let is_known = line.contains(r#""subtype":"task_"#) || !line.starts_with('{');
                assert!(is_known, "{program} {case}: {line}");
            }
        }
    }
}

#[test]
fn a_text_in_pieces_is_told_once() {
    let whole = deeds(&recorded(AgentProgram::Claude, "full"));
    assert_eq!(
        deeds(&recorded(AgentProgram::Claude, "partial_messages")),
        whole
    );
    // A run that was ended while it spoke.
    let piece = |text: &str| {
        format!(
            r#"{{"type":"stream_event","event":{{"type":"content_block_delta","delta":{{"type":"text_delta","text":"{text}"}}}}}}"#
        )
    };
    let lines = [piece("I wil"), piece("l rep")].join("\n");
    assert_eq!(
        read(AgentProgram::Claude, &lines),
        [Passage::Said("I will rep".to_owned())]
    );
}

#[test]
fn what_fails_is_told() {
    for program in RUN {
        let passages = recorded(program, "error_server");
        let has_failed = passages.iter().any(|it| matches!(it, Passage::Failed(_)));
        assert!(has_failed, "{program}: {passages:?}");
    }
    let denied = recorded(AgentProgram::Claude, "denied");
    let failed = |it: &Passage| match it {
        Passage::Called(call) => call.reply.as_ref().is_some_and(|reply| reply.has_failed),
        _ => false,
    };
    assert!(denied.iter().any(failed), "{denied:?}");
}

#[test]
fn what_is_not_understood_is_shown_as_written() {
    let deep = "{\"a\":".repeat(10_000);
    for line in [
        "plain text",
        r#"{"type":"from_tomorrow"}"#,
        r#"{"type":7}"#,
        r#"{"type":"item.completed","item":{"type":"from_tomorrow"}}"#,
        "{broken",
        &deep,
    ] {
        for program in AgentProgram::ALL {
            assert_eq!(
                read(program, line),
                [Passage::Raw(line.to_owned())],
                "{program}"
            );
        }
    }
}
