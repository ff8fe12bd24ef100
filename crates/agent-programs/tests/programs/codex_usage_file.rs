//! What Codex writes to its usage file while it runs.

use workforce_agent_programs::{
    AgentProgram, OutputParser, ProgramEvent, Stream, TokenUsage, UsageBaseline,
};

use crate::numbers::Numbers;
use crate::recording::{ENDED_WELL, Recording, counts};

const PROGRAM: AgentProgram = AgentProgram::Codex;
/// What each complete run of these recordings used.
const OF_A_RUN: [u64; 4] = [1562, 2806, 0, 73];

/// All runs of one thread in their order; the third one was killed in its second call.
const RUNS: [(&str, [u64; 4]); 4] = [
    ("metered", OF_A_RUN),
    ("metered_resume", OF_A_RUN),
    ("metered_killed", [1550, 2800, 0, 65]),
    ("metered_after_kill", OF_A_RUN),
];

fn without_file(case: &str) -> Recording {
    let mut recording = Recording::read(PROGRAM, case);
    recording.usage_file.clear();
    recording
}

#[test]
fn each_call_is_told_at_once_with_its_model() {
    let mut recording = Recording::read(PROGRAM, "metered");
    recording.stdout.clear();
    let told = recording.told();
    let calls: Vec<_> = told.events.iter().filter_map(used).collect();
    let expected = [[1200, 800, 0, 40], [350, 2000, 0, 25], [12, 6, 0, 8]];
    assert_eq!(calls, expected.map(|call| (Some("gpt-5"), call)));
}

fn used(event: &ProgramEvent) -> Option<(Option<&str>, [u64; 4])> {
    match event {
        ProgramEvent::Usage { model, tokens, .. } => Some((model.as_deref(), counts(*tokens))),
        _ => None,
    }
}

/// The sum at the end of a run after a killed one lacks the call at which that was
/// killed. So what is known of the thread must not have it either.
#[test]
fn runs_of_a_thread_are_counted_once_each() {
    let mut before = UsageBaseline::NEW_SESSION;
    for (case, expected) in RUNS {
        let told = Recording::read(PROGRAM, case).told_after(before);
        assert_eq!(told.total(), Some(expected), "{case}");
        before = told.conclusion.baseline;
    }
    assert_eq!(before.tokens.map(counts), Some([5886, 9218, 0, 259]));
}

/// Whichever of the files could be read, no call is counted twice, and no run that
/// told its sum lacks one.
#[test]
fn files_that_are_missing_now_and_then_count_nothing_twice() {
    for readable in 0..16_u32 {
        let mut before = UsageBaseline::NEW_SESSION;
        let mut all = TokenUsage::ZERO;
        for (index, (case, expected)) in RUNS.into_iter().enumerate() {
            let is_readable = readable & (1 << index) != 0;
            let recording = if is_readable {
                Recording::read(PROGRAM, case)
            } else {
                without_file(case)
            };
            let told = recording.told_after(before);
            before = told.conclusion.baseline;
            all = all.saturating_add(told.conclusion.total.unwrap_or_default());
            if is_readable {
                assert_eq!(told.total(), Some(expected), "{readable:b} {case}");
            }
        }
        let whole = RUNS.map(|(_, used)| used).iter().fold([0; 4], |sum, used| {
            [0, 1, 2, 3].map(|index| sum[index] + used[index])
        });
        let all = counts(all);
        assert!(
            all.iter().zip(whole).all(|(all, whole)| *all <= whole),
            "{readable:b}: {all:?}"
        );
    }
}

/// A guard that was lost told what it read, but not what the thread is counted for.
#[test]
fn calls_of_an_earlier_run_are_not_counted_again() {
    for stale in [UsageBaseline::NEW_SESSION, UsageBaseline::UNKNOWN] {
        for case in ["metered_resume", "metered_after_kill"] {
            let told = Recording::read(PROGRAM, case).told_after(stale);
            assert_eq!(told.total(), Some(OF_A_RUN), "{case} {stale:?}");
        }
    }
}

/// In any order of the two, cut anywhere: the same is counted, and it is right.
#[test]
fn file_and_output_are_counted_once_in_any_order() {
    let mut numbers = Numbers::new();
    let first = Recording::read(PROGRAM, "metered").told();
    let second = Recording::read(PROGRAM, "metered_resume");
    let second = second.told_after(first.conclusion.baseline);
    let third = Recording::read(PROGRAM, "metered_killed");
    let third = third.told_after(second.conclusion.baseline);
    let befores = [
        UsageBaseline::NEW_SESSION,
        first.conclusion.baseline,
        second.conclusion.baseline,
        third.conclusion.baseline,
    ];
    for ((case, expected), before) in RUNS.into_iter().zip(befores) {
        let recording = Recording::read(PROGRAM, case);
        for _ in 0..300 {
            let (sum, total) = interleaved(&recording, before, &mut numbers);
            assert_eq!(total, Some(expected), "{case}");
            assert_eq!(sum, expected, "{case}");
        }
    }
}

fn interleaved(
    recording: &Recording,
    before: UsageBaseline,
    numbers: &mut Numbers,
) -> ([u64; 4], Option<[u64; 4]>) {
    let mut parser = OutputParser::new(PROGRAM, before);
    let mut events = Vec::new();
    let mut rest = [
        (Stream::Stdout, recording.stdout.as_slice()),
        (Stream::UsageFile, recording.usage_file.as_slice()),
    ];
    while rest.iter().any(|(_, bytes)| !bytes.is_empty()) {
        let (stream, bytes) = &mut rest[numbers.below(2)];
        let (piece, after) = bytes.split_at(numbers.below(6000).min(bytes.len()));
        parser.push(*stream, piece, &mut events);
        *bytes = after;
    }
    let (last, conclusion) = parser.finish(ENDED_WELL);
    events.extend(last);
    let sum = events
        .iter()
        .fold(TokenUsage::ZERO, |sum, event| match event {
            ProgramEvent::Usage { tokens, .. } => sum.saturating_add(*tokens),
            _ => sum,
        });
    (counts(sum), conclusion.total.map(counts))
}

/// The output tells more than a file that breaks off.
#[test]
fn what_the_file_lacks_is_counted_with_the_last_line() {
    let mut recording = Recording::read(PROGRAM, "metered");
    let half = recording.usage_file.len() / 2;
    recording.usage_file.truncate(half);
    assert_eq!(recording.told().total(), Some(OF_A_RUN));
}

#[test]
fn lines_that_come_twice_or_are_of_another_thread_count_nothing() {
    let plain = Recording::read(PROGRAM, "metered_killed");
    let mut doubled = Recording::read(PROGRAM, "metered_killed");
    doubled.usage_file = [plain.usage_file.as_slice(), &plain.usage_file].concat();
    assert_eq!(doubled.told().total(), plain.told().total());
    let mut other = Recording::read(PROGRAM, "metered_killed");
    let text = String::from_utf8(other.stdout).unwrap();
    other.stdout = text.replace("01a2088f", "01a2088e").into_bytes();
    let mut parser = OutputParser::new(PROGRAM, UsageBaseline::NEW_SESSION);
    let mut events = Vec::new();
    parser.push(Stream::Stdout, &other.stdout, &mut events);
    parser.push(Stream::UsageFile, &other.usage_file, &mut events);
    assert_eq!(parser.finish(other.exit).1.total, None);
}

/// Each program has its own way to tell what it used.
#[test]
fn other_programs_have_no_such_file() {
    for program in AgentProgram::ALL {
        let has_file = program.definition().usage_files.is_some();
        assert_eq!(has_file, program == PROGRAM, "{program}");
        let mut recording = Recording::of_lines(program, &[]);
        recording.usage_file = Recording::read(PROGRAM, "metered").usage_file;
        assert_eq!(recording.told().total().is_some(), has_file, "{program}");
    }
}
